package proxy

import (
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// relay passes an event stream on, each event looked at before the caller sees
// it: its ids recorded, its JSON-RPC id checked, and where caller and agent speak
// differently, retold one by one. from is where a subscription began; it may be
// nil.
func (p *Proxy) relay(x *exchange, resp *http.Response, from *snapshot) error {
	x.hear(resp)
	x.incoming(resp)
	if err := x.open(); err != nil {
		return err
	}
	open := p.Telemetry.Metrics.OpenStream(x.agent.ID)
	defer open.Close()

	l, t := p.Server.Limits, p.Server.Timeouts
	r := stream.Relay{
		Limits: stream.Limits{
			Event: int(l.Event), Idle: t.Stream.Std(), Heartbeat: t.Heartbeat.Std(), Write: t.Write.Std(),
		},
		See: func(event stream.Entry, emit stream.Emit) error {
			open.Event()
			return p.see(x, event, from, emit)
		},
		Drain: p.Drain,
	}
	source := stream.Events
	if x.leg.Binding == wire.GRPC {
		source = stream.Messages
	}
	if x.call.Binding == wire.GRPC {
		r.To = stream.MessageFrames{}
	}
	if from != nil {
		r.Lead = func(emit stream.Emit) error { return x.retell(from.doc, emit) }
	}
	ctx, done := p.Streams.watch(x.r.Context(), x)
	defer done()
	before := x.rec.Events // of a stream that this one goes on from
	stats, err := r.Run(ctx, x.w, stream.Of(resp.Body, source, r.Limits))
	if err == nil && x.leg.Binding == wire.GRPC {
		err = x.closed(resp)
	} else if err == nil && stats.Events == 0 {
		err = x.verify()
	}
	if x.rec.Events = before + stats.Events; before == 0 {
		x.rec.FirstEvent = stats.First
	}
	x.rec.End = "agent finished"
	if err != nil {
		x.rec.End = end(err)
		return err
	}
	x.finish()
	return nil
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
		header.Set("Content-Type", "text/event-stream")
		x.w.streaming = true
	}
	if x.leg.retell != nil || x.leg.Binding != wire.GRPC && !x.shadows() && x.lacks() != nil {
		return nil
	}
	x.w.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(x.w).Flush(); err != nil {
		return stream.ErrGone
	}
	x.w.disarm()
	return nil
}

// single streams an answer that came whole to a caller who asked for events: many
// clients read nothing else, and would take it for a stream of none.
func (x *exchange) single(doc []byte) error {
	var frames stream.Framing = stream.EventFrames{}
	if x.call.Binding == wire.GRPC {
		frames = stream.MessageFrames{}
	}
	var out []byte
	tell := func(id, name string, event []byte) error {
		out = frames.Append(out, id, name, event)
		return nil
	}
	var err error
	if x.leg.retell == nil {
		err = tell("", "", doc)
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

// closed is the status with which an agent's gRPC stream ended, nil for OK.
func (x *exchange) closed(resp *http.Response) error {
	e := wire.ReadStatus(resp.Header, resp.Trailer)
	if x.hear(resp); e == nil {
		x.tellLate()
		return x.verify()
	}
	x.w.ended = x.held == nil && x.leg.retell == nil && copyStatus(x.w.Header(), resp)
	return theirs(e)
}

// tellLate says what is active to a caller of gRPC, who can still be told where the
// agent has only said it in its trailer.
func (x *exchange) tellLate() {
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

// see judges one event.
func (p *Proxy) see(x *exchange, event stream.Entry, from *snapshot, emit stream.Emit) error {
	doc := event.Data
	if x.leg.Binding == wire.GRPC {
		var err error
		if doc, err = wire.ResponseJSON(x.leg.call.Method, x.leg.Version, event.Data); err != nil {
			return wire.Errorf(wire.BadAgentResponse, "the agent sent a malformed event").Because(err)
		}
	}
	seen, err := wire.ReadAnswer(x.leg.Binding, x.leg.Version, x.leg.call.Method, doc, p.answerLimits())
	if err != nil {
		return wire.Errorf(wire.BadAgentResponse, "the agent sent a malformed event").Because(err)
	}
	if x.held != nil && isError(seen) { // it answers what the gateway said; the caller is to have the question
		return theirs(wire.ReadError(x.leg.Side, http.StatusOK, doc))
	}
	// On gRPC the trailers may still say what is active.
	if x.rec.Events == 0 && x.leg.Binding != wire.GRPC && !isError(seen) {
		if err := x.verify(); err != nil {
			return err
		}
	}
	d, err := p.demand(x, seen, doc)
	if err != nil {
		return err
	}
	out, err := p.observe(x, seen, doc)
	x.rec.Events++
	if err != nil {
		return err
	}
	if d != nil {
		if out, err = p.enrich(x, out); err != nil {
			return err
		}
	}
	tell := func(emit stream.Emit) error { return x.tell(event, seen, doc, out, from, emit) }
	if d != nil && p.provides(x.ctx, x, d, streamMessage) {
		return x.hold(d, tell)
	}
	x.held = nil // what it was held back for has come
	return tell(emit)
}

// tell emits an event that has been judged: out is what is left of doc.
func (x *exchange) tell(event stream.Entry, seen wire.Answer, doc, out []byte, from *snapshot, emit stream.Emit) error {
	switch {
	case x.leg.retell == nil && x.leg.Binding == wire.GRPC:
		return x.passEvent(event, doc, out, emit)
	case x.leg.retell == nil:
		return emit("", event.Name, out)
	case isError(seen):
		return theirs(wire.ReadError(x.leg.Side, http.StatusOK, out))
	case from.shows(x.leg, doc):
		return nil
	}
	return x.retell(out, emit)
}

// passEvent passes a gRPC message on, as it came unless something in it had to be
// put in another's place.
func (x *exchange) passEvent(event stream.Entry, doc, out []byte, emit stream.Emit) error {
	if same(doc, out) {
		return emit("", "", event.Data)
	}
	message, err := wire.ResponseMessage(x.call.Method, x.call.Version, out)
	if err != nil {
		return wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	return emit("", "", message)
}

// retell emits what an event of the agent's is to the caller.
func (x *exchange) retell(doc []byte, emit stream.Emit) error {
	err := x.leg.retell.Event(doc, func(event []byte) error { return emit("", "", event) })
	if err != nil {
		return retelling(err)
	}
	return nil
}

// end names why a stream ended, from a closed set.
func end(err error) string {
	for _, known := range []error{
		stream.ErrIdle, stream.ErrTooLarge, stream.ErrBroken, stream.ErrSlow, stream.ErrGone, stream.ErrDraining,
		errRevoked,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "event refused"
}
