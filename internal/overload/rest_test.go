package overload

import (
	"testing"
	"time"
)

// TestRest: memory is given back after a while of hardly anything, where there is enough of
// it, once, and again when as much has gathered.
func TestRest(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, tt := range map[string]struct {
		grows uint64 // what is allocated each second
		now   heap
		want  int // how often within a minute
	}{
		"streams that wait":     {1 * mib, heap{live: 100 * mib, objects: 190 * mib}, 1},
		"free and not garbage":  {0, heap{live: 100 * mib, objects: 100 * mib, free: 30 * mib}, 1},
		"work":                  {3 * mib, heap{live: 100 * mib, objects: 190 * mib}, 0},
		"too little":            {0, heap{live: 1 * mib, objects: 10 * mib}, 0},
		"little of what is":     {0, heap{live: 100 * mib, objects: 120 * mib}, 0},
		"nobody knows":          {0, heap{}, 0},
		"found more than there": {0, heap{live: 50 * mib, objects: 40 * mib}, 0}, // read while one ends
	} {
		given := make(chan struct{}, 60)
		now := tt.now
		r := &rester{read: func() heap { return now }, give: func() {
			now.objects, now.free = now.live, 0
			given <- struct{}{}
		}}
		begin := time.Unix(1e9, 0)
		for tick := range 600 {
			now.allocated = tt.grows * uint64(tick/10)
			r.look(begin.Add(time.Duration(tick) * measureEvery))
			for r.giving.Load() {
				time.Sleep(time.Millisecond)
			}
		}
		if len(given) != tt.want {
			t.Errorf("%s: %d times", name, len(given))
		}
	}
}

// TestRestAgain: work in between begins the while anew.
func TestRestAgain(t *testing.T) {
	t.Parallel()
	var at []int
	second, h := 0, heap{live: 20 << 20, objects: 60 << 20}
	r := &rester{read: func() heap { return h }, give: func() { at = append(at, second) }}
	for second = range 20 {
		if second == 3 {
			h.allocated += hardly + 1
		}
		r.look(time.Unix(1e9+int64(second), 0))
		for r.giving.Load() {
			time.Sleep(time.Millisecond)
		}
	}
	if len(at) != 3 || at[0] != 8 || at[1] != 13 || at[2] != 18 {
		t.Errorf("at seconds %v", at)
	}
}

// TestResterReads: the running process says how it is.
func TestResterReads(t *testing.T) {
	t.Parallel()
	if h := newRester().read(); h.allocated == 0 || h.objects == 0 {
		t.Errorf("%+v", h)
	}
}
