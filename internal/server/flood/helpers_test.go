package flood

import (
	"bytes"
	"io"
	"net"
	"time"

	"golang.org/x/net/http2"
)

// pieces is a connection from which what is there is read in pieces.
type pieces struct {
	net.Conn
	in      []byte
	piece   int
	out     bytes.Buffer
	blocked bool // its other side takes nothing
	closed  bool
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.in[:min(p.piece, len(p.in))])
	p.in = p.in[n:]
	return n, nil
}

func (p *pieces) Write(b []byte) (int, error) {
	if p.blocked {
		return 0, io.ErrClosedPipe
	}
	return p.out.Write(b)
}

func (p *pieces) Close() error                     { p.closed = true; return nil }
func (p *pieces) SetReadDeadline(time.Time) error  { return nil }
func (p *pieces) SetWriteDeadline(time.Time) error { return nil }

// written are the bytes of the frames that write writes.
func written(write func(*http2.Framer)) []byte {
	var b bytes.Buffer
	f := http2.NewFramer(&b, nil)
	f.AllowIllegalWrites = true
	write(f)
	return b.Bytes()
}

func pings(n int) []byte {
	return written(func(f *http2.Framer) {
		for range n {
			_ = f.WritePing(false, [8]byte{})
		}
	})
}
