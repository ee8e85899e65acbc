package grpcframe

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
)

// What a Reader refuses. The text begins as errors of reading do, so that it stands in a log
// as it is.
var (
	// ErrTooLarge is a frame that announces more than the limit. Of its message nothing has
	// been read; Skip passes over it.
	ErrTooLarge = errors.New("read gRPC message: larger than the limit")
	// ErrCompressed is a frame whose first byte is not 0: it is compressed, or flagged as
	// something that gRPC does not know. The gateway sends no grpc-accept-encoding, so no
	// peer has a reason to compress, and a small frame cannot become a large message.
	ErrCompressed = errors.New("read gRPC message: compressed")
)

const (
	frameHead    = 5        // the flag and the length in front of a message
	firstMessage = 2 << 10  // what is allocated before a byte of a message is there
	keepMessage  = 16 << 10 // a buffer up to here is kept in any case
	patience     = 64       // messages after which a larger buffer that nobody needs is given back
)

// Append appends message in its frame, uncompressed. The two bytes 0x0a 0x00 become
//
//	00  00 00 00 02  0a 00
func Append(dst, message []byte) []byte {
	return append(AppendHead(dst, len(message)), message...)
}

// AppendHead appends what Append does before a message of size bytes, for a caller that
// writes the message itself and saves a copy of it.
func AppendHead(dst []byte, size int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0), uint32(size)) //nolint:gosec // bodies are bounded far below
}

// Reader splits the body of a gRPC request or response into its messages. It is
// for one goroutine.
//
// It takes what is there of several messages at once. Its one buffer grows with what arrives, not with what
// a frame announces: a peer that announces 4 MiB and sends nothing costs 2 KiB. It shrinks again, because a
// stream may stay open for hours after its one large event.
type Reader struct {
	src   io.Reader
	limit int
	buf   []byte // what was read; the last message, and what is behind it
	at    int    // where the next frame begins in buf
	full  bool   // the source has filled buf
	small int    // messages in a row that needed less than a quarter of buf
	over  error  // what Next has returned and returns ever after
}

// NewReader reads messages of at most limit bytes, frames not counted, from r.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{src: r, limit: limit}
}

// Next returns the next message without its frame, valid until the next call. Its
// errors end the body and are returned ever after: io.EOF where it ended between
// messages, io.ErrUnexpectedEOF where it ended inside of one, ErrTooLarge,
// ErrCompressed, or what the underlying reader returned.
func (m *Reader) Next() (message []byte, err error) {
	if m.over == nil {
		message, m.over = m.read()
	}
	switch {
	case m.over == nil:
		return message, nil
	case !errors.Is(m.over, ErrTooLarge): // of which Skip may be told to pass over the rest
		m.buf, m.at = nil, 0
	}
	return nil, m.over
}

// More reports whether Next would return a message, or refuse one, without reading.
func (m *Reader) More() bool {
	rest := m.buf[m.at:]
	if m.over != nil || len(rest) < frameHead {
		return m.over != nil
	}
	size := sizeOf(rest)
	return rest[0] != 0 || size > int64(m.limit) || size <= int64(len(rest)-frameHead)
}

// Rest gives the buffer back where nothing is in it, before a read that may take hours. It
// is false where the next message has begun. The last one is not good any more.
func (m *Reader) Rest() bool {
	if m.at < len(m.buf) || m.over != nil {
		return false
	}
	if cap(m.buf) == firstMessage {
		buffers.Put((*[firstMessage]byte)(m.buf[:firstMessage]))
	}
	m.buf, m.at, m.full, m.small = nil, 0, false, 0
	return true
}

// buffers are for Readers that rest most of the time.
var buffers = sync.Pool{New: func() any { return new([firstMessage]byte) }}

// buffer is a new one, of n bytes.
func buffer(n int) []byte {
	if n != firstMessage {
		return make([]byte, 0, n)
	}
	b, _ := buffers.Get().(*[firstMessage]byte)
	return b[:0]
}

// read takes the head of the next frame and holds what it announces to the limit before
// it makes room for it.
func (m *Reader) read() ([]byte, error) {
	if err := m.need(frameHead); err != nil {
		return nil, err
	}
	if m.buf[m.at] != 0 {
		return nil, ErrCompressed
	}
	size := sizeOf(m.buf[m.at:])
	if size > int64(m.limit) {
		return nil, ErrTooLarge
	}
	n := frameHead + int(size)
	if err := m.need(n); err != nil {
		return nil, err
	}
	message := m.buf[m.at+frameHead : m.at+n : m.at+n]
	m.at += n
	m.shrink(n)
	return message, nil
}

// sizeOf is the size that the head of a frame announces.
func sizeOf(head []byte) int64 { return int64(binary.BigEndian.Uint32(head[1:])) }

// Skip passes over a message that was too large, and has Next go on behind it. It gives the
// message's size in bytes, as far as it was there. Where Next has not returned
// ErrTooLarge it does nothing.
func (m *Reader) Skip() (size int64, err error) {
	if !errors.Is(m.over, ErrTooLarge) {
		return 0, m.over
	}
	announced := sizeOf(m.buf[m.at:])
	m.at += frameHead
	here := min(announced, int64(len(m.buf)-m.at))
	m.at += int(here)
	m.over = nil
	size, err = io.CopyN(io.Discard, m.src, announced-here)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	m.over = err
	return here + size, err
}

// need reads until n bytes are there from at on. io.EOF says that there is none of them.
//
// The buffer becomes four times as large each time it is full: for a message that is larger, and where the
// source had as much to give as there was room for. Where a stream waits for its next message the source is
// asked from here, without functions in between: they would take a larger stack.
func (m *Reader) need(n int) error {
	for empty := 0; len(m.buf)-m.at < n; {
		if len(m.buf) == cap(m.buf) || m.at > 0 {
			m.makeRoom(n)
		}
		have := len(m.buf)
		k, err := m.src.Read(m.buf[have:cap(m.buf)])
		m.buf = m.buf[:have+k]
		m.full = have+k == cap(m.buf)
		switch {
		case have+k >= n: // an error comes again
		case errors.Is(err, io.EOF) && have+k > 0:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case k > 0:
			empty = 0
		default:
			if empty++; empty > mostEmpty {
				return io.ErrNoProgress
			}
		}
	}
	return nil
}

// mostEmpty is how often in a row a source may give nothing without an error.
const mostEmpty = 100

// makeRoom moves what is there of a frame of n bytes to the beginning of a buffer that has room for more.
func (m *Reader) makeRoom(n int) {
	rest, size := m.buf[m.at:], cap(m.buf)
	m.at = 0
	switch {
	case len(rest) == size: // of a larger message, or nothing of none
		size = max(firstMessage, min(n, 4*size))
	case m.full && size < keepMessage:
		size = min(keepMessage, 4*size)
	default:
		m.buf = m.buf[:copy(m.buf[:size], rest)]
		return
	}
	m.buf, m.full = append(buffer(size), rest...), false
}

// shrink gives a buffer back that one large message has left behind, once so many messages
// in a row have needed less than a quarter of it that another large one is not likely.
func (m *Reader) shrink(n int) {
	if cap(m.buf) <= keepMessage || n > cap(m.buf)/4 {
		m.small = 0
		return
	}
	m.small++
	if rest := m.buf[m.at:]; m.small > patience && len(rest) <= firstMessage {
		m.buf, m.at, m.small = append([]byte(nil), rest...), 0, 0
	}
}
