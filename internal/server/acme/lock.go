//go:build !minimal

package acme

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const (
	lease     = 30 * time.Second // after which whoever has died holds nothing any more
	leasePart = lease / 3        // between two extensions
	lockPause = 500 * time.Millisecond
	lockWait  = 5 * time.Second // for one operation of the store
)

// locks are held in the state, where all replicas see them: a value that only one of them
// can add. It runs out unless its holder extends it, so that one that is killed keeps the
// others waiting for a lease at most.
//
// A holder that was stopped for longer than its lease, and then goes on, may find another
// at work. Nothing is broken by that but thrift: the CA gets a second order, and the
// later certificate is the one that is kept.
type locks struct {
	values state.Values

	mu   sync.Mutex
	held map[string]*hold
}

// hold is a lock that this process has.
type hold struct {
	token string // which no other holder has
	stop  context.CancelFunc
	done  chan struct{}
}

// Lock implements certmagic.Locker.
func (l *locks) Lock(ctx context.Context, name string) error {
	token := rand.Text()
	for {
		// Add is atomic in every driver of the state: of two gateways one gets true.
		got, err := l.values.Add(ctx, lockSpace, name, []byte(token), lease)
		if err != nil {
			return fmt.Errorf("lock %s: %w", name, err)
		}
		if got {
			l.keep(ctx, name, token)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("lock %s, which another gateway holds: %w", name, ctx.Err())
		case <-time.After(lockPause):
		}
	}
}

// keep extends the lease until Unlock, or until it is somebody else's.
func (l *locks) keep(ctx context.Context, name, token string) {
	// The context of Lock may end with Lock; the lease lasts until Unlock.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &hold{token: token, stop: stop, done: make(chan struct{})}
	l.mu.Lock()
	l.held[name] = h
	l.mu.Unlock()
	go func() {
		defer close(h.done)
		tick := time.NewTicker(leasePart)
		defer tick.Stop()
		for until := time.Now().Add(lease); time.Now().Before(until); {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			began := time.Now()
			switch mine, err := l.extend(ctx, name, token); {
			case err != nil: // once more, while the lease lasts
			case !mine:
				return
			default:
				until = began.Add(lease)
			}
		}
	}()
}

// extend begins the lease anew, if it is still this holder's.
func (l *locks) extend(ctx context.Context, name, token string) (mine bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if mine, err = l.mine(ctx, name, token); mine {
		err = l.values.Put(ctx, lockSpace, name, []byte(token), lease)
	}
	return mine, err
}

// mine reports whether the lock is still this holder's.
func (l *locks) mine(ctx context.Context, name, token string) (bool, error) {
	data, ok, err := l.values.Get(ctx, lockSpace, name)
	return ok && string(data) == token, err
}

// Unlock implements certmagic.Locker. A lock that cannot be given back runs out.
func (l *locks) Unlock(ctx context.Context, name string) error {
	l.mu.Lock()
	h := l.held[name]
	delete(l.held, name)
	l.mu.Unlock()
	if h == nil {
		return fmt.Errorf("unlock %s: it is not held", name)
	}
	// An extension that is under way would bring the lock back after it was deleted.
	h.stop()
	<-h.done
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockWait)
	defer cancel()
	mine, err := l.mine(ctx, name, h.token)
	if mine {
		err = l.values.Delete(ctx, lockSpace, name)
	}
	// It runs out by itself after a lease; certmagic logs the error.
	if err != nil {
		return fmt.Errorf("unlock %s: %w", name, err)
	}
	return nil
}
