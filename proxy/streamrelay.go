package proxy

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// relay passes an event stream of the agent's on, each event looked at before the caller
// sees it: its ids recorded, its JSON-RPC id checked, and where caller and agent speak
// differently, retold one by one. from is where a subscription began; it may be nil.
func (se *sessions) relay(x *exchange, resp *http.Response, from *snapshot) error {
	return se.relayTo(x, &subscriber{sessions: se, x: x, from: from, shown: from}, resp)
}

// relayTo makes a feed of an agent's stream, and has a client follow it.
func (se *sessions) relayTo(x *exchange, a *subscriber, resp *http.Response) (err error) {
	x.recordActivation(resp)
	x.incoming(resp)
	x.rec.AnswerForm = streamForm(x.upstream, resp)
	x.up.keep()
	o := se.opened(x, x.upstream, resp, x.up)
	a.judge = se.newJudge(x, x.upstream)
	o.Judge, o.Stop = a.judge.look, se.holdPlace(x, x.keepPlace(o.Stop))
	o.Stays = x.outlives
	o.Begins = func(f *stream.Feed) { a.feed, a.judge.feed = f, f }
	se.orWatched(a, &o, resp, x.up)
	a.resp = resp
	se.Hub.Open(o)
	if a.cursor, err = a.feed.Cursor(0); err != nil {
		return err // not of a feed that has just begun
	}
	return se.serveSubscriber(x, a)
}

// open prepares the response to a stream. Between sides that speak alike its
// header goes out at once, as the agent's came in. Else it waits for the first
// event: an agent that streams nothing but an error still gets its caller a
// response that is one, and so does an agent that has not activated what it must.
func (x *exchange) open() error {
	if x.w.wrote { // the stream goes on from another
		return nil
	}
	header := x.w.Header()
	header.Set("X-Accel-Buffering", "no") // nginx in front would hold events back
	x.rec.Streamed = true
	if x.call.Binding == wire.GRPC {
		header.Set("Content-Type", typeGRPC)
	} else {
		header.Set("Content-Type", typeEvents)
		x.w.streaming = true
	}
	if x.upstream.retell != nil || x.upstream.Binding != wire.GRPC && !x.shadows() && x.lacks() != nil {
		return nil
	}
	x.w.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(x.w).Flush(); err != nil {
		return stream.ErrGone
	}
	x.w.disarm()
	return nil
}

// streamAnswer streams an answer that came whole to a caller who asked for events: many
// clients read nothing else, and would take it for a stream of none.
func streamAnswer(x *exchange, doc []byte) error {
	var frames stream.Framing = stream.EventFrames{}
	if x.call.Binding == wire.GRPC {
		frames = stream.MessageFrames{}
	}
	var out []byte
	tell := func(name string, event []byte) error {
		out = frames.Append(out, "", name, event)
		return nil
	}
	var err error
	if x.upstream.retell == nil && x.call.Binding != wire.GRPC {
		doc = oneLine(doc)
	}
	if x.upstream.retell == nil {
		err = tell("", doc)
	} else {
		err = x.retell(doc, tell)
	}
	if err == nil {
		err = x.open()
	}
	if err != nil {
		return err
	}
	if !x.w.wrote {
		x.w.WriteHeader(http.StatusOK)
	}
	x.w.arm()
	x.send(out)
	x.finish()
	return nil
}

// oneLine is a document as an event has it: some clients read the lines of one apart.
func oneLine(doc []byte) []byte {
	if doc = bytes.TrimSpace(doc); !bytes.ContainsAny(doc, "\r\n") {
		return doc
	}
	v := jsontext.Value(bytes.Clone(doc))
	_ = v.Compact() // it has been read before
	return v
}

// grpcEnd is the status with which an agent's gRPC stream ended, nil for OK.
func grpcEnd(x *exchange, resp *http.Response) error {
	e := wire.ReadStatus(resp.Header, resp.Trailer)
	if x.recordActivation(resp); e == nil {
		tellLate(x)
		return x.verify()
	}
	x.w.ended = x.held == nil && x.upstream.retell == nil && copyStatus(x.w.Header(), resp)
	return agentError(e)
}

// tellLate says what is active to a caller of gRPC, who can still be told where the
// agent has only said it in its trailer.
func tellLate(x *exchange) {
	active, said := x.answerable(), x.rec.ExtensionsActivated
	x.rec.ExtensionsActivated = active
	if x.call.Binding != wire.GRPC || len(active) == len(said) {
		return
	}
	late := make(http.Header, 2)
	active.Respond(late, x.names.Or(x.call.Version))
	for name, line := range late {
		x.w.Header()[http.TrailerPrefix+name] = line
	}
}

// finish ends a stream that went well. One without a single event has not even
// begun.
func (x *exchange) finish() {
	if !x.w.wrote {
		x.w.WriteHeader(http.StatusOK)
	}
	if x.call.Binding == wire.GRPC {
		wire.SetStatus(x.w.Header(), x.call.Version, nil)
	}
}

// end names why a stream ended, from a closed set.
func end(err error) string {
	for _, known := range []error{
		stream.ErrIdle, stream.ErrTooLarge, stream.ErrBroken, stream.ErrEarly, stream.ErrSlow, stream.ErrGone, stream.ErrDraining,
		openstreams.ErrRevoked, openstreams.ErrLifetime, openstreams.ErrEnded,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "event refused"
}

// keepPlace has the stream's place taken until the agent's stream is done with, too.
func (x *streamState) keepPlace(stop func()) func() {
	x.slot.Share()
	return func() {
		x.slot.Leave()
		stop()
	}
}
