package http1

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/server/strict"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Overlap()
	goleak.VerifyTestMain(m)
}

// patience bounds every wait of these tests; nothing is measured with it.
const patience = time.Minute

// rules are those of a gateway that nobody has configured.
var rules = &strict.Rules{Head: 16 << 10}

// start serves connections with the handler on a listener of its own, and says where.
func start(tb testing.TB, h http.Handler, change ...func(*Server)) (s *Server, addr string) {
	tb.Helper()
	s = &Server{
		Handler: h, Log: slog.New(slog.DiscardHandler), Header: patience, Idle: patience, Write: patience,
		HTTP2:  func(nc *strict.Conn) { _ = nc.Close() },
		Linger: func() Linger { return Linger{Bytes: 4 << 20, Time: patience, Silence: time.Second} },
	}
	for _, f := range change {
		f(s)
	}
	addr = listen(tb, func(nc net.Conn) { s.Serve(context.Background(), rules.Conn(nc), nil) })
	tb.Cleanup(s.Close)
	return s, addr
}

// listen has each connection that comes served in a goroutine.
func listen(tb testing.TB, serve func(net.Conn)) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() { serve(nc) })
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		group.Wait()
	})
	return l.Addr().String()
}

// dial opens a connection that cannot hang the test.
func dial(tb testing.TB, addr string) net.Conn {
	tb.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// told is what a client reads of the answers to what it sends before it says that it sends
// nothing more.
func told(tb testing.TB, addr, sent string, verbs ...string) (all []string) {
	tb.Helper()
	c := dial(tb, addr)
	go func() {
		_, _ = io.WriteString(c, sent)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	br := bufio.NewReader(c)
	for i := 0; ; i++ {
		if _, err := br.Peek(1); err != nil {
			return all
		}
		verb := "GET"
		if i < len(verbs) {
			verb = verbs[i]
		}
		resp, err := http.ReadResponse(br, &http.Request{Method: verb})
		if err != nil {
			return append(all, "broken: "+err.Error())
		}
		body, err := io.ReadAll(resp.Body)
		all = append(all, answerText(resp, body, err))
	}
}

// answerText is all of an answer that clients may rely on.
func answerText(resp *http.Response, body []byte, err error) string {
	if resp.Header["Date"] != nil {
		resp.Header.Set("Date", "now")
	}
	text := string(body)
	if len(text) > 100 {
		sum := sha256.Sum256(body)
		text = hex.EncodeToString(sum[:])
	}
	return fmt.Sprintf("%s %s close %v length %v coded %v {%s} %q trailers {%s} %v", resp.Proto, resp.Status, resp.Close,
		resp.ContentLength, resp.TransferEncoding, fieldsText(resp.Header), text, fieldsText(resp.Trailer), err != nil)
}

func fieldsText(h http.Header) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		fmt.Fprintf(&b, "%s: %q; ", name, h[name])
	}
	return b.String()
}

// requestText is all that a handler may know of a request, but for what it is told here and
// not by net/http: the Host field beside a target in absolute form, that such a target has a
// path, and that versions after 1.1 are served like it.
func requestText(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	u, h, proto := *r.URL, r.Header.Clone(), r.Proto
	if delete(h, "Host"); u.Scheme != "" && u.Host != "" && u.Path == "" {
		u.Path = emptyPath(r.Method)
	}
	if r.ProtoMinor > 1 {
		proto = "HTTP/1.1"
	}
	return fmt.Sprintf("%s %s %s %+v host %q length %d coded %v close %v {%s} announced {%s} %q %v", r.Method, r.RequestURI, proto,
		u, r.Host, r.ContentLength, r.TransferEncoding, r.Close, fieldsText(h), fieldsText(r.Trailer), body, err != nil)
}

// loop is a connection on which the same request comes again and again.
type loop struct {
	net.Conn
	request string
	rest    string // of it, when some was read
	left    int
	scrap   [64]byte
}

func (l *loop) Read(p []byte) (int, error) {
	if l.rest == "" {
		if l.left--; l.left < 0 {
			return 0, io.EOF
		}
		l.rest = l.request
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
func (l *loop) Write(p []byte) (int, error)      { return len(p), nil }
func (l *loop) Close() error                     { return nil }
func (l *loop) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (l *loop) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (l *loop) SetDeadline(time.Time) error      { return nil }
func (l *loop) SetReadDeadline(time.Time) error  { return nil }
func (l *loop) SetWriteDeadline(time.Time) error { return nil }
