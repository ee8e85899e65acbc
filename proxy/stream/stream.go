// Package stream relays an agent's Server-Sent Events to a client: in order,
// one flush per event, with a heartbeat while nothing happens and a limit on
// everything that could grow.
//
// It owns the framing toward the client, heartbeats and limits. It does not
// know A2A: a See function judges each event's data. It may import
// internal/sse, internal/secret and below.
package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/sse"
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

// See judges the data of one event before the client gets it, and returns the
// bytes to send, usually data itself. An error withholds the event and ends the
// stream. data is valid until See returns.
type See func(data []byte) ([]byte, error)

// Stats is what a relay says of itself for the record.
type Stats struct {
	Events int64         // events passed on
	Bytes  int64         // bytes of those events as written
	First  time.Duration // from the start of Run to the first event; 0 when there was none
}

// Relay is one stream from an agent to a client.
type Relay struct {
	Limits Limits
	See    See
	Drain  <-chan struct{} // closed when the gateway shuts down; nil for never
}

// Run copies body to w until the agent, the client or a limit ends it. It
// returns nil when the agent ended the stream; otherwise an error that wraps
// one of those above or what See returned. w's header must have been written. The
// body is closed in any case, so that the agent learns that nobody listens.
// Closing body must be safe while it is being read, as it is for an HTTP response.
func (r Relay) Run(ctx context.Context, w http.ResponseWriter, body io.ReadCloser) (Stats, error) {
	out := &writer{w: w, rc: http.NewResponseController(w), limit: r.Limits.Write, silence: r.Limits.Heartbeat}
	defer body.Close() // nothing is left to do with it
	ctx, stop := context.WithCancelCause(ctx)
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
	out.start(stop)
	defer out.stop()
	return r.copy(ctx, out, body, idle)
}

func (r Relay) copy(ctx context.Context, out *writer, body io.Reader, idle *time.Timer) (Stats, error) {
	var stats Stats
	began := time.Now()
	events := sse.NewReader(body, r.Limits.Event)
	for {
		event, err := events.Next()
		if err != nil {
			return stats, ending(ctx, out, err)
		}
		idle.Reset(r.Limits.Idle)
		if !event.HasData {
			continue // the agent's comments belong to its own hop
		}
		data, err := r.See(event.Data)
		if err != nil {
			return stats, err
		}
		n, err := out.event(sse.Event{Name: event.Name, Data: data, HasData: true})
		if err != nil {
			return stats, ending(ctx, out, err)
		}
		if stats.Events == 0 {
			stats.First = time.Since(began)
		}
		stats.Events++
		stats.Bytes += int64(n)
	}
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
	case errors.Is(err, sse.ErrTooLarge):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// writer serialises events and heartbeats onto the client's connection.
type writer struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	limit   time.Duration
	silence time.Duration

	mu      sync.Mutex
	frame   []byte
	beat    *time.Timer
	err     error // of the write that failed
	stopped bool
}

// start begins the heartbeat; a failed one ends the stream through cancel.
func (o *writer) start(cancel context.CancelCauseFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.beat = time.AfterFunc(o.silence, func() {
		if err := o.heartbeat(); err != nil {
			cancel(err)
		}
	})
}

// stop waits for a heartbeat that is being written: after it, the caller has
// the connection to itself.
func (o *writer) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = true
	o.beat.Stop()
}

func (o *writer) heartbeat() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped {
		return nil
	}
	o.frame = sse.AppendComment(o.frame[:0], "keep-alive")
	o.beat.Reset(o.silence)
	return o.flush()
}

func (o *writer) event(e sse.Event) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.frame = sse.Append(o.frame[:0], e)
	o.beat.Reset(o.silence)
	return len(o.frame), o.flush()
}

// flush writes the frame under a deadline of its own, since the server sets
// none that a stream of hours could live with.
func (o *writer) flush() error {
	// Not every ResponseWriter has deadlines (tests' recorders do not); the write
	// itself then decides.
	_ = o.rc.SetWriteDeadline(time.Now().Add(o.limit))
	_, err := o.w.Write(o.frame)
	if err == nil {
		err = o.rc.Flush()
	}
	if err != nil {
		o.err = writeError(err)
	}
	return o.err
}

// failed is the error of the write that failed, a heartbeat's included.
func (o *writer) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func writeError(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%w: %w", ErrSlow, err)
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}
