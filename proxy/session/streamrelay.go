package session

import (
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
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
func (se *Sessions) relayTo(x *exchange.Exchange, a *subscriber, resp *http.Response) (err error) {
	x.RecordActivation(resp)
	x.Incoming(resp)
	x.Rec.AnswerForm = streamForm(x.Upstream, resp)
	x.Up.Keep()
	o := se.Opened(x, x.Upstream, resp, x.Up)
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
func grpcEnd(x *exchange.Exchange, resp *http.Response) error {
	e := wire.ReadStatus(resp.Header, resp.Trailer)
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

// end names why a stream ended, from a closed set.
func end(err error) string {
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
