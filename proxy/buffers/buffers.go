// Package buffers pools the memory that bodies of calls and answers are read into.
//
// A Buffer counts who uses it: the call that has read it, and a transport that may still be
// sending it after it has returned the answer. It goes back to its pool with the last of them,
// and never before, because its bytes are then another call's. It imports nothing of ours.
package buffers

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// Buffer is a pooled body. The transport may still be sending a request body
// after it has returned the answer to it, so a buffer counts its users and goes
// back to the pool with the last of them.
type Buffer struct {
	b    bytes.Buffer
	uses atomic.Int32
}

// Large buffers have a pool of their own, so that a small body, which a stream may hold for
// hours, never gets one. A megabyte that is new to the process costs as much as its copy.
var buffers, largeBuffers = sync.Pool{New: func() any { return new(Buffer) }}, sync.Pool{New: func() any { return new(Buffer) }}

// pooledMax and largeMax are what buffers of the pools have room for at most. Larger ones
// are left to the collector.
const (
	pooledMax = 256 << 10
	largeMax  = 2 << 20
)

// New returns an empty buffer for a body of any length.
func New() *Buffer { return NewFor(0) }

// NewFor returns an empty buffer for a body of about so many bytes.
func NewFor(length int64) *Buffer {
	pool := &buffers
	if length > pooledMax {
		pool = &largeBuffers
	}
	b, _ := pool.Get().(*Buffer)
	b.b.Reset()
	b.uses.Store(1)
	return b
}

// Bytes is what has been read; of a nil buffer nothing. They are the buffer's, and another
// call's once it is released.
func (b *Buffer) Bytes() []byte {
	if b == nil {
		return nil
	}
	return b.b.Bytes()
}

// Room is an empty slice with room for n bytes, of the buffer's own memory.
func (b *Buffer) Room(n int) []byte {
	b.b.Grow(n)
	return b.b.AvailableBuffer()
}

// Release ends one use. A nil buffer has none.
func (b *Buffer) Release() {
	if b == nil || b.uses.Add(-1) > 0 {
		return
	}
	switch size := b.b.Cap(); {
	case size <= pooledMax:
		buffers.Put(b)
	case size <= largeMax:
		largeBuffers.Put(b)
	}
}

// Reader hands the bytes to a transport, which closes it when it is done. They
// are b's, or belong to no buffer when b is nil.
func (b *Buffer) Reader(body []byte) io.ReadCloser {
	r := new(Reader)
	r.Reset(body, b)
	return r
}

// Reader lets go of its bytes on Close: a transport may keep it for as long as the
// answer takes. HTTP/2 closes a body that another goroutine is reading, in order to stop
// it: the lock makes sure that nobody reads what may by then be somebody else's body.
type Reader struct {
	mu     sync.Mutex
	rest   []byte
	Buffer *Buffer // of rest, or nil
	closed bool
}

// Reset makes a reader one of these bytes. It has been none before.
func (r *Reader) Reset(body []byte, b *Buffer) {
	if b != nil {
		b.uses.Add(1)
	}
	r.rest, r.Buffer = body, b
}

// Read fails after Close.
func (r *Reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return 0, http.ErrBodyReadAfterClose
	case len(r.rest) == 0:
		return 0, io.EOF
	}
	n := copy(p, r.rest)
	r.took(n)
	return n, nil
}

// took ends the use of the bytes with the last of them: HTTP/2 closes the body of a request
// with its answer.
func (r *Reader) took(n int) {
	if r.rest = r.rest[n:]; len(r.rest) == 0 {
		r.drop()
	}
}

func (r *Reader) drop() {
	r.Buffer.Release()
	r.Buffer, r.rest = nil, nil
}

// Len is how much has not been read.
func (r *Reader) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.rest)
}

// WriteTo implements io.WriterTo without a copy: a Close meanwhile waits for w.
func (r *Reader) WriteTo(w io.Writer) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := w.Write(r.rest)
	r.took(n)
	return int64(n), err
}

// Close may be called more than once and from any goroutine.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop()
	r.closed = true
	return nil
}

// ErrTooLong is what Fill fails with for a body over its limit.
var ErrTooLong = errors.New("longer than the limit")

// Fill reads r to its end, or fails with ErrTooLong once there are more than limit bytes,
// with those of before.
func (b *Buffer) Fill(r io.Reader, length, limit int64) error {
	if length > limit {
		return ErrTooLong
	}
	b.b.Grow(bytes.MinRead + int(max(length, 0)))
	for {
		if b.b.Available() == 0 {
			b.b.Grow(bytes.MinRead)
		}
		room := b.b.AvailableBuffer()
		room = room[:min(int64(cap(room)), limit+1-int64(b.b.Len()))]
		n, err := r.Read(room)
		b.b.Write(room[:n]) // where it is already
		switch {
		case int64(b.b.Len()) > limit:
			return ErrTooLong
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
