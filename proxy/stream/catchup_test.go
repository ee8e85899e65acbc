package stream_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// eager takes what there is at once, and tells when it came to have all of n.
func eager(f *stream.Feed, n int) <-chan time.Duration {
	c, all := f.Tip(), make(chan time.Duration, 1)
	go func() {
		defer c.Close()
		began := time.Now()
		for range n {
			if _, err := next(c); err != nil {
				break
			}
		}
		all <- time.Since(began)
	}()
	synctest.Wait()
	return all
}

// brief keeps four entries, and waits for clients.
func brief(o *stream.HubOptions) { o.Config.Buffer.Events = 4 }

// TestCatchUp: a client that takes what comes, only not at once, loses nothing to a burst.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, f, c := running(t, hub(t, brief))
		fast := eager(f, 40)
		a.say(numbers(1, 40)...)
		for n := 1; n <= 40; n++ {
			time.Sleep(10 * time.Millisecond)
			wants(t, c, fmt.Sprintf("%d %d", n, n), nil)
		}
		if took := <-fast; took > 400*time.Millisecond {
			t.Errorf("the other one had to wait for %v", took)
		}
	})
}

// TestCatchUpLarge: an event that is kept alone comes while another client is one behind.
func TestCatchUpLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, f, c := running(t, hub(t, nil))
		fast := eager(f, 3)
		large := strings.Repeat("x", 100<<10)
		a.say("a", "b", large)
		time.Sleep(100 * time.Millisecond)
		wants(t, c, "1 a, 2 b, 3 "+large, nil)
		if took := <-fast; took > 100*time.Millisecond {
			t.Errorf("the other one had to wait for %v", took)
		}
	})
}

// TestCatchUpOver: a client that takes nothing is waited for once; one that had been idle
// for long before has the same time; one that is slow all the time uses it up.
func TestCatchUpOver(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(t *testing.T, c *stream.Cursor){
		"stands still": func(*testing.T, *stream.Cursor) {},
		"slow all the time": func(t *testing.T, c *stream.Cursor) {
			for n := 1; n <= 5; n++ {
				time.Sleep(99 * time.Millisecond)
				wants(t, c, fmt.Sprintf("%d %d", n, n), nil)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, f, c := running(t, hub(t, brief))
				time.Sleep(20 * time.Second)
				fast := eager(f, 40)
				a.say(numbers(1, 40)...)
				run(t, c)
				if took := <-fast; took != 500*time.Millisecond {
					t.Errorf("the other one had to wait for %v", took)
				}
				wants(t, c, "", ending.ErrSlow)
			})
		})
	}
}

// TestCatchUpStuck: a client that has taken nothing for long when the buffer is full holds
// nobody up; and time that was used up comes back.
func TestCatchUpStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, f, c := running(t, hub(t, brief))
		fast := eager(f, 40)
		a.say("1")
		time.Sleep(time.Second)
		a.say(numbers(2, 40)...)
		synctest.Wait()
		if took := <-fast; took != time.Second {
			t.Errorf("the other one had it all after %v", took)
		}
		wants(t, c, "", ending.ErrSlow)
	})
	synctest.Test(t, func(t *testing.T) {
		a, f, c := running(t, hub(t, brief))
		for round := range 3 {
			fast := eager(f, 10)
			a.say(numbers(10*round+1, 10*round+10)...)
			time.Sleep(300 * time.Millisecond)
			wants(t, c, wanted(10*round+1, 10*round+10), nil)
			<-fast
			time.Sleep(20 * time.Second)
		}
	})
}
