package stream

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// The lease on a task says which replica reads its agent. The log would tell two writers
// apart without it; it saves them from finding out.
const (
	leaseTime  = 15 * time.Second
	leaseRenew = leaseTime / 3
)

// persists reports whether there are logs.
func (h *Hub) persists() bool { return h.logs != nil && h.settings().Persists() }

// logName is the name of a task's log and lease, within what state allows.
func logName(task string) string {
	if len(task) > 900 {
		task = fmt.Sprintf("%x", sha256.Sum256([]byte(task)))
	}
	return "stream/" + task
}

// reserve keeps others of this process from asking the state about a task's lease
// meanwhile: places are held by the process, not by who asks.
//
// free must be called. Leases are held by the process, so that two goroutines of it would both be
// told that the lease is theirs.
func (h *Hub) reserve(ctx context.Context, task string) (free func(), err error) {
	for {
		h.mu.Lock()
		taken := h.reserved[task]
		if taken == nil {
			mine := make(chan struct{})
			h.reserved[task] = mine
			h.mu.Unlock()
			return func() {
				h.mu.Lock()
				delete(h.reserved, task)
				h.mu.Unlock()
				close(mine)
			}, nil
		}
		h.mu.Unlock()
		select {
		case <-taken:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// draw takes the lease on a task, or renews it where limit is 0. The task is reserved.
//
// It is taken for 15 s and renewed every 5, so that a replica that dies is followed within 15 s.
func (h *Hub) draw(ctx context.Context, task string, limit int64) (bool, error) {
	drawn, err := h.holds.Draw(ctx, []state.Draw{{
		Key: logName(task), Kind: state.Hold, Limit: limit, Holder: h.replica, TTL: leaseTime,
	}})
	if err != nil {
		return false, fmt.Errorf("lease a task's stream: %w", err)
	}
	return drawn[0].OK, nil
}

// release gives a lease back. The task is reserved. Whoever waits for one that is not
// given back waits until it runs out.
func (h *Hub) release(ctx context.Context, task string) {
	err := h.holds.Release(ctx, []state.Draw{{
		Key: logName(task), Kind: state.Hold, Holder: h.replica, TTL: leaseTime,
	}})
	if err != nil {
		h.log.Warn("lease on a task's stream not given back", "error", err)
	}
}

// holds makes the feed, which is locked, one whose log this replica writes from where
// the feed ends.
func (l *sharedLog) holds(written uint64) {
	f := l.feed
	l.lease, l.logged, l.written, l.following, l.release = true, true, written, false, false
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leases[f] = struct{}{}
	if h.renewal == nil && !h.closed {
		h.renewal = time.AfterFunc(leaseRenew, h.renew)
	}
}

// unhold makes it one that another replica may have.
func (l *sharedLog) unhold() {
	f := l.feed
	l.lease, l.logged, l.release = false, false, false
	l.following = f.phase != ended && !f.gone
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.leases, f)
}

// renew has all leases renewed.
func (h *Hub) renew() {
	h.mu.Lock()
	h.renewal = nil
	feeds := make([]*Feed, 0, len(h.leases))
	for f := range h.leases {
		feeds = append(feeds, f)
	}
	if len(feeds) > 0 && !h.closed {
		h.renewal = time.AfterFunc(leaseRenew, h.renew)
	}
	h.mu.Unlock()
	for _, f := range feeds {
		f.mu.Lock()
		f.shared.renewal = true
		f.shared.mark()
		f.mu.Unlock()
	}
}

// keepLease renews a lease or gives it back, as the feed has asked for.
func (h *Hub) keepLease(ctx context.Context, f *Feed) error {
	f.mu.Lock()
	renewal, release, task := f.shared.renewal && f.shared.lease, f.shared.release, f.task
	f.shared.renewal = false
	f.mu.Unlock()
	if !renewal && !release {
		return nil
	}
	free, err := h.reserve(ctx, task)
	if err != nil {
		return err
	}
	defer free()
	f.mu.Lock()
	if f.shared.release { // nobody has come meanwhile
		f.shared.unhold()
		f.mu.Unlock()
		h.release(ctx, task)
		return nil
	}
	f.mu.Unlock()
	if !renewal {
		return nil
	}
	ok, err := h.draw(ctx, task, 0)
	if err != nil {
		return err
	}
	if !ok {
		f.mu.Lock()
		f.shared.fence()
	}
	return nil
}

// fence takes a feed from a replica that has lost its lease or finds what somebody else
// wrote in its log: what is not in the log never was. The feed is locked, and unlocked
// behind it.
func (l *sharedLog) fence() {
	f := l.feed
	if !l.lease {
		f.mu.Unlock()
		return
	}
	s := f.source
	f.source, f.leader, f.phase = nil, nil, lost
	if l.logged {
		for f.kept.n > 0 && f.tip() > l.written {
			f.retract()
		}
		for _, c := range f.cursors {
			if c.pos > f.tip() {
				c.fail(errGap, 0)
			}
		}
	}
	l.unhold()
	f.stir()
	l.watch()
	f.mu.Unlock()
	f.hub.log.Warn("another replica reads a task's stream", "task", f.task)
	s.stop(ending.ErrGone)
}
