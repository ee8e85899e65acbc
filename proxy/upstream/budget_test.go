package upstream

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestBudget: a tenth of the calls, and three a second.
func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := budget{percent: 10}
		drain := func() (n int) {
			for b.withdraw() {
				n++
			}
			return n
		}
		if n := drain(); n != 3 {
			t.Errorf("%d without any call", n)
		}
		for range 995 {
			b.deposit()
		}
		if n := drain(); n != 99 {
			t.Errorf("%d of 995 calls", n)
		}
		time.Sleep(time.Second)
		if n := drain(); n != 3 {
			t.Errorf("%d after a second", n)
		}
		for range 100_000 {
			b.deposit()
		}
		time.Sleep(time.Hour)
		if n := drain(); n != 103 {
			t.Errorf("%d saved up", n)
		}
	})
}
