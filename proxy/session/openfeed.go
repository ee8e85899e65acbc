package session

import (
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// relay passes an event stream of the agent's on, each event looked at before the caller
// sees it: its ids recorded, its JSON-RPC id checked, and where caller and agent speak
// differently, retold one by one. from is where a subscription began; it may be nil.
func (se *Sessions) relay(x *exchange.Exchange, resp *http.Response, from *snapshot) error {
	return se.relayTo(x, &subscriber{sessions: se, x: x, from: from, shown: from}, resp)
}

// relayTo makes a feed of an agent's stream, and has a client follow it.
//
// The feed is known to the judge before the first event is read (Begins), since the judge
// compares artifacts with it.
func (se *Sessions) relayTo(x *exchange.Exchange, a *subscriber, resp *http.Response) (err error) {
	x.RecordActivation(resp)
	x.Incoming(resp)
	x.Rec.AnswerForm = streamForm(x.Upstream, resp)
	x.Up.Keep()
	o := se.OpenedStream(x, x.Upstream, resp, x.Up)
	a.judge = se.newJudge(x, x.Upstream)
	o.Judge, o.Stop = a.judge.look, se.holdPlace(x, x.KeepPlace(o.Stop))
	o.Stays = x.Outlives
	o.Begins = func(f *stream.Feed) { a.feed, a.judge.feed = f, f }
	se.orWatched(a, &o, resp, x.Up)
	a.resp = resp
	se.Hub.Open(o)
	if a.cursor, err = a.feed.Cursor(0); err != nil {
		return err // not of a feed that has just begun
	}
	return se.serveSubscriber(x, a)
}

// grpcEnd is the status with which an agent's gRPC stream ended, nil for OK.
//
// The agent's status passes as it is where caller and agent speak gRPC alike; else it becomes an
// error that is written in the caller's binding.
func grpcEnd(x *exchange.Exchange, resp *http.Response) error {
	e := failure.ReadStatus(resp.Header, resp.Trailer)
	if x.RecordActivation(resp); e == nil {
		tellLate(x)
		return x.Verify()
	}
	x.Writer.Ended = x.Held == nil && x.Upstream.Retell == nil && exchange.CopyStatus(x.Writer.Header(), resp)
	return forward.AgentError(e)
}

// tellLate says what is active to a caller of gRPC, who can still be told where the
// agent has only said it in its trailer.
func tellLate(x *exchange.Exchange) {
	active, said := x.Answerable(), x.Rec.ExtensionsActivated
	x.Rec.ExtensionsActivated = active
	if x.Call.Binding != wire.GRPC || len(active) == len(said) {
		return
	}
	late := make(http.Header, 2)
	active.Respond(late, x.Names.Or(x.Call.Version))
	for name, line := range late {
		x.Writer.Header()[http.TrailerPrefix+name] = line
	}
}

// endText names why a stream ended, from a closed set.
func endText(err error) string {
	for _, known := range []error{
		ending.ErrIdle, ending.ErrTooLarge, ending.ErrBroken, ending.ErrEarly, ending.ErrSlow, ending.ErrGone, ending.ErrDraining,
		openstreams.ErrRevoked, openstreams.ErrLifetime, openstreams.ErrEnded,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "event refused"
}

// holdPlace has the places of the call taken until the agent's stream is done with.
//
// It gives the function that stops the agent's request. A limit of calls at the same time counts
// the agent's work and not the connection, so that its place is free when the agent's stream ends
// and not when the client leaves.
func (se *Sessions) holdPlace(x *exchange.Exchange, stop func()) func() {
	if !x.Outlives {
		return stop
	}
	limitPass, free := x.LimitPass, x.LimitPass.Hold()
	return func() {
		stop()
		free()
		se.Streams.Forget(limitPass)
	}
}
