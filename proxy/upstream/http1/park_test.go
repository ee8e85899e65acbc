//go:build linux

package http1

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
)

// parkable is a body that can be waited for.
type parkable interface {
	io.ReadCloser
	Park(resume func()) bool
}

func stream(t *testing.T, p *Pool, to string) parkable {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, to, nil)
	must(t, err)
	resp, err := p.RoundTrip(r)
	must(t, err)
	body, ok := resp.Body.(parkable)
	if !ok {
		t.Fatalf("a %T cannot be waited for", resp.Body)
	}
	return body
}

// parking reads a body to its end, and has no goroutine while nothing comes.
type parking struct {
	body   parkable
	size   int // of what is read at once
	got    bytes.Buffer
	parked atomic.Int32
	end    chan error
}

func (r *parking) run() {
	r.parked.Add(1)
	if !r.body.Park(r.resume) {
		r.resume()
	}
}

func (r *parking) resume() {
	b := make([]byte, r.size)
	for {
		n, err := r.body.Read(b)
		r.got.Write(b[:n])
		if err != nil {
			r.end <- err
			return
		}
		r.parked.Add(1)
		if r.body.Park(r.resume) {
			return
		}
		r.parked.Add(-1)
	}
}

// TestPark: a body that is waited for without a goroutine is the same body, and its
// connection is kept.
func TestPark(t *testing.T) {
	t.Parallel()
	const chunks = 60
	to := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
		for {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			for i := range chunks {
				n := i * i * 4 // beyond buffers, too
				_, _ = fmt.Fprintf(c, "%x\r\n%s\r\n", n+1, bytes.Repeat([]byte{'a' + byte(i%26)}, n+1))
			}
			_, _ = io.WriteString(c, "0\r\n\r\n")
		}
	})
	var want bytes.Buffer
	for i := range chunks {
		want.Write(bytes.Repeat([]byte{'a' + byte(i%26)}, i*i*4+1))
	}
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	for _, size := range []int{1 << 10, 4 << 10, 32 << 10} {
		r := &parking{body: stream(t, p, to), size: size, end: make(chan error, 1)}
		r.run()
		if err := <-r.end; !errors.Is(err, io.EOF) || !bytes.Equal(r.got.Bytes(), want.Bytes()) {
			t.Errorf("read %d bytes, then %v", r.got.Len(), err)
		}
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections for one call after the other", n)
	}
}

// TestParkClosed: closing a body ends a wait for it, and so does the agent.
func TestParkClosed(t *testing.T) {
	t.Parallel()
	hangUp := make(chan struct{})
	to := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
		_, _ = http.ReadRequest(in)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
		<-hangUp
	})
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	for i, end := range []func(parkable){
		func(body parkable) { _ = body.Close() },
		func(parkable) { close(hangUp) },
	} {
		r := &parking{body: stream(t, p, to), size: 1 << 10, end: make(chan error, 1)}
		r.run()
		eventually(t, "waiting", func() bool { return r.parked.Load() > 0 })
		end(r.body)
		if err := <-r.end; err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%d: ended with %v", i, err)
		}
		_ = r.body.Close()
	}
}

// TestParkMeetsClose: a body is closed while somebody begins to wait for it. Either has
// the connection, never both: what one lets go of is somebody else's by then.
func TestParkMeetsClose(t *testing.T) {
	t.Parallel()
	to := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
		_, _ = http.ReadRequest(in)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
		_, _ = io.Copy(io.Discard, in)
	})
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	for range 300 {
		body := stream(t, p, to)
		if _, err := body.Read(make([]byte, 1<<10)); err != nil {
			t.Fatal(err)
		}
		resumed := make(chan error, 1)
		resume := func() {
			_, err := body.Read(make([]byte, 1<<10))
			resumed <- err
		}
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			_ = body.Close()
		}()
		if !body.Park(resume) {
			resume()
		}
		if err := <-resumed; err == nil {
			t.Fatal("something was read of a closed body")
		}
		<-closed
	}
}
