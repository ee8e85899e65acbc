package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// untroubled fails the test when a connection is taken for a flood.
func untroubled(t *testing.T) func(*Server) {
	return func(s *Server) {
		s.Flooded = func(frame string) { t.Errorf("an honest client is cut off for its frames: %s", frame) }
	}
}

// TestL20_ManyCalls: ten thousand calls on one connection, 50 at a time, of which one in
// twenty is taken back.
func TestL20_ManyCalls(t *testing.T) {
	testenv.Long(t, "thousands of calls are made")
	t.Parallel()
	for way, s := range bothWays(t, nil, untroubled(t)) {
		c := overHTTP2(s)
		get200(t, c, s.URL()+"/") // all others come on its connection
		var calls, connections atomic.Int64
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			if !info.Reused {
				connections.Add(1)
			}
		}}
		call := func(n int64) {
			ctx, cancel := context.WithCancel(httptrace.WithClientTrace(t.Context(), trace))
			defer cancel()
			path := "/small"
			if n%20 == 0 {
				path = "/abandoned"
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+path, http.NoBody)
			must(t, err)
			resp, err := c.Do(r)
			must(t, err)
			if path == "/abandoned" {
				cancel() // its answer never ends
			}
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if (err != nil) != (path == "/abandoned") || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %s: %v", way, path, err)
			}
		}
		var under sync.WaitGroup
		for range 50 {
			under.Go(func() {
				for n := calls.Add(1); n <= 10_000 && !t.Failed(); n = calls.Add(1) {
					call(n)
				}
			})
		}
		under.Wait()
		c.CloseIdleConnections()
		if n := connections.Load(); n > 0 {
			t.Errorf("%s: the calls took %d connections more", way, n)
		}
	}
}

// TestL20_LongStreams: a client that says for every event that it has read it, on the
// stream and on the connection, and measures how long a ping takes. However far behind it
// is, its windows do not hold the gateway up.
func TestL20_LongStreams(t *testing.T) {
	t.Parallel()
	for way, s := range bothWays(t, nil, untroubled(t)) {
		a := attack(t, s)
		a.SetMaxReadFrameSize(16 << 10)
		must(t, a.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30}))
		must(t, a.WriteWindowUpdate(0, 1<<30))
		a.open("GET", "/events")
		events := 0
		for over := false; !over; {
			f, err := a.ReadFrame()
			if err != nil {
				t.Fatalf("%s: after %d events: %v", way, events, err)
			}
			data, ok := f.(*http2.DataFrame)
			if !ok {
				continue
			}
			over = data.StreamEnded()
			if n := data.Length; n > 0 {
				events++
				must(t, a.WriteWindowUpdate(0, n))
				must(t, a.WriteWindowUpdate(1, n))
				must(t, a.WritePing(false, [8]byte{}))
			}
		}
		if events < longStream {
			t.Errorf("%s: %d events of %d", way, events, longStream)
		}
		_ = a.conn.Close()
	}
}

// TestL20_LargeUploads: bodies of many frames, some of which nobody reads.
func TestL20_LargeUploads(t *testing.T) {
	testenv.Long(t, "large files are uploaded")
	t.Parallel()
	for way, s := range bothWays(t, nil, untroubled(t)) {
		c := overHTTP2(s)
		for n := range 300 {
			path, body := "/small", io.LimitReader(zeros{}, 256<<10) // which is not read
			if n < 30 {
				path, body = "/body", io.LimitReader(zeros{}, 4<<20)
			}
			resp, err := c.Post(s.URL()+path, "application/json", body)
			if err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: status %d", way, resp.StatusCode)
			}
		}
		c.CloseIdleConnections()
	}
}

// zeros are without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestR20_PanicsAreContained: a handler's panic ends its own call and no other, on the same
// connection and elsewhere.
func TestR20_PanicsAreContained(t *testing.T) {
	t.Parallel()
	for way, s := range bothWays(t, nil, untroubled(t)) {
		a := attack(t, s)
		waits := a.open("GET", "/events")
		var panicked []uint32
		for range 40 {
			for _, path := range []string{"/panic", "/abort"} {
				panicked = append(panicked, a.open("GET", path))
			}
		}
		after := a.open("GET", "/small")
		ended := map[uint32]http2.FrameType{}
		for len(ended) < len(panicked)+2 {
			f, err := a.ReadFrame()
			if err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			switch f := f.(type) {
			case *http2.DataFrame:
				if f.StreamEnded() {
					ended[f.StreamID] = http2.FrameData
				}
				if f.Length > 0 {
					must(t, a.WriteWindowUpdate(0, f.Length))
					must(t, a.WriteWindowUpdate(f.StreamID, f.Length))
				}
			case *http2.RSTStreamFrame:
				ended[f.StreamID] = http2.FrameRSTStream
			case *http2.HeadersFrame:
				if f.StreamEnded() {
					ended[f.StreamID] = http2.FrameData
				}
			}
		}
		for _, id := range panicked {
			if ended[id] != http2.FrameRSTStream {
				t.Errorf("%s: a call that panicked ended with %v", way, ended[id])
			}
		}
		if ended[waits] != http2.FrameData || ended[after] != http2.FrameData {
			t.Errorf("%s: calls beside those that panicked ended with %v and %v", way, ended[waits], ended[after])
		}
		_ = a.conn.Close()
		calls := overHTTP1(s)
		for _, path := range []string{"/panic", "/abort"} {
			if resp, err := calls.Get(s.URL() + path); err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				if _ = resp.Body.Close(); err == nil {
					t.Errorf("%s: %s over HTTP/1.1 was answered in full", way, path)
				}
			}
			resp, err := calls.Get(s.URL() + "/small")
			must(t, err)
			if _ = resp.Body.Close(); resp.ProtoMajor != 1 || resp.StatusCode != http.StatusOK {
				t.Errorf("%s: %s, status %d", way, resp.Proto, resp.StatusCode)
			}
		}
		calls.CloseIdleConnections()
	}
}

// TestL17_OneProtocol: on a connection for which HTTP/2 was negotiated nothing else is read,
// and nothing is answered.
func TestL17_OneProtocol(t *testing.T) {
	t.Parallel()
	var rec recorder
	s := start(t, secured(identity(t, t.TempDir(), "localhost")), &rec)
	for _, sent := range []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"PRI * HTTP/2.0\r\nHost: localhost\r\n\r\nSM\r\n\r\n",
	} {
		c := tls.Client(dial(t, s), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		_, err := io.WriteString(c, sent)
		must(t, err)
		if answer := ended(t, c); answer != "" {
			t.Errorf("%q was answered %q", sent, answer)
		}
	}
	if n := rec.reached.Load(); n != 0 {
		t.Errorf("the handler was reached %d times", n)
	}
}

// uploadAndAsk posts a body of some KiB in pieces of one size, each in a frame of its own,
// time and again on one connection, as a client does that writes what an encoder gives it.
const uploadAndAsk = `
const h2 = require('http2');
const [url, size, times] = [process.argv[1], +process.argv[2], +process.argv[3]];
const c = h2.connect(url, {rejectUnauthorized: false});
c.on('error', e => { console.log('ERROR ' + e); process.exit(1) });
c.on('goaway', code => { console.log('GOAWAY ' + code); process.exit(1) });
function call(n) {
  if (n == 0) return c.close();
  const r = c.request({':method': 'POST', ':path': '/body', 'content-type': 'application/json'});
  let status;
  r.on('response', h => { status = h[':status'] });
  r.on('end', () => { console.log(status); call(n - 1) });
  r.on('error', e => { console.log('ERROR ' + e); process.exit(1) });
  r.resume();
  let left = 4096;
  (function piece() {
    if (left <= 0) return r.end();
    left -= size;
    r.write(Buffer.alloc(size, 'x'), piece);
  })();
}
call(times);
`

// TestL20_BodiesInPieces: bodies of 4 KiB that clients write in pieces of two bytes and
// more, 50 of them on one connection, and ones of 250 bytes in pieces of one.
func TestL20_BodiesInPieces(t *testing.T) {
	testenv.Long(t, "bodies are sent in every kind of pieces")
	t.Parallel()
	for way, s := range bothWays(t, nil, untroubled(t)) {
		for size, total := range map[int]int{1: 250, 2: 4 << 10, 8: 4 << 10, 15: 4 << 10} {
			c := overHTTP2(s)
			for range 50 {
				body := &inPieces{left: total, size: size}
				resp, err := c.Post(s.URL()+"/body", "application/json", body)
				if err != nil {
					t.Fatalf("%s: pieces of %d: %v", way, size, err)
				}
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 || body.left > 0 {
					t.Fatalf("%s: pieces of %d: status %d", way, size, resp.StatusCode)
				}
			}
			c.CloseIdleConnections()
		}
		if node, err := exec.LookPath("node"); err == nil {
			for size, times := range map[string]int{"8": 20, "2": 5} {
				out, err := exec.CommandContext(t.Context(), node, "-e", uploadAndAsk, s.URL(), size, strconv.Itoa(times)).CombinedOutput()
				if err != nil || string(out) != strings.Repeat("200\n", times) {
					t.Errorf("%s: node, pieces of %s: %v: %s", way, size, err, out)
				}
			}
		}
	}
}

// inPieces gives some bytes at each time, which net/http's client sends as a frame.
type inPieces struct{ left, size int }

func (r *inPieces) Read(p []byte) (int, error) {
	n := min(r.size, r.left)
	if r.left -= n; n == 0 {
		return 0, io.EOF
	}
	return copy(p, strings.Repeat("x", n)), nil
}
