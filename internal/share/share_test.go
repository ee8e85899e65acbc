package share

import (
	"fmt"
	"sync"
	"testing"
)

// TestHolders: one has half of what there is at most, the next half of the rest, and the last
// place is somebody's who has none.
func TestHolders(t *testing.T) {
	t.Parallel()
	var h Holders
	free := int64(100)
	take := func(who string) (n int) {
		for free > 0 && h.Take(who, 1, free-1) {
			free--
			n++
		}
		return n
	}
	for _, tt := range []struct {
		who  string
		want int
	}{{"a", 50}, {"a", 0}, {"b", 25}, {"c", 13}, {"d", 6}, {"e", 3}, {"f", 2}, {"g", 1}, {"g", 0}} {
		if n := take(tt.who); n != tt.want {
			t.Errorf("%s has %d more, want %d", tt.who, n, tt.want)
		}
	}
	for range 50 {
		h.Give("a", 1)
		free++
	}
	if n := take("b"); n == 0 {
		t.Error("what was given back is nobody's")
	}
}

// TestHoldersAreForgotten: who has nothing takes no memory, however many there were.
func TestHoldersAreForgotten(t *testing.T) {
	t.Parallel()
	var h Holders
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 1000 {
				who := fmt.Sprint(i, "/", j)
				if h.Take(who, 3, 10) {
					h.Give(who, 3)
				}
			}
		})
	}
	all.Wait()
	for i := range h.shards {
		if n := len(h.shards[i].of); n > 0 {
			t.Errorf("%d are remembered", n)
		}
	}
}
