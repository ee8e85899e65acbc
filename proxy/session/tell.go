package session

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/notifications"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// tellEvent judges one event for one client.
//
// The order is that of ObserveAnswer for single answers. What it emits may be nothing (the
// snapshot had it), the event itself, or several in the caller's version.
func (se *Sessions) tellEvent(x *exchange.Exchange, a *subscriber, e stream.Entry, emit relay.Emit) error {
	if a.held != nil && a.held.due {
		return a.pass(emit)
	}
	found, err := se.JudgedOf(x.Upstream.Side, e)
	if err != nil {
		return err
	}
	doc, seen := found.DocOf(e.Data), *found.Seen
	if a.resp == nil && a.strays(seen) {
		return wire.Errorf(wire.BadAgentResponse, "the agent's stream shows another task")
	}
	if x.Held != nil && exchange.IsError(seen) { // it answers what the gateway said; the caller is to have the question
		return forward.AgentError(failure.ReadError(x.Upstream.Side, http.StatusOK, doc))
	}
	// On gRPC the trailers may still say what is active.
	if x.Rec.Events == 0 && x.Upstream.Binding != wire.GRPC && !exchange.IsError(seen) {
		if err := x.Verify(); err != nil {
			return err
		}
	}
	d, err := se.ReadDemand(x, seen, doc)
	if err != nil {
		return err
	}
	out, err := se.ObserveAnswer(x, seen, doc)
	x.Rec.Events++
	if err != nil {
		return err
	}
	if err := a.bind(seen); err != nil {
		return err
	}
	if a.held != nil {
		return a.guard(e, found, out, d, emit)
	}
	return se.deliver(x, a, e, found, out, d, emit)
}

// deliver gives a client an event that may be passed on: out is what is left of it, d what it demands,
// nil for nothing.
func (se *Sessions) deliver(x *exchange.Exchange, a *subscriber, e stream.Entry, found *intake.Judged, out []byte, d *authdemand.Demand, emit relay.Emit) error {
	seen := found.Seen
	x.Captured.Answer(out)
	if a.watched != nil {
		a.watched.note(x, *seen, out)
	}
	se.Telemetry.StreamEvent(&x.Rec, seen.Kind, seen.State)
	if sent := x.Site.Approved; sent != nil && sent.Result.Task == "" && seen.Kind == "message" {
		if err := keepAnswer(x, out); err != nil {
			return err
		}
	}
	if d != nil {
		var err error
		if out, err = se.EnrichDemand(x, jsonscan.Mend(out)); err != nil {
			return err
		}
	}
	if d == nil && x.Upstream.Retell == nil && a.shown == nil && x.Call.Binding != wire.GRPC {
		x.Held = nil
		return emit(a.name(e), e.Name, out) // the usual event, for which nothing is allocated
	}
	return a.translated(e, found, out, d, emit)
}

// keepAnswer keeps the message of a stream that a call is answered with which has waited for approval: its
// caller follows a stream of the gateway's own, or asks for the task later.
func keepAnswer(x *exchange.Exchange, doc []byte) error {
	m := ownership.Dialect{Side: x.Upstream.Side, Bytes: x.Agent.Bytes()}
	err := m.ToCanonical(m.Canonical(), doc, func(event []byte) error {
		x.Site.Approved.Keep(bytes.Clone(event))
		return nil
	})
	if err != nil {
		return exchange.Retelling(err)
	}
	return nil
}

// translated emits an event that may be more than passed on: d is what it demands, nil for
// nothing.
func (a *subscriber) translated(e stream.Entry, found *intake.Judged, out []byte, d *authdemand.Demand, emit relay.Emit) error {
	x := a.x
	tell := func(emit exchange.Telling) error { return emitJudged(x, e, found, out, a.shown, emit) }
	if d != nil && a.sessions.MayAnswerTask(x.Ctx, x, d, notifications.StreamMessage) {
		if a.feed != nil { // else the event is the gateway's own, of a task that has no stream
			a.feed.End()
		}
		return holdDemand(x, d, tell)
	}
	x.Held = nil // what it was held back for has come
	return a.emit(e, emit, tell)
}

// strays reports whether an event is about another task than the one whose stream the
// client has come to: it would make that task the client's.
func (a *subscriber) strays(seen wire.Answer) bool {
	return a.task != "" && slices.ContainsFunc(seen.Tasks, func(t wire.TaskRef) bool { return t.ID != "" && t.ID != a.task })
}

// anonymous emits events without an id.
func anonymous(emit relay.Emit) exchange.Telling {
	return func(name string, data []byte) error { return emit("", name, data) }
}

// emit has tell emit what an event is to the client. The last of it has the event's id:
// who has had only a part of it gets all of it again.
//
// Where an event becomes several, only the last carries the id, so that a client which breaks off
// between them is given all of them again: twice is better than not at all.
func (a *subscriber) emit(e stream.Entry, emit relay.Emit, tell func(exchange.Telling) error) error {
	id := a.name(e)
	if id == "" || a.x.Upstream.Retell == nil {
		return tell(func(name string, data []byte) error { return emit(id, name, data) })
	}
	last, some := []byte(nil), false
	err := tell(func(_ string, data []byte) error {
		if some {
			if err := emit("", "", last); err != nil {
				return err
			}
		}
		last, some = append(last[:0], data...), true
		return nil
	})
	if some && err == nil {
		err = emit(id, "", last)
	}
	return err
}

// name gives the id that an event goes out with, and counts it where the client has
// missed it.
func (a *subscriber) name(e stream.Entry) string {
	if a.missed > 0 && e.Number > 0 && e.Number <= a.missed {
		a.x.Rec.Replayed++
	}
	if id := a.id(e); id != "" {
		return id
	}
	return a.forget()
}

// id is an event's; "" where the feed is no task's, and in gRPC, whose messages have none.
//
// The part in front of the number is the same for all events of an epoch, and is sealed once.
func (a *subscriber) id(e stream.Entry) string {
	if a.task == "" || a.x.Call.Binding == wire.GRPC {
		return ""
	}
	number, epoch := e.Number, e.Epoch
	if number == 0 {
		number = a.cursor.Number() // it came before the feed was the task's
	}
	if epoch == [8]byte{} {
		epoch = a.feed.Epoch(number)
	}
	if a.ids == "" || a.epoch != epoch {
		a.epoch, a.ids = epoch, a.sessions.SealTask(a.x, a.task, epoch)
	}
	return a.numbered(number)
}

// idsTogether is how many bytes of ids are made at once at most.
const idsTogether = 1 << 10

// numbered makes the id of an event. Ids are cut from strings that are longer with each:
// one allocation for many, and no more than one id for a stream that has one.
func (a *subscriber) numbered(number uint64) string {
	var digits [20]byte
	tail := strconv.AppendUint(digits[:0], number, 10)
	if n := len(a.ids) + len(tail); a.made.Cap()-a.made.Len() < n {
		larger := max(n, min(2*a.made.Cap(), idsTogether))
		a.made.Reset()
		a.made.Grow(larger)
	}
	from := a.made.Len()
	a.made.WriteString(a.ids)
	a.made.Write(tail)
	return a.made.String()[from:]
}

// forget has a client who came back with the id of an event, and gets a stream without ids,
// not come back with it once more: it would be given what it has had.
func (a *subscriber) forget() string {
	if a.forgot || !a.x.Rec.Resumed || a.x.Call.Binding == wire.GRPC {
		return ""
	}
	a.forgot = true
	return sse.Forget
}

// emitJudged emits an event that has been judged: out is what is left of it.
func emitJudged(x *exchange.Exchange, e stream.Entry, found *intake.Judged, out []byte, from *snapshot, emit exchange.Telling) error {
	switch {
	case !e.Made && from.shows(x.Upstream, found.DocOf(e.Data)):
		return nil
	case x.Upstream.Retell == nil && x.Upstream.Binding == wire.GRPC:
		return x.PassEvent(e, found.DocOf(e.Data), out, emit)
	case x.Upstream.Retell == nil:
		return emit(e.Name, out)
	case exchange.IsError(*found.Seen):
		return forward.AgentError(failure.ReadError(x.Upstream.Side, http.StatusOK, out))
	}
	return x.Retell(out, emit)
}
