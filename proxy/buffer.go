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

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// pooledMax keeps one large body from holding its memory forever.
const pooledMax = 256 << 10

func newBuffer() *buffer {
	b, _ := buffers.Get().(*buffer)
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
	if b != nil && b.uses.Add(-1) == 0 && b.b.Cap() <= pooledMax {
		buffers.Put(b)
	}
}

// reader hands the bytes to a transport, which closes it when it is done. They
// are b's, or belong to no buffer when b is nil.
func (b *buffer) reader(body []byte) io.ReadCloser {
	if b == nil {
		return io.NopCloser(bytes.NewReader(body))
	}
	b.uses.Add(1)
	return &bodyReader{rest: body, buffer: b}
}

// bodyReader lets go of its buffer on Close. HTTP/2 closes a body that another
// goroutine is reading, in order to stop it: the lock makes sure that nobody
// reads what may by then be somebody else's body.
type bodyReader struct {
	mu     sync.Mutex
	rest   []byte
	buffer *buffer // nil once closed
}

// Read fails after Close.
func (r *bodyReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.buffer == nil:
		return 0, http.ErrBodyReadAfterClose
	case len(r.rest) == 0:
		return 0, io.EOF
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close may be called more than once and from any goroutine.
func (r *bodyReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.buffer != nil {
		r.buffer.release()
		r.buffer, r.rest = nil, nil
	}
	return nil
}

var errTooLong = errors.New("longer than the limit")

// fill reads r to its end, or fails with errTooLong after limit bytes.
func (b *buffer) fill(r io.Reader, length, limit int64) error {
	if length > limit {
		return errTooLong
	}
	if length > 0 {
		b.b.Grow(int(length) + bytes.MinRead)
	}
	n, err := b.b.ReadFrom(io.LimitReader(r, limit+1))
	if err != nil {
		return err
	}
	if n > limit {
		return errTooLong
	}
	return nil
}

// readBody takes in the whole request body: nothing is forwarded that has not
// been read and checked to its end.
func (p *Proxy) readBody(x *exchange) (*buffer, *wire.Error) {
	limit := int64(p.Server.Limits.Body)
	b := newBuffer()
	err := b.fill(x.r.Body, x.r.ContentLength, limit)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return b, nil
	case errors.Is(err, errTooLong), errors.As(err, &tooLarge):
		b.release()
		x.w.Header().Set("Connection", "close") // the rest of the body is not worth reading
		return nil, wire.Errorf(wire.TooLarge, "the body exceeds server.limits.body (%d bytes)", limit)
	}
	b.release()
	return nil, wire.Errorf(wire.Malformed, "the body could not be read").Because(err)
}

func (p *Proxy) decodeLimits() wire.Limits {
	l := p.Server.Limits
	return wire.Limits{Body: int64(l.Body), Depth: l.JSONDepth, Members: l.JSONMembers, Parts: l.Parts}
}

// digest is what the audit record keeps of a body: "sha256:" and 64 hex digits.
func digest(body []byte) string {
	const name = "sha256:"
	sum := sha256.Sum256(body)
	var text [len(name) + 2*sha256.Size]byte
	return string(hex.AppendEncode(append(text[:0], name...), sum[:]))
}
