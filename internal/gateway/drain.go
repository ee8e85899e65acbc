package gateway

import (
	"context"
	"time"

	"google.golang.org/grpc/health"

	"github.com/a2a-gateway/a2a-gateway/internal/consent"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// drain lets calls and streams end before the gateway does.
type drain struct {
	life      *lifetime
	current   *snapshot.Current
	telemetry *telemetry.Telemetry
	server    *server.Server
	streams   *openStreams
	consent   *consent.Desk

	health   *health.Server     // gRPC's view of whether the gateway serves
	ending   context.Context    // of open streams: done when they are to end with a last event
	farewell context.CancelFunc // ends it
}

// onFarewell has end run when open streams have to end. stop takes that back when the
// stream ends by itself, and reports whether it came in time.
func (d *drain) onFarewell(end func()) (stop func() bool) { return context.AfterFunc(d.ending, end) }

// run drains. followed says that somebody takes the sockets over. It returns when the last
// call has ended or ctx has. The course for a window of 30 seconds:
//
//	| time | what happens |
//	| --- | --- |
//	| 0 s | /readyz and gRPC health turn unready; answers carry Connection: close |
//	| lameDuck | no connection is accepted any more |
//	| 27 s | open streams get their last event, and clients come back elsewhere |
//	| 30 s | what is still open is cut off |
func (d *drain) run(ctx context.Context, followed bool) error {
	d.life.draining.Store(true)
	d.health.Shutdown()
	s := d.current.Load()
	if s == nil {
		return nil // it has been shut down before
	}
	// Those of the configuration in force, which a reload may have changed since the start.
	timeouts := s.Config.Server.Timeouts
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(timeouts.Drain.Std())
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	d.announce(deadline)
	window := time.Until(deadline)
	// Streams are told by a timer and not after Shutdown: Shutdown waits for them, and they
	// would not end without being told.
	last := time.AfterFunc(window-farewellFor(window), d.farewell)
	defer last.Stop()
	d.lameDuck(ctx, timeouts.LameDuck.Std(), followed)
	if followed {
		go func() {
			<-d.server.Draining()
			d.farewell()
		}()
	}
	err := d.server.Shutdown(ctx)
	d.consent.Finish(ctx) // after those at whose end people may still agree
	return err
}

// announce logs what the end waits for: to who has interrupted a gateway with open streams
// it would look as if it hung. A call in a stream is counted as a stream only; an approved one that goes on
// without its caller is counted too.
func (d *drain) announce(deadline time.Time) {
	streams := len(d.streams.list.List())
	calls := max(0, d.server.Requests()-streams) + d.consent.Sending()
	d.telemetry.Log.Info("draining; a second signal ends it at once", "calls", calls, "streams", streams,
		"at_latest", deadline.UTC(), "limit", "server.timeouts.drain")
}

// handoverDuck is the shortest time for clients to close connections before an upgrade.
const handoverDuck = time.Second

// lameDuck goes on taking connections for a while, the clients of which are told to close
// them. An upgrade does not have to wait for clients who are not there; a gateway that ends
// does: they may not have noticed yet. It is for load balancers that have not seen /readyz
// change yet and still send connections here.
func (d *drain) lameDuck(ctx context.Context, most time.Duration, followed bool) {
	d.server.Retire()
	if followed {
		most = max(most, handoverDuck)
	}
	// Nobody is in front of the gateway who would have to notice.
	if most == 0 {
		return
	}
	end := time.NewTimer(most)
	defer end.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-look.C:
			if followed && d.server.Connections() == 0 {
				return
			}
		}
	}
}

// farewellFor is how long before the end of a drain window streams are told to
// end: long enough for their last events, and for net/http to notice, which looks
// at its connections twice a second.
func farewellFor(window time.Duration) time.Duration {
	return max(window/10, min(window/2, time.Second))
}
