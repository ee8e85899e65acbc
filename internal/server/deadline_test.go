package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/tcpio"
)

// TestDeadlineIsMovedSeldom: the runtime is told of what is earlier, and of what is later
// only when the time that it knows has come.
func TestDeadlineIsMovedSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d deadline
		var told []time.Time
		arm := func(at time.Time) error {
			told = append(told, at)
			return nil
		}
		now := time.Now()
		in := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
		for _, at := range []time.Time{{}, in(60), {}, in(10), {}, in(30), in(10), {}, in(20)} {
			_ = d.move(at, arm)
		}
		if d.moved(io.EOF, arm) {
			t.Error("the end is no deadline")
		}
		time.Sleep(10 * time.Second)
		if !d.moved(os.ErrDeadlineExceeded, arm) {
			t.Error("what was set is ten seconds away")
		}
		time.Sleep(10 * time.Second)
		if d.moved(os.ErrDeadlineExceeded, arm) {
			t.Error("what was set has come")
		}
		_ = d.move(time.Time{}, arm)
		if !d.moved(os.ErrDeadlineExceeded, arm) {
			t.Error("there is none any more")
		}
		_ = d.move(time.Unix(1, 0), arm)
		if d.moved(os.ErrDeadlineExceeded, arm) {
			t.Error("what was set is long ago")
		}
		want := []time.Time{in(60), in(10), in(20), {}, time.Unix(1, 0)}
		if !slices.EqualFunc(told, want, time.Time.Equal) {
			t.Errorf("told %v, want %v", told, want)
		}
	})
}

// admittedPair is a connection as the listener lets it in, and its other end.
func admittedPair(t *testing.T) (*conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	nc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = far.Close(), nc.Close() })
	tcp, _ := nc.(*net.TCPConn)
	return &conn{Conn: tcpio.New(tcp)}, far
}

// TestDeadlinesOfReads: one that has passed ends reads of now and later, one that was taken
// back does not.
func TestDeadlinesOfReads(t *testing.T) {
	t.Parallel()
	c, far := admittedPair(t)
	var one [1]byte
	for range 3 {
		_ = c.SetReadDeadline(time.Now().Add(time.Hour))
		ended := make(chan error)
		go func() {
			_, err := c.Read(one[:])
			ended <- err
		}()
		_ = c.SetReadDeadline(time.Unix(1, 0))
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Time{})
		if _, err := far.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(one[:]); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
}

// TestDeadlinesOfWrites: a write that outlasts what the runtime knows goes on where it was.
func TestDeadlinesOfWrites(t *testing.T) {
	t.Parallel()
	c, far := admittedPair(t)
	sent := make([]byte, 16<<20) // more than sockets hold
	for i := range sent {
		sent[i] = byte(i % 251)
	}
	_ = c.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	_ = c.SetWriteDeadline(time.Time{})
	go func() {
		for armed := moment(1); armed != 0; time.Sleep(time.Millisecond) { // until the first has passed
			c.writing.mu.Lock()
			armed = c.writing.armed
			c.writing.mu.Unlock()
		}
		_ = c.SetWriteDeadline(time.Now().Add(time.Hour))
		got, _ := io.ReadAll(far)
		if !bytes.Equal(got, sent) {
			t.Errorf("%d bytes arrived, or others", len(got))
		}
		_ = far.Close()
	}()
	if n, err := c.Write(sent); n != len(sent) || err != nil {
		t.Fatal(n, err)
	}
	_ = c.CloseWrite()
	_, _ = c.Read(make([]byte, 1)) // until it was read
	_ = c.SetWriteDeadline(time.Unix(1, 0))
	if _, err := c.Write(sent); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}
