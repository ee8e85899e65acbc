package relay

import (
	"context"
	"time"
)

// startHeartbeat has a comment written whenever the stream has been silent for server.timeouts.heartbeat: proxies
// and clients take a connection on which nothing comes for a dead one. A framing without comments, which
// is gRPC's, has none.
func (o *writer) startHeartbeat(cancel context.CancelCauseFunc) {
	if len(o.comment) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.beat = time.AfterFunc(o.silence, func() {
		if err := o.heartbeat(); err != nil {
			cancel(err)
		}
	})
}

// heartbeat writes a comment and sets the timer anew. Events set it as well, so that it comes
// after silence only.
func (o *writer) heartbeat() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped {
		return nil
	}
	o.beat.Reset(o.silence)
	return o.write(o.comment)
}
