package server

import (
	"context"
	"net"
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

// returns is where net/http gets connections back from. It is a net.Listener.
type returns struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
	addr  net.Addr
}

func newReturns(addr net.Addr) *returns {
	return &returns{conns: make(chan net.Conn), over: make(chan struct{}), addr: addr}
}

// give waits for net/http to take it.
func (r *returns) give(s *Server, c *conn, nc net.Conn) {
	select {
	case r.conns <- nc:
	case <-r.over:
		_ = nc.Close()
		s.came(c)
	}
}

// Accept implements net.Listener.
func (r *returns) Accept() (net.Conn, error) {
	select {
	case nc := <-r.conns:
		return nc, nil
	case <-r.over:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (r *returns) Close() error {
	r.once.Do(func() { close(r.over) })
	return nil
}

// Addr implements net.Listener.
func (r *returns) Addr() net.Addr { return r.addr }

// awaitTaken waits for the answers on connections that net/http knows nothing of any
// more. It polls, as net/http does for its own.
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
