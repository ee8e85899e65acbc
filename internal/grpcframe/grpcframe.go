package grpcframe

import (
	"encoding/binary"
	"errors"
	"io"
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
// Its one buffer grows with what arrives, not with what a frame announces: a peer that
// announces 4 MiB and sends nothing costs 2 KiB. It shrinks again, because a stream may
// stay open for hours after its one large event.
type Reader struct {
	src   io.Reader
	limit int
	head  [frameHead]byte
	buf   []byte
	small int   // messages in a row that needed less than a quarter of buf
	over  error // what Next has returned and returns ever after
}

// NewReader reads messages of at most limit bytes, frames not counted, from r.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{src: r, limit: limit}
}

// Next returns the next message without its frame, valid until the next call. Its
// errors end the body and are returned ever after: io.EOF where it ended between
// messages, io.ErrUnexpectedEOF where it ended inside of one, ErrTooLarge,
// ErrCompressed, or what the underlying reader returned.
func (m *Reader) Next() ([]byte, error) {
	if m.over == nil {
		m.over = m.read()
	}
	if m.over != nil {
		m.buf = nil
		return nil, m.over
	}
	return m.buf, nil
}

// read takes the head of the next frame and holds what it announces to the limit before
// it makes room for it.
func (m *Reader) read() error {
	if _, err := io.ReadFull(m.src, m.head[:]); err != nil {
		return err
	}
	if m.head[0] != 0 {
		return ErrCompressed
	}
	size := int64(binary.BigEndian.Uint32(m.head[1:]))
	if size > int64(m.limit) {
		return ErrTooLarge
	}
	m.shrink(int(size))
	return m.fill(int(size))
}

// Skip passes over a message that was too large, and has Next go on behind it. It gives the
// message's size in bytes, as far as it was there. Where Next has not returned
// ErrTooLarge it does nothing.
func (m *Reader) Skip() (size int64, err error) {
	if !errors.Is(m.over, ErrTooLarge) {
		return 0, m.over
	}
	m.over = nil
	size, err = io.CopyN(io.Discard, m.src, int64(binary.BigEndian.Uint32(m.head[1:])))
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	m.over = err
	return size, err
}

// fill reads a message of n bytes into the buffer. It asks the source for no more than the
// buffer has room for, and makes the buffer four times as large each time it is full.
func (m *Reader) fill(n int) error {
	m.buf = m.buf[:0]
	for len(m.buf) < n {
		if len(m.buf) == cap(m.buf) {
			larger := make([]byte, len(m.buf), max(firstMessage, min(n, 4*cap(m.buf))))
			copy(larger, m.buf)
			m.buf = larger
		}
		at := len(m.buf)
		m.buf = m.buf[:min(n, cap(m.buf))]
		k, err := io.ReadFull(m.src, m.buf[at:])
		switch {
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		m.buf = m.buf[:at+k]
	}
	return nil
}

// shrink gives a buffer back that one large message has left behind, once so many messages
// in a row have needed less than a quarter of it that another large one is not likely.
func (m *Reader) shrink(next int) {
	if cap(m.buf) <= keepMessage || next > cap(m.buf)/4 {
		m.small = 0
		return
	}
	if m.small++; m.small > patience {
		m.buf, m.small = nil, 0
	}
}
