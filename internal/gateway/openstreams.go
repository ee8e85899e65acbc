package gateway

import (
	"context"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// openStreams looks after the event streams that are open. The list is here and not in a
// snapshot: a stream goes on over reloads, and its end has to be found by snapshots that
// came after it.
type openStreams struct {
	current   *snapshot.Current
	telemetry *telemetry.Telemetry

	list openstreams.Streams // whichever snapshot they began with
}

// reviewEvery is how often the callers of open streams are looked at: one whose key was
// revoked hears no more of its streams after that long.
const reviewEvery = 2 * time.Second

// review ends streams whose callers may no longer have them. A stream may be open for
// hours: without this, a caller whose access has ended would go on reading it. Each stream
// is judged by the rules and the credentials of the snapshot in force, not by those under
// which it began.
func (o *openStreams) review(closed <-chan struct{}) {
	tick := time.NewTicker(reviewEvery)
	defer tick.Stop()
	for {
		select {
		case <-closed:
			return
		case <-tick.C:
			if s := o.current.Acquire(); s != nil {
				o.list.Review(s.Proxy)
				s.Release()
			}
		}
	}
}

// renew has the state go on knowing what open streams and waiting calls use, for as long as
// the gateway serves. Records of tasks in the state have a time to live. A stream that is
// silent for longer than that would otherwise lose the record of who owns its task.
func (o *openStreams) renew(closed <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(openstreams.RenewEvery(o.list.Retention))
	defer tick.Stop()
	for {
		select {
		case <-closed:
			return
		case <-tick.C:
			o.renewOnce(ctx)
		}
	}
}

// renewOnce renews all records once. An error is not fatal: several turns fit into the time
// to live.
func (o *openStreams) renewOnce(ctx context.Context) {
	s := o.current.Acquire()
	if s == nil {
		return
	}
	defer s.Release()
	if err := o.list.Renew(ctx, s.Proxy); err != nil {
		o.telemetry.Log.Warn("the state was not told what open streams use; it is told again later", "error", err)
	}
}
