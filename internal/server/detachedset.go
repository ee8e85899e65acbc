package server

import (
	"sync"
)

// detachedSet are the connections that handlers have taken over.
type detachedSet struct {
	mu  sync.Mutex
	all map[*detachedConn]struct{}
}

func (ts *detachedSet) add(t *detachedConn) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.all == nil {
		ts.all = map[*detachedConn]struct{}{}
	}
	ts.all[t] = struct{}{}
}

func (ts *detachedSet) remove(t *detachedConn) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.all, t)
}

// close closes those that rest, or all.
func (ts *detachedSet) close(all bool) {
	ts.mu.Lock()
	some := make([]*detachedConn, 0, len(ts.all))
	for t := range ts.all {
		some = append(some, t)
	}
	ts.mu.Unlock()
	for _, t := range some {
		t.mu.Lock()
		if t.stage == resting || all && t.stage == answering {
			t.close()
		}
		t.mu.Unlock()
	}
}
