package server

import (
	"context"
	"sync"
	"time"
)

// takings are the connections that handlers have taken over.
type takings struct {
	mu  sync.Mutex
	all map[*Taken]struct{}
}

func (ts *takings) add(t *Taken) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.all == nil {
		ts.all = map[*Taken]struct{}{}
	}
	ts.all[t] = struct{}{}
}

func (ts *takings) remove(t *Taken) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.all, t)
}

// close closes those that rest, or all.
func (ts *takings) close(all bool) {
	ts.mu.Lock()
	some := make([]*Taken, 0, len(ts.all))
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

// awaitTaken waits for the answers on connections that http1 knows nothing of any more. It
// polls, as that does for its own.
func (s *Server) awaitTaken(ctx context.Context) error {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for s.inflight.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
	return nil
}
