package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// lifetime is how far a gateway has come, from New to the end of Shutdown.
type lifetime struct {
	began    time.Time
	started  chan struct{} // closed by Start
	draining atomic.Bool
	closing  sync.Once
	closed   chan struct{} // closed when the parts are
}

// newLifetime begins a lifetime now.
func newLifetime() *lifetime {
	return &lifetime{began: time.Now(), started: make(chan struct{}), closed: make(chan struct{})}
}

// serves waits until calls are served, or nobody waits for that any more. false says that
// ctx ended first: the client has gone, and nobody reads an answer.
func (l *lifetime) serves(ctx context.Context) bool {
	select {
	case <-l.started: // nearly always, and then nothing is made to wait with
		return true
	default:
	}
	select {
	case <-l.started:
		return true
	case <-ctx.Done():
		return false
	}
}
