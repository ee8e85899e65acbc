package gateway

import (
	"context"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// openStreams looks after the event streams that are open.
type openStreams struct {
	current   *snapshot.Current
	telemetry *telemetry.Telemetry

	list openstreams.Streams // whichever snapshot they began with
}

// reviewEvery is how often the callers of open streams are looked at: one whose key was
// revoked hears no more of its streams after that long.
const reviewEvery = 2 * time.Second

// review ends streams whose callers may no longer have them.
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
// the gateway serves.
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
