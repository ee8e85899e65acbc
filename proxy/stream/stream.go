// Package stream relays an agent's events to a client: in order, flushed as they
// come, with a heartbeat while nothing happens and a limit on everything that
// could grow. Either side speaks Server-Sent Events or gRPC.
//
// It owns the framing toward the client, heartbeats and limits. It does not
// know A2A: a See function judges each event and says what becomes of it. It may
// import internal/sse, internal/wire (for the frames of gRPC) and below.
package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// What ends a stream before the agent does. The texts stand in the audit
// record's end field, so they are stable.
var (
	ErrIdle     = errors.New("agent idle")
	ErrTooLarge = errors.New("event too large")
	ErrBroken   = errors.New("agent connection broke")
	ErrSlow     = errors.New("client too slow")
	ErrGone     = errors.New("client disconnected")
	ErrDraining = errors.New("gateway draining")
)

// Limits bound one stream. All must be set.
type Limits struct {
	Event     int           // bytes of one event
	Idle      time.Duration // between two events or comments of the agent
	Heartbeat time.Duration // silence after which the client gets a comment
	Write     time.Duration // for the client to take one event
}

// Emit passes one event on to the client. A framing without names drops the
// name. data may be reused once Emit has returned; its error is for See to return.
type Emit func(name string, data []byte) error

// See judges one event of the agent before the client gets anything of it, and
// emits what the client is to have instead: usually the event itself under its
// own name, or none, or several, which are written together. An error ends the
// stream; what was emitted before it is still sent. The event is valid until See
// returns.
type See func(event Event, emit Emit) error

// Stats is what a relay says of itself for the record.
type Stats struct {
	Events int64         // events written to the client
	Bytes  int64         // bytes of those events as written
	First  time.Duration // from the start of Run to the first event; 0 when there was none
}

// Relay is one stream from an agent to a client.
type Relay struct {
	Limits Limits
	See    See
	Drain  <-chan struct{} // closed when the gateway shuts down; nil for never

	// From reads the agent's body; limit is Limits.Event. Nil is Events.
	From func(body io.Reader, limit int) Source
	// To is the client's framing. Nil is EventFrames.
	To Framing
	// Lead emits events of the gateway's own, before the agent's body is first
	// read. An error of it ends the stream. Nil emits none.
	Lead func(Emit) error
}

// Run copies body to w until the agent, the client or a limit ends it. It
// returns nil when the agent ended the stream; otherwise an error that wraps
// one of those above or what See or Lead returned. Nothing is written before the
// first event or heartbeat: as long as w's header is not out, which w knows, an
// error can still become a response of its own. The body is closed in any case,
// so that the agent learns that nobody listens.
// Closing body must be safe while it is being read, as it is for an HTTP response.
func (r Relay) Run(client context.Context, w http.ResponseWriter, body io.ReadCloser) (Stats, error) {
	defer body.Close() // nothing is left to do with it
	ctx, stop := context.WithCancelCause(client)
	defer stop(nil)
	// Reads do not know contexts: whatever ends the stream early closes the body,
	// and the cause tells which it was.
	defer context.AfterFunc(ctx, func() { _ = body.Close() })()
	idle := time.AfterFunc(r.Limits.Idle, func() { stop(ErrIdle) })
	defer idle.Stop()
	if r.Drain != nil {
		done := make(chan struct{})
		defer close(done)
		go func() {
			select {
			case <-r.Drain:
				stop(ErrDraining)
			case <-done:
			}
		}()
	}
	out := newWriter(w, r.To, r.Limits, stop)
	defer out.stop()
	err := r.copy(ctx, out, body, idle)
	if errors.Is(err, ErrBroken) && errors.Is(client.Err(), context.Canceled) {
		// A client who hangs up cancels ctx and the request to the agent, in no
		// order: the agent's body may break before ctx knows why.
		err = ErrGone
	}
	return out.stats, err
}

func (r Relay) copy(ctx context.Context, out *writer, body io.Reader, idle *time.Timer) error {
	emit := Emit(out.emit) // once: it would be an allocation per event
	if r.Lead != nil {
		if err := pass(ctx, out, r.Lead(emit)); err != nil {
			return err
		}
		idle.Reset(r.Limits.Idle)
	}
	from := r.From
	if from == nil {
		from = Events
	}
	source := from(body, r.Limits.Event)
	for {
		event, err := source.Next()
		if err != nil {
			return ending(ctx, out, err)
		}
		idle.Reset(r.Limits.Idle)
		if !event.HasData {
			continue // the agent's comments belong to its own hop
		}
		if err := pass(ctx, out, r.See(event, emit)); err != nil {
			return err
		}
	}
}

// pass sends what was emitted; err is what the function that emitted it came to.
func pass(ctx context.Context, out *writer, err error) error {
	if failed := out.flush(); failed != nil {
		return ending(ctx, out, failed)
	}
	return err
}

// ending names why reading or writing stopped. A failed write comes first, because
// net/http cancels the request's context on one of its own; then a cause set on
// the context, of which the read error is only the echo.
func ending(ctx context.Context, out *writer, err error) error {
	if failed := out.failed(); failed != nil {
		return failed
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, context.Canceled):
		return ErrGone
	case cause != nil:
		return cause
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, sse.ErrTooLarge), errors.Is(err, wire.ErrMessageTooLarge):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}
