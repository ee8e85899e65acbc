package wire

import (
	"encoding/binary"
	"errors"
	"io"
)

// What Messages refuses.
var (
	// ErrMessageTooLarge is a frame that announces more than the limit.
	ErrMessageTooLarge = errors.New("read gRPC message: larger than the limit")
	// ErrMessageCompressed is a frame that is compressed, or flagged as something
	// that gRPC does not know. Nobody was told that compression is understood.
	ErrMessageCompressed = errors.New("read gRPC message: compressed")
)

const (
	frameHead    = 5        // the flag and the length in front of a message
	firstMessage = 2 << 10  // what is allocated before a byte of a message is there
	keepMessage  = 16 << 10 // a buffer up to here is kept in any case
	patience     = 64       // messages after which a larger buffer that nobody needs is given back
)

// AppendMessage appends message in gRPC's frame (gRPC over HTTP/2,
// Length-Prefixed-Message), uncompressed.
func AppendMessage(dst, message []byte) []byte {
	return append(AppendMessageHead(dst, len(message)), message...)
}

// AppendMessageHead appends what AppendMessage does before a message of so many bytes.
func AppendMessageHead(dst []byte, size int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0), uint32(size)) //nolint:gosec // bodies are bounded far below
}

// Messages splits the body of a gRPC request or response into its messages. It is
// for one goroutine. Its one buffer grows with what arrives, not with what a frame
// announces, and shrinks again.
type Messages struct {
	src   io.Reader
	limit int
	head  [frameHead]byte
	buf   []byte
	small int   // messages in a row that needed less than a quarter of buf
	over  error // what Next has returned and returns ever after
}

// NewMessages reads messages of at most limit bytes, frames not counted, from r.
func NewMessages(r io.Reader, limit int) *Messages {
	return &Messages{src: r, limit: limit}
}

// Next returns the next message without its frame, valid until the next call. Its
// errors end the body and are returned ever after: io.EOF where it ended between
// messages, io.ErrUnexpectedEOF where it ended inside of one, ErrMessageTooLarge,
// ErrMessageCompressed, or what the underlying reader returned.
func (m *Messages) Next() ([]byte, error) {
	if m.over == nil {
		m.over = m.read()
	}
	if m.over != nil {
		m.buf = nil
		return nil, m.over
	}
	return m.buf, nil
}

func (m *Messages) read() error {
	if _, err := io.ReadFull(m.src, m.head[:]); err != nil {
		return err
	}
	if m.head[0] != 0 {
		return ErrMessageCompressed
	}
	size := int64(binary.BigEndian.Uint32(m.head[1:]))
	if size > int64(m.limit) {
		return ErrMessageTooLarge
	}
	m.shrink(int(size))
	return m.fill(int(size))
}

// Skip passes over a message that was too large, and has Next go on behind it. It gives the
// message's size in bytes, as far as it was there. Where Next has not returned
// ErrMessageTooLarge it does nothing.
func (m *Messages) Skip() (size int64, err error) {
	if !errors.Is(m.over, ErrMessageTooLarge) {
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

// fill reads a message of n bytes.
func (m *Messages) fill(n int) error {
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

// shrink gives a buffer back that one large message has left behind.
func (m *Messages) shrink(next int) {
	if cap(m.buf) <= keepMessage || next > cap(m.buf)/4 {
		m.small = 0
		return
	}
	if m.small++; m.small > patience {
		m.buf, m.small = nil, 0
	}
}
