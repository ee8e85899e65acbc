package http1

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// requests of which each is to be for us what it is for net/http.
var requests = []string{
	"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /a/b?c=d&e HTTP/1.1\r\nHost: a.example:8443\r\nAccept: */*\r\naccept: text/plain\r\nX-Empty:\r\nx-other_name:  b \t\r\n\r\n",
	"GET /a%20b/%2f;c,d!'()* HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /a? HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /a?b?c%00=\xff HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET //a/b HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /a:b@c HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET http://b/c?d HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET HTTP://b HTTP/1.1\r\nHost: a\r\n\r\n",
	"POST https://b:8443/?c HTTP/1.1\r\nHost: b:8443\r\nContent-Length: 1\r\n\r\na",
	"OPTIONS http://b HTTP/1.1\r\nHost: b\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
	"CONNECT b:443 HTTP/1.1\r\nHost: a\r\n\r\n",
	"CONNECT /b HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET * HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET a HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
	"BREW /a HTTP/1.1\r\nHost: a\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab\r\nc",
	"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab",
	"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
	"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
	"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: x-a, X-B\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n0\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTrailer: X-A\r\n\r\na",
	"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: something\r\n\r\na",
	"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Close\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: x\r\n\r\n",
	"GET / HTTP/1.0\r\nHost: a\r\n\r\n",
	"GET / HTTP/1.2\r\nHost: a\r\n\r\n",
	"POST / HTTP/1.9\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\na\r\n0\r\n\r\n",
	"GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n",
	"POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
	"GET / HTTP/1.1\r\nHost: a\r\nA2A-Version: 1.0\r\na2a-extensions: b\r\nx-a2a-extensions: c\r\nTRACEPARENT: d\r\nDPoP: e\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nA2A-Version: 1.0\r\na2a-version: 0.3\r\nA2a-Version: 1.0\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nX: \xe4\t b\r\n\r\n",
	"GET / HTTP/1.0\r\nHost: a\r\nConnection: b Keep-Alive\r\n\r\n",
	"GET / HTTP/1.0\r\nHost: a\r\nConnection: b\r\nConnection: keep-alive\r\n\r\n",
	"GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive, close\r\n\r\n",
	"GET / HTTP/1.0\r\nHost: a\r\nConnection: \u212aeep-alive\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nConnection: b\tclose\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nConnection: b\r\nConnection: c close\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nConnection: b\r\nConnection: c, close\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nConnection: clo\u017fe\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: b 100-continue\r\n\r\na",
	"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: b\r\nExpect: 100-continue\r\n\r\na",
	"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect:\r\nExpect: 100-continue\r\n\r\na",
}

// seenBy is what handlers see of what is sent, and what the client is answered.
func seenBy(tb testing.TB, start func(http.Handler) string, sent string) (saw, answers []string) {
	seen := make(chan string, 100)
	addr := start(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- requestText(r) }))
	for _, a := range told(tb, addr, sent) {
		answers = append(answers, strings.Join(strings.Fields(a)[:3], " "))
	}
	for len(seen) > 0 {
		saw = append(saw, <-seen)
	}
	return saw, answers
}

// byNetHTTP serves as net/http does, behind the same rules.
func byNetHTTP(tb testing.TB) func(http.Handler) string {
	return func(h http.Handler) string {
		l := &chosen{conns: make(chan net.Conn), over: make(chan struct{})}
		s := &http.Server{Handler: h, DisableGeneralOptionsHandler: true, ReadHeaderTimeout: patience, ErrorLog: log.New(io.Discard, "", 0)}
		served := make(chan struct{})
		go func() { _ = s.Serve(l); close(served) }()
		l.addr = listen(tb, func(nc net.Conn) { l.conns <- rules.Conn(nc) })
		tb.Cleanup(func() { _ = s.Close(); <-served })
		return l.addr
	}
}

// chosen is a listener for connections that somebody else has accepted.
type chosen struct {
	conns chan net.Conn
	over  chan struct{}
	addr  string
}

func (c *chosen) Accept() (net.Conn, error) {
	select {
	case nc := <-c.conns:
		return nc, nil
	case <-c.over:
		return nil, net.ErrClosed
	}
}
func (c *chosen) Close() error   { close(c.over); return nil }
func (c *chosen) Addr() net.Addr { return &net.TCPAddr{} }

// TestRequests: handlers see what net/http shows them, alone and before another request.
func TestRequests(t *testing.T) {
	t.Parallel()
	ours := func(h http.Handler) string { _, addr := start(t, h); return addr }
	for _, sent := range requests {
		for _, sent := range []string{sent, sent + requests[0]} {
			if strings.HasSuffix(sent, "\r\nab"+requests[0]) || strings.HasSuffix(sent, "abc\r\n"+requests[0]) {
				continue // a body that ends in the middle of what is no request
			}
			saw, answered := seenBy(t, ours, sent)
			want, wantAnswered := seenBy(t, byNetHTTP(t), sent)
			if !slices.Equal(saw, want) {
				t.Errorf("%q:\n saw  %q\n want %q", sent, saw, want)
			}
			if !slices.Equal(answered, wantAnswered) {
				t.Errorf("%q: answered %q, want %q", sent, answered, wantAnswered)
			}
		}
	}
}

// TestVersions: what is later than 1.1 is served, and answered, like it.
func TestVersions(t *testing.T) {
	t.Parallel()
	_, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Proto != "HTTP/1.1" || r.ProtoMajor != 1 || r.ProtoMinor != 1 {
			t.Errorf("the handler is told of %s, %d.%d", r.Proto, r.ProtoMajor, r.ProtoMinor)
		}
		write(w, "a", "")
	}))
	all := told(t, addr, strings.Repeat("GET / HTTP/1.2\r\nHost: a\r\n\r\n", 2))
	if len(all) != 2 || !strings.HasPrefix(all[1], "HTTP/1.1 200 OK close false length -1 coded [chunked]") {
		t.Errorf("answered %q", all)
	}
}

// TestAbsoluteForm: a request is for the host of its target, and the Host field is there to be
// compared with that.
func TestAbsoluteForm(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"GET http://b:80/c?d HTTP/1.1\r\nHost: a\r\n\r\n":   `b:80 ["a"] /c d`,
		"GET https://b HTTP/1.1\r\nHost: b\r\n\r\n":         `b ["b"] / `,
		"GET HTTP://B?d HTTP/1.0\r\nHost:  b \r\n\r\n":      `B ["b"] / d`,
		"OPTIONS http://b HTTP/1.1\r\nHost: b\r\n\r\n":      `b ["b"] * `,
		"OPTIONS http://b/ HTTP/1.1\r\nHost: b\r\n\r\n":     `b ["b"] / `,
		"GET http:///c HTTP/1.1\r\nHost: b\r\n\r\n":         `b [] /c `,
		"GET http://[::1]:8/c HTTP/1.1\r\nHost: b\r\n\r\n":  `[::1]:8 ["b"] /c `,
		"GET http://u:p@b/c HTTP/1.1\r\nHost: b\r\n\r\n":    `b ["b"] /c `,
		"GET /http://b/c HTTP/1.1\r\nHost: b\r\n\r\n":       `b [] /http://b/c `,
		"GET http://b/http://c HTTP/1.1\r\nHost: b\r\n\r\n": `b ["b"] /http://c `,
	} {
		got := ""
		_, addr := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = fmt.Sprintf("%s %q %s %s", r.Host, r.Header["Host"], r.URL.Path, r.URL.RawQuery)
		}))
		if told(t, addr, sent); got != want {
			t.Errorf("%q: saw %s, want %s", sent, got, want)
		}
	}
}

// TestPieces: it does not matter in which pieces requests come, nor how bodies are read.
func TestPieces(t *testing.T) {
	t.Parallel()
	sent := requests[1] + requests[18] + requests[21] + requests[22] + requests[0]
	whole, _ := seenBy(t, func(h http.Handler) string { _, addr := start(t, h); return addr }, sent)
	if len(whole) != 5 {
		t.Fatalf("saw %q", whole)
	}
	for _, size := range []int{1, 2, 7, 100} {
		seen := make(chan string, 10)
		_, addr := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			r.Body = slowly{r.Body, size}
			seen <- requestText(r)
		}))
		c := dial(t, addr)
		for i := 0; i < len(sent); i += size {
			if _, err := io.WriteString(c, sent[i:min(i+size, len(sent))]); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range whole {
			if got := <-seen; got != want {
				t.Errorf("in pieces of %d:\n got  %s\n want %s", size, got, want)
			}
		}
	}
}

// slowly reads a few bytes at once.
type slowly struct {
	io.ReadCloser
	n int
}

func (s slowly) Read(p []byte) (int, error) { return s.ReadCloser.Read(p[:min(len(p), s.n)]) }

// TestLargeBodies: what does not fit the buffer comes whole, by length and in chunks, and
// the next request is found behind it.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	_, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil || n != 1_000_000 {
			t.Errorf("%d bytes, %v", n, err)
		}
		_, _ = io.WriteString(w, "read")
	}))
	body := strings.Repeat("0123456789", 100_000)
	var chunks strings.Builder
	for rest := body; rest != ""; rest = rest[50_000:] {
		chunks.WriteString("c350\r\n" + rest[:50_000] + "\r\n")
	}
	all := told(t, addr, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"+body+
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"+chunks.String()+"0\r\n\r\n")
	if len(all) != 2 || !strings.Contains(all[0], `"read"`) || all[0] != all[1] {
		t.Errorf("answered %q", all)
	}
}

// TestUnread: what a handler leaves of a body is not the next request. Of a little the
// connection is none the worse; a client with more is told to come again on another one.
func TestUnread(t *testing.T) {
	t.Parallel()
	_, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "early") }))
	hidden := requests[0]
	for name, tt := range map[string]struct {
		sent string
		want int
	}{
		"a little":           {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 27\r\n\r\n" + hidden + hidden, 2},
		"a little in chunks": {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1b\r\n" + hidden + "\r\n0\r\n\r\n" + hidden, 2},
		"much":               {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 600000\r\n\r\n" + strings.Repeat("x", 600_000) + hidden, 1},
		"much in chunks":     {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n927c0\r\n" + strings.Repeat("x", 600_000) + "\r\n0\r\n\r\n" + hidden, 1},
		"not invited":        {"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 27\r\n\r\n" + hidden, 1},
	} {
		all := told(t, addr, tt.sent)
		if len(all) != tt.want || !strings.Contains(all[0], `"early"`) {
			t.Errorf("%s: answered %q", name, all)
		}
	}
}

// TestHeadTime: heads that come too slowly end the connection, and nothing is answered.
func TestHeadTime(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sent string
		head time.Duration // long enough for a busy machine to read what is sent
		want int
	}{
		"no byte":              {"", 50 * time.Millisecond, 0},
		"a first head":         {"GET / HTTP/1.1\r\nHo", time.Second, 0},
		"a second head":        {requests[0] + "GET / HTTP/1.1\r\nHo", time.Second, 1},
		"nothing after a head": {requests[0], time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, addr := start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), func(s *Server) {
				s.Header, s.Idle = tt.head, tt.head+10*time.Millisecond
			})
			c := dial(t, addr)
			_, _ = io.WriteString(c, tt.sent)
			text, err := io.ReadAll(c)
			if n := strings.Count(string(text), "HTTP/1.1 200 OK"); err != nil || n != tt.want || strings.Contains(string(text), "400") {
				t.Errorf("answered %q, %v", text, err)
			}
		})
	}
}

// TestClientLeaves: the context ends with the client, at once or after a while, and whether
// or not another request has come; while a client is there it does not.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]string{"alone": "", "with a request more": requests[0]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entered, left := make(chan context.Context, 2), make(chan error, 2)
			_, addr := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				entered <- r.Context()
				<-r.Context().Done()
				left <- context.Cause(r.Context())
			}))
			c := dial(t, addr)
			_, _ = io.WriteString(c, requests[0])
			ctx := <-entered
			time.Sleep(3 * calm)
			_, _ = io.WriteString(c, sent)
			time.Sleep(calm)
			if ctx.Err() != nil {
				t.Error("it has ended while the client waits")
			}
			_ = c.Close()
			<-left
		})
	}
}

// TestLeavesWithBody: who leaves in the middle of its body ends the read of it.
func TestLeavesWithBody(t *testing.T) {
	t.Parallel()
	got := make(chan error, 1)
	_, addr := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		got <- err
	}))
	c := dial(t, addr)
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
	time.Sleep(2 * calm)
	_ = c.Close()
	if err := <-got; err == nil {
		t.Error("half of a body was taken for the whole")
	}
}

// TestAfterHandler: what a handler has left behind reads nothing and writes nothing of the
// requests that follow.
func TestAfterHandler(t *testing.T) {
	t.Parallel()
	type leftovers struct {
		w http.ResponseWriter
		r *http.Request
	}
	left := make(chan leftovers, 3)
	_, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { left <- leftovers{w, r} }))
	c := dial(t, addr)
	br := bufio.NewReader(c)
	answered := func(request string) {
		_, _ = io.WriteString(c, request)
		if resp, err := http.ReadResponse(br, nil); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
	}
	answered("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
	answered(requests[0]) // until then it may be that the first is not quite over
	l := <-left
	if n, err := l.r.Body.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if _, err := io.WriteString(l.w, "stale"); err == nil {
		t.Error("it could write")
	}
	if err := http.NewResponseController(l.w).Flush(); err == nil {
		t.Error("it could flush")
	}
	answered(requests[0])
}
