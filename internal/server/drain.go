package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// drain is what Shutdown asks before it closes anything: how many requests are being answered,
// how many connections have not sent their first one, and whether new ones are still welcome.
// It goes through three stages, and never back:
//
//	serving    connections are kept alive between requests
//	retiring   every answer closes its connection (Retire); new ones are accepted
//	draining   the channel is closed; nothing is accepted, handlers end their streams
type drain struct {
	retiring atomic.Bool  // every answer closes its connection
	fresh    atomic.Int64 // connections without a request yet
	inflight atomic.Int64 // requests that are being answered
	draining chan struct{}
	once     sync.Once       // closes draining
	base     context.Context // of every request
	cancel   context.CancelCauseFunc
}

func (d *drain) initDrain() {
	d.draining = make(chan struct{})
	d.base, d.cancel = context.WithCancelCause(context.Background())
}

// beginDrain closes the channel of Draining, the first time.
func (d *drain) beginDrain() { d.once.Do(func() { close(d.draining) }) }

// Retire has every answer from now on close its connection, on HTTP/2 by GOAWAY, so
// that clients go elsewhere between two calls of theirs. Connections are accepted as
// before. Shutdown, which closes those without a request, then meets fewer of them: a
// client may just be about to send one.
func (d *drain) Retire() { d.retiring.Store(true) }

// Requests is how many are being answered.
func (d *drain) Requests() int { return int(d.inflight.Load()) }

// Draining is closed when Shutdown begins: time for handlers to end streams.
func (d *drain) Draining() <-chan struct{} { return d.draining }

// shutting reports whether Shutdown has begun.
func (d *drain) shutting() bool {
	select {
	case <-d.draining:
		return true
	default:
		return false
	}
}

// pause waits, unless the server begins to shut down.
func (d *drain) pause(least time.Duration) bool {
	timer := time.NewTimer(least)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-d.draining:
		return !d.retiring.Load()
	}
}

// expect says that a connection will send a request.
func (d *drain) expect(c *conn) {
	if c.fresh.CompareAndSwap(false, true) {
		d.fresh.Add(1)
	}
}

// came says that a connection is not a fresh one.
func (d *drain) came(c *conn) {
	if c.fresh.Load() && c.fresh.CompareAndSwap(true, false) {
		d.fresh.Add(-1)
	}
}

// awaitDetached waits for the answers on connections that http1 knows nothing of any more. It
// polls, as that does for its own.
func (d *drain) awaitDetached(ctx context.Context) error {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for d.inflight.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
	return nil
}

// afterlife is how long handlers that were cut off may take to return: they
// still have audit records to write.
const afterlife = time.Second

// awaitHandlers polls, since it runs once in a process and the counter is then
// one atomic addition per request for all the time before.
func (d *drain) awaitHandlers() {
	for deadline := time.Now().Add(afterlife); d.inflight.Load() > 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond) //nolint:forbidigo // see above
	}
}
