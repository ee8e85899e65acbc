package tcpio

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/nettest"
)

// pair is a connection, from its two ends.
func pair(t testing.TB) (near, far Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	near, far = New(in.(*net.TCPConn)), New(out.(*net.TCPConn))
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// TestConn holds a Conn to what net expects of every connection.
func TestConn(t *testing.T) {
	t.Parallel()
	nettest.TestConn(t, func() (a, b net.Conn, stop func(), err error) {
		near, far := pair(t)
		return near, far, func() { _, _ = near.Close(), far.Close() }, nil
	})
}

// TestAsNet: errors, counts and ends are those of the *net.TCPConn beneath.
func TestAsNet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(c net.Conn, peer *net.TCPConn) (int, error)
		is   error
	}{
		{"end", func(c net.Conn, peer *net.TCPConn) (int, error) {
			_ = peer.CloseWrite()
			return c.Read(make([]byte, 10))
		}, io.EOF},
		{"nothing", func(c net.Conn, _ *net.TCPConn) (int, error) { return c.Read(nil) }, nil},
		{"read deadline", func(c net.Conn, _ *net.TCPConn) (int, error) {
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			return c.Read(make([]byte, 10))
		}, os.ErrDeadlineExceeded},
		{"write deadline", func(c net.Conn, _ *net.TCPConn) (int, error) {
			_ = c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
			piece := make([]byte, most)
			for {
				if _, err := c.Write(piece); err != nil {
					return 0, err
				}
			}
		}, os.ErrDeadlineExceeded},
		{"closed", func(c net.Conn, _ *net.TCPConn) (int, error) {
			_ = c.Close()
			return c.Write([]byte("x"))
		}, net.ErrClosed},
		{"reset", func(c net.Conn, peer *net.TCPConn) (int, error) {
			_ = peer.SetLinger(0)
			_ = peer.Close()
			return c.Read(make([]byte, 10))
		}, syscall.ECONNRESET},
		{"broken pipe", func(c net.Conn, peer *net.TCPConn) (int, error) {
			_ = peer.SetLinger(0)
			_ = peer.Close()
			_, _ = c.Read(make([]byte, 10))
			return c.Write([]byte("x"))
		}, syscall.EPIPE},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			near, far := pair(t)
			n, err := c.do(near, far.TCPConn)
			near2, far2 := pair(t)
			want, expected := c.do(near2.TCPConn, far2.TCPConn)
			if n != want || !errors.Is(err, c.is) || !errors.Is(expected, c.is) {
				t.Fatalf("%d, %v; net has %d, %v", n, err, want, expected)
			}
			var a, b *net.OpError
			if !errors.As(err, &a) || !errors.As(expected, &b) {
				return
			}
			if a.Op != b.Op || a.Net != b.Net || a.Timeout() != b.Timeout() || a.Temporary() != b.Temporary() ||
				a.Source.String() != near.LocalAddr().String() || a.Addr.String() != near.RemoteAddr().String() {
				t.Errorf("%#v, net has %#v", a, b)
			}
		})
	}
}

// TestMuch: what is more than the socket takes at once arrives whole, in pieces of every size.
func TestMuch(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
	all := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	go func() {
		rest := all
		for size := 1; len(rest) > 0; size = size*3 + 1 {
			n, err := near.Write(rest[:min(size, len(rest))])
			if err != nil {
				t.Error(err)
				break
			}
			if rest = rest[n:]; size > 2*most {
				size = 1000
			}
		}
		_ = near.CloseWrite()
	}()
	time.Sleep(20 * time.Millisecond) // the writer has filled the socket by then
	got, err := io.ReadAll(far)
	if err != nil || !bytes.Equal(got, all) {
		t.Errorf("%d of %d bytes, %v", len(got), len(all), err)
	}
}

// TestAllocations: neither reading nor writing allocates.
func TestAllocations(t *testing.T) {
	near, far := pair(t)
	from, b := io.Reader(far), make([]byte, 100)
	n := testing.AllocsPerRun(100, func() {
		if _, err := near.Write(b); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(from, b); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 && quick {
		t.Errorf("%v allocations", n)
	}
}

// TestOf: what is no TCP connection stays what it is.
func TestOf(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if Of(a) != a {
		t.Error("a pipe has become something else")
	}
	near, _ := pair(t)
	if _, ok := Of(near.TCPConn).(Conn); ok != quick {
		t.Errorf("a TCP connection is a Conn: %t, want %t", ok, quick)
	}
}
