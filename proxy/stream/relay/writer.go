package relay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

const (
	// batch is how many bytes of events are written together. One event of an agent
	// can become many of the client's; they must not add up without limit. An event of
	// that size is written from where it lies: what all clients of a task are given is
	// not copied for each, of whom some may take minutes to read it.
	batch = 16 << 10
	// keep is the largest buffer that others use after this stream.
	keep = 2 * batch
)

// buffers are for events that are being written. A stream lives for hours, in which it
// needs one for moments.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// writer serialises events and heartbeats onto the client's connection. Only Run's
// goroutine adds events; heartbeats come from a timer's.
type writer struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	to      Framing
	limit   time.Duration
	silence time.Duration
	began   time.Time

	frames *[]byte // events not yet written, of buffers; nil for none
	held   int64   // how many
	stats  Stats   // of what was written

	mu      sync.Mutex
	comment []byte      // a heartbeat's bytes
	beat    *time.Timer // nil where the framing has none
	err     error       // of the write that failed
	stopped bool
}

// newWriter begins the heartbeat; a failed one ends the stream through cancel.
func newWriter(w http.ResponseWriter, to Framing, l stream.Limits, cancel context.CancelCauseFunc) *writer {
	if to == nil {
		to = EventFrames{}
	}
	o := &writer{
		w: w, rc: http.NewResponseController(w), to: to, limit: l.Write, silence: l.Heartbeat,
		began: time.Now(), comment: to.Beat(nil),
	}
	o.startHeartbeat(cancel)
	return o
}

// stop waits for a heartbeat that is being written: after it, the caller has
// the connection to itself.
func (o *writer) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = true
	if o.beat != nil {
		o.beat.Stop()
	}
}

// emit adds one event; it is an Emit.
func (o *writer) emit(id, name string, data []byte) error {
	if o.frames == nil {
		o.frames, _ = buffers.Get().(*[]byte)
	}
	o.held++
	if len(data) >= batch {
		if head, tail, ok := o.to.Around(*o.frames, id, name, data); ok {
			*o.frames = head
			return o.send(head, data, tail)
		}
	}
	*o.frames = o.to.Append(*o.frames, id, name, data)
	if len(*o.frames) < batch {
		return nil
	}
	return o.flush()
}

// flush sends the events that were added, if any.
func (o *writer) flush() error {
	switch {
	case o.held == 0:
		return nil
	case o.frames == nil:
		return o.failed()
	}
	return o.send(*o.frames)
}

// send writes the events that were added, which lie in parts.
//
// Statistics count what was written and not what was added. After an error the buffer is given to
// nobody: HTTP/2 may still be sending from it.
func (o *writer) send(parts ...[]byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.beat != nil {
		o.beat.Reset(o.silence)
	}
	err := o.write(parts...)
	if err == nil {
		if o.stats.Events == 0 {
			o.stats.First = time.Since(o.began)
		}
		o.stats.Events += o.held
		o.held = 0 // what was not written stays so, for flush to say
		for _, part := range parts {
			o.stats.Bytes += int64(len(part))
		}
	}
	if err != nil {
		o.frames = nil // on HTTP/2 a frame of it may be on its way: nobody else has it
	}
	o.release()
	return err
}

// release gives the buffer to others.
func (o *writer) release() {
	if o.frames == nil {
		return
	}
	if *o.frames = (*o.frames)[:0]; cap(*o.frames) <= keep {
		buffers.Put(o.frames)
	}
	o.frames = nil
}

// write sends parts under a deadline of their own, since the server sets none that a
// stream of hours could live with. The first error is the last: net/http may
// call what follows it by another name.
func (o *writer) write(parts ...[]byte) error {
	if o.err != nil {
		return o.err
	}
	// Not every ResponseWriter has deadlines (tests' recorders do not); the write
	// itself then decides.
	_ = o.rc.SetWriteDeadline(time.Now().Add(o.limit))
	var err error
	for _, part := range parts {
		if err == nil {
			_, err = o.w.Write(part)
		}
	}
	if err == nil {
		err = o.rc.Flush()
	}
	if err != nil {
		o.err = writeError(err)
	}
	// On HTTP/2 a deadline that passes resets the stream, whether or not anyone is
	// writing: silence must have none.
	_ = o.rc.SetWriteDeadline(time.Time{})
	return o.err
}

// failed is the error of the write that failed, a heartbeat's included.
func (o *writer) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// writeError tells a client that reads too slowly, whose deadline has passed, from one that has
// gone.
func writeError(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%w: %w", ending.ErrSlow, err)
	}
	return fmt.Errorf("%w: %w", ending.ErrGone, err)
}
