package proxy

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// streamSession writes the events of a feed to one client until either ends. It survives the
// handler of the request: see detachedStream.
type streamSession struct {
	sessions *sessions
	x        *exchange
	a        *subscriber
	open     *openstreams.Stream

	relay  stream.Relay
	began  time.Time
	since  time.Duration // from then to when the relay began
	events int64         // that the client has had of it
	before int64         // and of a stream that this one goes on from
}

// serveSubscriber gives a client what a feed has for it, until one of them ends.
func (se *sessions) serveSubscriber(x *exchange, a *subscriber) error {
	if err := a.borrow(); err != nil {
		a.Close()
		return err
	}
	if err := x.open(); err != nil {
		a.Close()
		return err
	}
	x.late.Stop()
	unloadRequest(x)
	at := &streamSession{sessions: se, x: x, a: a, open: openStream(x), began: time.Now(), before: x.rec.Events}
	counted := se.Telemetry.Metrics.OpenStream(x.agent.ID)
	t := se.Server.Timeouts
	at.relay = stream.Relay{
		Limits: stream.Limits{Heartbeat: t.Heartbeat.Std(), Write: t.Write.Std()},
		See: func(e stream.Entry, emit stream.Emit) error {
			counted.Event()
			defer at.open.Told(&x.rec)
			return a.refused(e, se.see(x, a, e, emit))
		},
		Drain: se.Drain,
	}
	if !se.hooked(x) { // which are asked about every event
		at.relay.More = a.more
	}
	if x.call.Binding == wire.GRPC {
		at.relay.To = stream.MessageFrames{}
	}
	if a.from != nil {
		at.relay.Lead = func(emit stream.Emit) error { return x.retell(a.from.doc, anonymous(emit)) }
	}
	if x.upstream.retell != nil {
		x.upstream.retell.Holds, at.relay.Tail = true, a.tail
	}
	if mayLeave(x) {
		at.relay.Leave = func() bool { return x.w.wrote && !a.ready() }
	}
	left := false
	defer func() {
		if !left {
			counted.Close()
		}
	}()
	err := at.run(x.clientContext())
	if errors.Is(err, stream.ErrLeft) {
		if left = se.leave(x, at, counted.Close); left {
			return errDetached
		}
		at.relay.Leave = nil
		err = at.run(x.clientContext())
	}
	return at.end(err)
}

// run relays until the stream ends, or goes on elsewhere.
func (at *streamSession) run(client context.Context) error {
	ctx, done := at.watch(client)
	defer done()
	at.x.fed = true
	return at.took(at.relay.Run(ctx, at.x.w, at.a))
}

// watch has the stream reviewed until done is called, and end in time.
func (at *streamSession) watch(client context.Context) (ctx context.Context, done func()) {
	at.since = time.Since(at.began)
	life := at.sessions.StreamConfig.Lifetime.Std()
	if life > 0 {
		life = max(life-at.since, 1)
	}
	return at.sessions.Streams.Watch(client, at.open, life)
}

// took notes what a relay says of itself in the end.
func (at *streamSession) took(stats stream.Stats, err error) error {
	x := at.x
	x.fed = false
	if at.before+at.events == 0 && stats.Events > 0 {
		x.rec.FirstEvent = at.since + stats.First
	}
	at.events += stats.Events
	x.rec.Events = at.before + at.events
	at.relay.Lead = nil // it has led
	return err
}

// end is what the end of a stream means for its client; err is what it came to.
func (at *streamSession) end(err error) error {
	x, a := at.x, at.a
	if a.resp != nil && (a.mended() || a.polled.Load()) {
		a.resp = nil // what it says in the end is about a stream that others have followed
	}
	if err == nil && x.upstream.Binding == wire.GRPC && a.resp != nil {
		err = grpcEnd(x, a.resp)
	} else if err == nil && at.events == 0 && a.resp != nil {
		err = x.verify()
	}
	if err == nil && hadNothing(x, a) {
		err = wire.Errorf(wire.BadAgentResponse, "the agent's stream ended without an event").Because(stream.ErrEarly)
	}
	if a.judge != nil {
		a.judge.said.tell(x)
	}
	if err != nil {
		x.rec.End = end(err)
		x.dropped(err)
		return err
	}
	if x.rec.End = "agent finished"; a.feed != nil && a.feed.Cut() {
		x.rec.End = "agent left the stream open"
	}
	x.finish()
	return nil
}

// hadNothing reports whether a message was answered with a stream of no event, which says as
// little as no answer. Of a task that waits some agents have such a stream, and methods of
// extensions may have.
func hadNothing(x *exchange, a *subscriber) bool {
	m := x.call.Method
	return a.resp != nil && x.rec.Events == 0 && x.held == nil && m.Subject == wire.OfMessage && m.Extension == ""
}

// openStream is the exchange among those that are open.
func openStream(x *exchange) *openstreams.Stream {
	return openstreams.NewStream(x.rec.RequestID, x.request(), x.rec.Sharing != "", x.inUse(), cmp.Or(x.rec.TaskID, x.call.TaskID), x.rec.Events)
}

// inUse begins to note what an exchange uses.
func (x *exchange) inUse() *openstreams.Uses {
	if x.uses != nil {
		return x.uses
	}
	u := openstreams.NewUses(x.principal, x.agent.ID, x.skill)
	u.Shown(x.aliases(), x.call.TaskID, x.call.ContextID)
	u.Shown(x.aliases(), x.record.ID, x.record.Context)
	u.Shown(x.aliases(), x.learned.ID, x.learned.ContextID)
	for step := range x.stands {
		u.Stands(step)
	}
	x.uses = u
	return u
}

// aliases are what the caller calls the task and the context of the call.
func (x *exchange) aliases() openstreams.Aliases {
	return openstreams.Aliases{Task: x.task.Caller, Context: x.session.Caller}
}
