package gateway

import (
	"context"
	"time"
)

// Shutdown drains: readiness turns false, for server.timeouts.lameDuck connections are
// still taken and answers close theirs, then no connection is accepted any more, calls
// and streams may finish until shortly before ctx ends, streams are then told to come
// back, and what is still open at the end of ctx is cut off. A ctx without a deadline
// gets server.timeouts.drain.
func (g *Gateway) Shutdown(ctx context.Context) error { return g.stop(ctx, false) }

// Handover is Shutdown for a program that this process then turns into, and returns what
// is to stand in its environment. Sockets stay open, so that connections wait for it, and
// streams are told to come back as soon as no connection is accepted here: what they come
// back to is there, and waits for the last of the calls that are under way. With an error
// and no environment nothing has changed.
func (g *Gateway) Handover(ctx context.Context) (environ string, err error) {
	if environ, err = g.sockets.Hand(); err != nil {
		return "", err
	}
	return environ, g.stop(ctx, true)
}

// ReportUpgrade records that the gateway is about to become another version, or why not.
func (g *Gateway) ReportUpgrade(err error) {
	kind := "upgrade.begun"
	if err != nil {
		kind = "upgrade.refused"
		g.telemetry.Log.Error("not upgraded, everything stays as it is", "error", err)
	} else {
		g.telemetry.Log.Info("upgrading")
	}
	if failed := g.audit.Event(kind, nil); failed != nil {
		g.telemetry.Log.Error("write audit event", "error", failed)
	}
}

// stop drains. followed says that somebody takes the sockets over.
func (g *Gateway) stop(ctx context.Context, followed bool) error {
	g.draining.Store(true)
	g.health.Shutdown()
	defer g.closeParts(context.WithoutCancel(ctx))
	s := g.current.Load()
	if s == nil {
		return nil // it has been shut down before
	}
	timeouts := s.Config.Server.Timeouts
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(timeouts.Drain.Std())
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	g.announce(deadline)
	window := time.Until(deadline)
	last := time.AfterFunc(window-farewellFor(window), g.farewell)
	defer last.Stop()
	g.lameDuck(ctx, timeouts.LameDuck.Std(), followed)
	if followed {
		go func() {
			<-g.server.Draining()
			g.farewell()
		}()
	}
	return g.server.Shutdown(ctx)
}

// announce logs what the end waits for: to who has interrupted a gateway with open streams it
// would look as if it hung.
func (g *Gateway) announce(deadline time.Time) {
	streams := len(g.streams.List())
	calls := max(0, g.server.Requests()-streams)
	g.telemetry.Log.Info("draining; a second signal ends it at once", "calls", calls, "streams", streams,
		"at_latest", deadline.UTC(), "limit", "server.timeouts.drain")
}

// handoverDuck is the shortest time for clients to close connections before an upgrade.
const handoverDuck = time.Second

// lameDuck goes on taking connections for a while, the clients of which are told to
// close them. An upgrade does not have to wait for clients who are not there; a gateway
// that ends does: they may not have noticed yet.
func (g *Gateway) lameDuck(ctx context.Context, most time.Duration, followed bool) {
	g.server.Retire()
	if followed {
		most = max(most, handoverDuck)
	}
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
			if followed && g.server.Connections() == 0 {
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
