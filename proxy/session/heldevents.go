package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// heldEvents are the events of one client's stream that wait for what comes behind them, because guards
// look for what is split over several. They go in order: one that waits keeps all behind it. Each waits
// for policy.guardWindow.time at most, and all together are no more than mostHeld.
//
// The relay asks the subscriber for entries. One that waits is taken there (guard), and a later call
// says that its time has come (due), with an entry of the subscriber's own.
type heldEvents struct {
	window *guard.Window // nil where no guard can find what is split
	time   time.Duration
	queue  []heldEvent
	bytes  int
	due    bool  // the entry at hand is none of the feed's: the first of the queue is to go
	ended  error // what the feed has come to, once the queue is empty; nil while it goes on
}

// heldEvent is one that waits.
type heldEvent struct {
	entry  stream.Entry
	found  *intake.Judged
	demand *authdemand.Demand
	event  *inspect.GuardedEvent
	size   int
	came   time.Time
	until  time.Time
}

// mostHeld is how many bytes of events wait at most.
const mostHeld = 256 << 10

// holdEvents prepares for a stream, where guards look at its events.
func (a *subscriber) holdEvents(x *exchange.Exchange) {
	on := x.Guards.On(guard.Event)
	if on == nil {
		return
	}
	window, wait := a.sessions.Guards.Window(on)
	a.held = &heldEvents{window: window, time: wait}
}

// waiting reports whether anything waits.
func (h *heldEvents) waiting() bool { return h != nil && (len(h.queue) > 0 || h.ended != nil) }

// ready reports whether the first may go.
func (h *heldEvents) ready() bool {
	return len(h.queue) > 0 && (h.ended != nil || h.bytes > mostHeld || h.queue[0].event.Ready() || !time.Now().Before(h.queue[0].until))
}

// last ends a stream that has no feed: what waits goes first.
func (a *subscriber) last() (stream.Entry, error) {
	if a.held != nil && len(a.held.queue) > 0 {
		a.held.ended, a.held.due = io.EOF, true
		return stream.Entry{}, nil
	}
	return stream.Entry{}, io.EOF
}

// coming is the next entry of the feed; what waits comes in between.
func (a *subscriber) coming(ctx context.Context) (stream.Entry, error) {
	h := a.held
	if h == nil {
		return a.cursor.Next(ctx)
	}
	for {
		switch {
		case h.ready():
			h.due = true
			return stream.Entry{}, nil
		case len(h.queue) == 0 && h.ended != nil:
			return stream.Entry{}, h.ended
		case len(h.queue) == 0:
			return a.cursor.Next(ctx)
		}
		own, cancel := context.WithDeadline(ctx, h.queue[0].until)
		e, err := a.cursor.Next(own)
		late := own.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			return e, nil
		case late && !errors.Is(err, stream.ErrLost): // the first has waited for long enough
			continue
		case ctx.Err() != nil:
			return e, err
		case errors.Is(err, stream.ErrLost):
			// Nobody knows when there is another source: what waits goes first.
			for i := range h.queue {
				h.queue[i].until = time.Time{}
			}
		default:
			h.ended = err
		}
	}
}

// guard has guards look at an event, and passes it on if nothing has to come behind it.
func (a *subscriber) guard(e stream.Entry, found *intake.Judged, out []byte, d *authdemand.Demand, emit relay.Emit) error {
	h, x, doc := a.held, a.x, found.DocOf(e.Data)
	event, err := a.sessions.GuardEvent(x, h.window, artifactOf(found, doc), *found.Seen, out)
	if err != nil {
		h.queue, h.bytes = nil, 0
		return err
	}
	now := time.Now()
	held := heldEvent{entry: e, found: found, demand: d, event: event, size: len(e.Data), came: now, until: now.Add(h.time)}
	if len(h.queue) == 0 && event.Ready() {
		return a.release(held, emit)
	}
	if held.entry.Number == 0 && a.cursor != nil {
		held.entry.Number = a.cursor.Number() // the cursor goes on
	}
	held.entry.Data = bytes.Clone(e.Data)
	h.queue = append(h.queue, held)
	h.bytes += held.size
	return nil
}

// artifactOf is what tells the artifact of an event from others.
func artifactOf(found *intake.Judged, doc []byte) string {
	if found.Seen.Kind != "artifactUpdate" {
		return ""
	}
	at := found.Seen.Chunk.ID
	return string(doc[at[0]:at[1]])
}

// pass passes the first of those on that wait.
func (a *subscriber) pass(emit relay.Emit) error {
	h := a.held
	h.due = false
	first := h.queue[0]
	h.queue[0] = heldEvent{} // the stream may go on for hours
	h.queue = h.queue[1:]
	h.bytes -= first.size
	return a.release(first, emit)
}

// release gives the client an event.
func (a *subscriber) release(e heldEvent, emit relay.Emit) error {
	a.sessions.Telemetry.Metrics.Guards.Held(a.x.Agent.ID, time.Since(e.came))
	out, err := e.event.Release()
	if err != nil {
		return wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	return a.sessions.deliver(a.x, a, e.entry, e.found, out, e.demand, emit)
}
