package session

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// streamSession writes the events of a feed to one client until either ends. It survives the
// handler of the request: see detachedStream.
type streamSession struct {
	sessions *Sessions
	x        *exchange.Exchange
	a        *subscriber
	open     *openstreams.Stream

	relay  relay.Relay
	began  time.Time
	since  time.Duration // from then to when the relay began
	events int64         // that the client has had of it
	before int64         // and of a stream that this one goes on from
	late   *watchedEvent // an event that the client is given when the agent's stream ends; nil for none
}

// serveSubscriber gives a client what a feed has for it, until one of them ends.
//
// More has several events written at once where that delays none; hooks and guards are asked about each
// event, so that with them every event is written by itself. Tail gives what the translation has
// held back until the agent's stream ended.
func (se *Sessions) serveSubscriber(x *exchange.Exchange, a *subscriber) error {
	if err := a.borrow(); err != nil {
		a.Close()
		return err
	}
	if err := x.Open(); err != nil {
		a.Close()
		return err
	}
	if x.Late != nil {
		x.Late.Stop()
		x.Late = nil // it holds the context of the call, which nothing needs any more
	}
	unloadRequest(x)
	a.unloadResponse()
	at := &streamSession{sessions: se, x: x, a: a, open: openStream(x), began: time.Now(), before: x.Rec.Events}
	counted := se.Telemetry.Metrics.Streams.Open(x.Agent.ID)
	t := se.Server.Timeouts
	at.relay = relay.Relay{
		Limits: stream.Limits{Heartbeat: t.Heartbeat.Std(), Write: t.Write.Std()},
		See: func(e stream.Entry, emit relay.Emit) error {
			if a.held == nil || !a.held.due { // else it has been counted when it came
				counted.Event()
			}
			defer at.open.Told(&x.Rec)
			return a.refused(e, at.tell(e, emit))
		},
		Drain: se.Drain,
	}
	a.holdEvents(x)
	if !se.Hooked(x) && a.held == nil { // which are asked about every event
		at.relay.More = a.more
	}
	if x.Call.Binding == wire.GRPC {
		at.relay.To = relay.MessageFrames{}
	}
	if a.from != nil {
		at.relay.Lead = func(emit relay.Emit) error { return x.Retell(a.from.doc, anonymous(emit)) }
	}
	if x.Upstream.Retell != nil {
		x.Upstream.Retell.Holds, at.relay.Tail = true, at.tail
	}
	if mayLeave(x) {
		at.relay.Leave = func() bool { return x.Writer.Wrote && !a.ready() }
	}
	left, closed := false, func() { at.open.Over(x.Rec.End); counted.Close() }
	defer func() {
		if !left {
			closed()
		}
	}()
	err := at.run(x.ClientContext())
	if errors.Is(err, relay.ErrLeft) {
		if left = se.detach(x, at, closed); left {
			return errDetached
		}
		at.relay.Leave = nil
		err = at.run(x.ClientContext())
	}
	return at.end(err)
}

// run relays until the stream ends, or goes on elsewhere.
func (at *streamSession) run(client context.Context) error {
	ctx, done := at.watch(client)
	defer done()
	at.x.Fed = true
	return at.took(at.relay.Run(ctx, at.x.Writer, at.a))
}

// watch has the stream reviewed until done is called, and end in time.
func (at *streamSession) watch(client context.Context) (ctx context.Context, done func()) {
	at.since = time.Since(at.began)
	life := at.sessions.StreamConfig.Lifetime.Std()
	if life > 0 {
		life = max(life-at.since, 1)
	}
	ctx, at.relay.Stop, done = at.sessions.Streams.Watch(client, at.open, life)
	return ctx, done
}

// took notes what a relay says of itself in the end.
func (at *streamSession) took(stats relay.Stats, err error) error {
	x := at.x
	x.Fed = false
	if at.before+at.events == 0 && stats.Events > 0 {
		x.Rec.FirstEvent = at.since + stats.First
	}
	at.events += stats.Events
	x.Rec.Events = at.before + at.events
	at.relay.Lead = nil // it has led
	return err
}

// end is what the end of a stream means for its client; err is what it came to.
//
// It sets the record's end field. "agent finished" is the good end; a gRPC stream is asked for
// its trailers first, in which the agent may say that it failed.
func (at *streamSession) end(err error) error {
	x, a := at.x, at.a
	if a.resp != nil && (a.mended() || a.polled.Load()) {
		a.resp = nil // what it says in the end is about a stream that others have followed
	}
	if err == nil && x.Upstream.Binding == wire.GRPC && a.resp != nil {
		err = grpcEnd(x, a.resp)
	} else if err == nil && at.events == 0 && a.resp != nil {
		err = x.Verify()
	}
	if err == nil && hadNothing(x, a) {
		err = wire.Errorf(wire.BadAgentResponse, "the agent's stream ended without an event").Because(ending.ErrEarly)
	}
	if a.judge != nil {
		a.judge.said.tell(x)
	}
	if err != nil {
		x.Rec.End = endText(err)
		x.Dropped(err)
		return err
	}
	if x.Rec.End = "agent finished"; a.feed != nil && a.feed.Cut() {
		x.Rec.End = "agent left the stream open"
	}
	x.Finish()
	return nil
}

// hadNothing reports whether a message was answered with a stream of no event, which says as
// little as no answer. Of a task that waits some agents have such a stream, and methods of
// extensions may have.
func hadNothing(x *exchange.Exchange, a *subscriber) bool {
	m := x.Call.Method
	return a.resp != nil && x.Rec.Events == 0 && x.Held == nil && m.Subject == wire.OfMessage && m.Extension == ""
}

// openStream is the exchange among those that are open.
func openStream(x *exchange.Exchange) *openstreams.Stream {
	st := openstreams.NewStream(x.Rec.RequestID, x.PolicyRequest(), x.Rec.Sharing != "", x.InUse(), cmp.Or(x.Rec.TaskID, x.Call.TaskID), x.Rec.Events)
	st.Captured = x.Captured.Answers()
	return st
}

// unloadRequest lets go of a request once its answer streams: what came with it would stay in
// memory for as long as the stream is open. The buffer goes to the collector and not
// to the next call, so that nobody who still holds a part of it sees another's.
func unloadRequest(x *exchange.Exchange) {
	if x.Body == nil && x.Told == nil {
		return
	}
	x.Body, x.Told = nil, nil
	calls := []*wire.Call{&x.Call}
	if l := x.Upstream; l != nil {
		l.Body, l.Holder, l.Other = nil, nil, nil
		calls = append(calls, l.Call)
	}
	for _, c := range calls {
		c.Unload()
	}
}

// unloadResponse lets go of the heads of the request to the agent and of its answer, for the same reason. What
// gRPC says in the end stands behind the head of the answer, which tells whether anything came before it.
func (a *subscriber) unloadResponse() {
	if a.resp != nil && a.x.Upstream.Binding != wire.GRPC {
		a.resp.Request, a.resp.Header = nil, nil
	}
}
