package proxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// buffer is a pooled body. The transport may still be sending a request body
// after it has returned the answer to it, so a buffer counts its users and goes
// back to the pool with the last of them.
type buffer struct {
	b    bytes.Buffer
	uses atomic.Int32
}

// Large buffers have a pool of their own, so that a small body, which a stream may hold for
// hours, never gets one. A megabyte that is new to the process costs as much as its copy.
var buffers, largeBuffers = sync.Pool{New: func() any { return new(buffer) }}, sync.Pool{New: func() any { return new(buffer) }}

// pooledMax and largeMax are what buffers of the pools have room for at most. Larger ones
// are left to the collector.
const (
	pooledMax = 256 << 10
	largeMax  = 2 << 20
)

func newBuffer() *buffer { return newBufferFor(0) }

// newBufferFor returns an empty buffer for a body of about so many bytes.
func newBufferFor(length int64) *buffer {
	pool := &buffers
	if length > pooledMax {
		pool = &largeBuffers
	}
	b, _ := pool.Get().(*buffer)
	b.b.Reset()
	b.uses.Store(1)
	return b
}

func (b *buffer) bytes() []byte {
	if b == nil {
		return nil
	}
	return b.b.Bytes()
}

func (b *buffer) release() {
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

// giveBack releases a buffer whose bytes were written to the client. Where a write failed it
// is left to the collector: a stream of HTTP/2 that is reset ends its writer at once, while a
// frame of the bytes may be on its way, and would have those of the next call in it.
func (x *fromClient) giveBack(b *buffer) {
	if !x.w.failed {
		b.release()
	}
}

// reader hands the bytes to a transport, which closes it when it is done. They
// are b's, or belong to no buffer when b is nil.
func (b *buffer) reader(body []byte) io.ReadCloser {
	r := new(bodyReader)
	r.read(body, b)
	return r
}

// bodyReader lets go of its bytes on Close: a transport may keep it for as long as the
// answer takes. HTTP/2 closes a body that another goroutine is reading, in order to stop
// it: the lock makes sure that nobody reads what may by then be somebody else's body.
type bodyReader struct {
	mu     sync.Mutex
	rest   []byte
	buffer *buffer // of rest, or nil
	closed bool
}

// read makes a reader one of these bytes. It has been none before.
func (r *bodyReader) read(body []byte, b *buffer) {
	if b != nil {
		b.uses.Add(1)
	}
	r.rest, r.buffer = body, b
}

// Read fails after Close.
func (r *bodyReader) Read(p []byte) (int, error) {
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
func (r *bodyReader) took(n int) {
	if r.rest = r.rest[n:]; len(r.rest) == 0 {
		r.drop()
	}
}

func (r *bodyReader) drop() {
	r.buffer.release()
	r.buffer, r.rest = nil, nil
}

// Len is how much has not been read.
func (r *bodyReader) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.rest)
}

// WriteTo implements io.WriterTo without a copy: a Close meanwhile waits for w.
func (r *bodyReader) WriteTo(w io.Writer) (int64, error) {
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
func (r *bodyReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop()
	r.closed = true
	return nil
}

var errTooLong = errors.New("longer than the limit")

// fill reads r to its end, or fails with errTooLong once there are more than limit bytes,
// with those of before.
func (b *buffer) fill(r io.Reader, length, limit int64) error {
	if length > limit {
		return errTooLong
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
			return errTooLong
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// unload lets go of a request once its answer streams: what came with it would stay in
// memory for as long as the stream is open. The buffer goes to the collector and not
// to the next call, so that nobody who still holds a part of it sees another's.
func (x *exchange) unload() {
	if x.body == nil && x.told == nil {
		return
	}
	x.body, x.told = nil, nil
	calls := []*wire.Call{&x.call}
	if l := x.upstream; l != nil {
		l.body, l.holder, l.other = nil, nil, nil
		calls = append(calls, l.call)
	}
	for _, c := range calls {
		c.ID = bytes.Clone(c.ID)
		c.Body, c.Params, c.Message = nil, nil, nil
	}
}

// lend is room for the caller's call as it is retold, until the exchange ends.
func (x *parsedCall) lend(n int) []byte {
	x.told.release() // an agent is asked for one thing after the other
	x.told = newBufferFor(int64(n))
	x.told.b.Grow(n)
	return x.told.b.AvailableBuffer()
}

// digest is what the audit record keeps of a body: "sha256:" and 64 hex digits.
func digest(body []byte) string {
	const name = "sha256:"
	sum := sha256.Sum256(body)
	var text [len(name) + 2*sha256.Size]byte
	return string(hex.AppendEncode(append(text[:0], name...), sum[:]))
}
