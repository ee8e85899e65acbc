package http1

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// net/http lets a connection it refused linger for half a second, by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newTestPool is a pool to agents whose certificates nobody verifies. dials counts.
func newTestPool(t testing.TB, dials *atomic.Int64) *Pool {
	t.Helper()
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	dialTLS := func(ctx context.Context, network, address string) (*tls.Conn, error) {
		dials.Add(1)
		c, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		tc := tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
		if err := tc.HandshakeContext(ctx); err != nil {
			_ = c.Close()
			return nil, err
		}
		return tc, nil
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	p := New(Options{
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return dialer.DialContext(ctx, network, address)
		},
		DialTLS: dialTLS,
		Other: &http.Transport{
			DialContext: dialer.DialContext,
			DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				return dialTLS(ctx, network, address)
			},
			Protocols: protocols, MaxIdleConnsPerHost: 100, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
			DisableCompression: true,
		},
	})
	t.Cleanup(p.CloseIdleConnections)
	return p
}

// rawAgent serves every connection with a function, which may close it.
func rawAgent(t testing.TB, serve func(c net.Conn, in *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			all.Go(func() {
				serve(c, bufio.NewReader(c))
				_ = c.Close()
				mu.Lock()
				delete(open, c)
				mu.Unlock()
			})
		}
	})
	return "http://" + l.Addr().String()
}

// always answers every request alike.
func always(answer string) func(net.Conn, *bufio.Reader) {
	return func(c net.Conn, in *bufio.Reader) {
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			_, _ = io.WriteString(c, answer)
		}
	}
}

// once answers one request, and closes the connection.
func once(answer string) func(net.Conn, *bufio.Reader) {
	return func(c net.Conn, in *bufio.Reader) {
		if r, err := http.ReadRequest(in); err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, answer)
		}
	}
}

// request is a request as the gateway makes them: without GetBody.
func request(ctx context.Context, verb, url, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, verb, url, nil)
	if err != nil {
		panic(err)
	}
	if r.Header = (http.Header{"Content-Type": {"application/json"}}); body != "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	return r
}

// closing is a request whose body is not read after it was closed.
func closing(ctx context.Context, url, said string) *http.Request {
	r := request(ctx, "POST", url, said)
	r.Body = &shutting{Reader: strings.NewReader(said)}
	return r
}

type shutting struct {
	io.Reader
	closed atomic.Bool
}

func (s *shutting) Read(p []byte) (int, error) {
	if s.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	return s.Reader.Read(p)
}

func (s *shutting) Close() error { s.closed.Store(true); return nil }

// send makes one request and reads the whole answer.
func send(ctx context.Context, rt http.RoundTripper, verb, url, body string) (*http.Response, string, error) {
	resp, err := rt.RoundTrip(request(ctx, verb, url, body))
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

// kept is how many connections a pool keeps.
func (p *Pool) kept() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.hosts {
		n += len(h.idle)
	}
	return n
}

// pieces is a connection on which bytes come in pieces of a size.
type pieces struct {
	net.Conn
	from *bytes.Reader
	size int
}

func (p *pieces) Read(b []byte) (int, error) { return p.from.Read(b[:min(len(b), p.size)]) }

func (p *pieces) Write(b []byte) (int, error) { return len(b), nil }

func (p *pieces) Close() error { return nil }

func (p *pieces) SetDeadline(time.Time) error { return nil }

// descriptors is how many this process has.
func descriptors(t testing.TB) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc: " + err.Error())
	}
	return len(all)
}

// answerOf is an ordinary answer.
func answerOf(body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}
