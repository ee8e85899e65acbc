package http1

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// TestRequests: a request goes out as net/http would write it, but for the order of
// fields.
func TestRequests(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(r *http.Request){
		"a call":        func(r *http.Request) { r.Header["User-Agent"] = []string{""} },
		"fields":        func(r *http.Request) { r.Header["X"] = []string{"a", " b ", ""}; r.Header["lower"] = []string{"c"} },
		"its own agent": func(r *http.Request) { r.Header["User-Agent"] = []string{"x", "y"} },
		"another host":  func(r *http.Request) { r.Host = "other.example:1" },
		"ours to say": func(r *http.Request) {
			r.Header["Host"], r.Header["Content-Length"], r.Header["Transfer-Encoding"] = []string{"x"}, []string{"9"}, []string{"chunked"}
		},
		"a query":        func(r *http.Request) { r.URL.Path, r.URL.RawQuery = "/a b/ü", "c=%20&d" },
		"no path":        func(r *http.Request) { r.URL.Path = "" },
		"nothing to say": func(r *http.Request) { r.Body, r.ContentLength = nil, 0 },
		"no body":        func(r *http.Request) { r.Body, r.ContentLength = http.NoBody, 0 },
		"a read": func(r *http.Request) {
			r.Method, r.Body, r.ContentLength = "GET", nil, 0
		},
		"a delete": func(r *http.Request) { r.Method, r.Body, r.ContentLength = "DELETE", nil, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			make := func() *http.Request {
				r := request(t.Context(), "POST", "http://agent.example/a", `{"a":1}`)
				edit(r)
				return r
			}
			m, err := compose(make())
			must(t, err)
			var want bytes.Buffer
			must(t, make().Write(&want))
			if !slices.Equal(sorted(m.b), sorted(want.Bytes())) {
				t.Errorf("%q, want %q", m.b, want.Bytes())
			}
		})
	}
}

// sorted is a message with its fields in order.
func sorted(b []byte) []string {
	head, body, _ := strings.Cut(string(b), "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	slices.Sort(lines[1:])
	return append(lines, body)
}

// TestRequestsThatSplit: what would be read as something else is not sent.
func TestRequestsThatSplit(t *testing.T) {
	t.Parallel()
	var seen atomic.Int64
	url := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
		if line, _ := in.ReadString('\n'); line != "" {
			seen.Add(1)
			_, _ = io.Copy(io.Discard, in)
		}
	})
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	for name, edit := range map[string]func(r *http.Request){
		"CR LF in a value":   func(r *http.Request) { r.Header["X"] = []string{"a\r\nB: c"} },
		"LF in a value":      func(r *http.Request) { r.Header["X"] = []string{"a\nB: c"} },
		"NUL in a value":     func(r *http.Request) { r.Header["X"] = []string{"a\x00"} },
		"a colon in a name":  func(r *http.Request) { r.Header["X: y\r\nZ"] = []string{"a"} },
		"an empty name":      func(r *http.Request) { r.Header[""] = []string{"a"} },
		"a space in a name":  func(r *http.Request) { r.Header["X "] = []string{"a"} },
		"a verb of two":      func(r *http.Request) { r.Method = "GET / HTTP/1.1\r\nX:" },
		"LF in the query":    func(r *http.Request) { r.URL.RawQuery = "a\r\nB: c" },
		"a space in a query": func(r *http.Request) { r.URL.RawQuery = "a HTTP/1.1" },
		"LF in the agent":    func(r *http.Request) { r.Header["User-Agent"] = []string{"a\r\nB: c"} },
		"a body too short":   func(r *http.Request) { r.ContentLength = 100 },
		"a body too long":    func(r *http.Request) { r.ContentLength = 2 },
	} {
		r := request(t.Context(), "POST", url, "abcde")
		edit(r)
		if _, err := p.RoundTrip(r); err == nil {
			t.Errorf("%s was sent", name)
		}
	}
	p.CloseIdleConnections()
	// A long body is found out when its head has been sent, and ends the connection.
	for _, wrong := range []int64{-1, 1} {
		for _, body := range []io.ReadCloser{nil, inMemory(strings.Repeat("x", 200_000))} {
			r := request(t.Context(), "POST", url, strings.Repeat("x", 200_000))
			r.ContentLength += wrong
			if body != nil {
				r.Body = body
			}
			if _, err := p.RoundTrip(r); !errors.Is(err, errBody) {
				t.Errorf("%d too long: %v", wrong, err)
			}
		}
	}
	if n := seen.Load(); n > 4 {
		t.Errorf("the agent has seen %d requests", n-4)
	}
}

// body tells whether it was closed.
type body struct {
	io.Reader
	closed atomic.Bool
}

func (b *body) Close() error { b.closed.Store(true); return nil }

// inMemory is a body that stands in memory, as those of callers do.
func inMemory(text string) io.ReadCloser {
	return &memory{Reader: strings.NewReader(text)}
}

type memory struct {
	*strings.Reader
	handed int64
}

func (m *memory) Close() error { return nil }

func (m *memory) WriteTo(w io.Writer) (int64, error) {
	n, err := m.Reader.WriteTo(w)
	m.handed += n
	return n, err
}

// TestBodiesAreClosed: whatever becomes of the request.
func TestBodiesAreClosed(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	good, bad := rawAgent(t, always(answerOf("x"))), rawAgent(t, always("nonsense\r\n\r\n"))
	for name, tt := range map[string]struct {
		ctx context.Context
		url string
	}{
		"sent": {t.Context(), good}, "a bad answer": {t.Context(), bad}, "nobody there": {t.Context(), "http://127.0.0.1:1"},
		"cancelled": {cancelled, good},
	} {
		for _, size := range []int{1, 200_000} {
			b := &body{Reader: strings.NewReader(strings.Repeat("x", size))}
			r := request(tt.ctx, "POST", tt.url, "")
			r.Body, r.ContentLength = b, int64(size)
			if resp, err := p.RoundTrip(r); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			if !b.closed.Load() {
				t.Errorf("%s, %d bytes: not closed", name, size)
			}
		}
	}
}

// TestLongBodies arrive whole, and an agent that answers without reading them is heard.
func TestLongBodies(t *testing.T) {
	t.Parallel()
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	echo := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			all, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, answerOf(string(all)))
		}
	})
	for _, size := range []int{1, direct - 1, direct, direct + 1, 64 << 10, 100_000, 3 << 20} {
		said := strings.Repeat("0123456789", size/10+1)[:size]
		if _, heard, err := send(t.Context(), p, "POST", echo, said); err != nil || heard != said {
			t.Errorf("%d bytes: %d came back, %v", size, len(heard), err)
		}
		r, body := request(t.Context(), "POST", echo, said), inMemory(said)
		r.Body = body
		resp, err := p.RoundTrip(r)
		must(t, err)
		heard, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(heard) != said {
			t.Errorf("%d bytes from memory: %d came back, %v", size, len(heard), err)
		}
		if m, ok := body.(*memory); !ok || size > 100_000 && m.handed < int64(size)-64<<10 {
			t.Errorf("%d bytes: %d were not copied", size, m.handed)
		}
	}
	if dials.Load() != 1 {
		t.Errorf("%d connections", dials.Load())
	}
	deaf := rawAgent(t, func(c net.Conn, in *bufio.Reader) {
		_, _ = in.Peek(1)
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
		_, _ = c.Read(make([]byte, 1))
		<-t.Context().Done()
	})
	before := p.kept()
	resp, heard, err := send(t.Context(), p, "POST", deaf, strings.Repeat("x", 30<<20))
	if must(t, err); resp.StatusCode != 413 || heard != "no" {
		t.Errorf("%d %q", resp.StatusCode, heard)
	}
	if p.kept() != before {
		t.Error("the connection is kept")
	}
}

// TestUnusualRequests are net/http's.
func TestUnusualRequests(t *testing.T) {
	t.Parallel()
	var dials atomic.Int64
	p := newTestPool(t, &dials)
	url := rawAgent(t, always(answerOf("x")))
	for name, edit := range map[string]func(r *http.Request){
		"a length that is unknown": func(r *http.Request) { r.ContentLength = -1 },
		"trailers":                 func(r *http.Request) { r.ContentLength, r.Trailer = -1, http.Header{"A": {"b"}} },
		"an upgrade": func(r *http.Request) {
			r.Header["Connection"], r.Header["Upgrade"] = []string{"Upgrade"}, []string{"x"}
		},
		"trailers wanted": func(r *http.Request) { r.Header["Te"] = []string{"trailers"} },
		"a last request":  func(r *http.Request) { r.Close = true },
		"a user":          func(r *http.Request) { r.URL.User = nil; r.Header["Keep-Alive"] = []string{"x"} },
	} {
		r := request(t.Context(), "POST", url, "abc")
		edit(r)
		resp, err := p.RoundTrip(r)
		must(t, err)
		if _, err := io.ReadAll(resp.Body); err != nil || dials.Load() > 0 {
			t.Errorf("%s: %v, %d connections", name, err, dials.Load())
		}
		_ = resp.Body.Close()
	}
}
