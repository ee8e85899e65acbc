package e2e

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// raw is an agent below HTTP: what it does with a connection can be changed.
type raw struct {
	listener net.Listener

	mu    sync.Mutex
	does  func(net.Conn)
	conns map[net.Conn]struct{}
	dials int
}

// newRaw serves a listener until the test ends.
func newRaw(t *testing.T, l net.Listener, does func(net.Conn)) *raw {
	t.Helper()
	a := &raw{listener: l, does: does, conns: map[net.Conn]struct{}{}}
	t.Cleanup(func() {
		_ = l.Close()
		a.will(nil)
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			a.mu.Lock()
			a.dials++
			a.conns[conn] = struct{}{}
			does := a.does
			a.mu.Unlock()
			go func() {
				does(conn)
				_ = conn.Close()
				a.mu.Lock()
				delete(a.conns, conn)
				a.mu.Unlock()
			}()
		}
	}()
	return a
}

// will changes what it does with connections, closes those it has, and says how many it
// was asked for since the last change.
func (a *raw) will(do func(net.Conn)) (dials int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all sync.WaitGroup
	for conn := range a.conns {
		all.Go(func() { hangUp(conn) })
	}
	all.Wait()
	dials, a.dials, a.does = a.dials, 0, do
	return dials
}

// hangUp closes a connection once the other end has: it has noticed then, and takes it for
// no call more.
func hangUp(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		go func() { _ = half.CloseWrite() }() // an end that cannot write may not read either
	}
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}

// behind has the gateway's agent of this name at the raw one; its card is somewhere else.
func (a *raw) behind(t *testing.T, name, scheme, more string) string {
	t.Helper()
	front := gatewaytest.NewRecorder(t, "1.0")
	origin := scheme + "://" + a.listener.Addr().String()
	front.SetCard([]byte(strings.NewReplacer("NAME", name, "URL", origin+"/rpc").Replace(evilCard)))
	return fmt.Sprintf(`{id: %s, card: %q, endpoints: [%q], answerTimeout: 1s%s}`, name, front.CardURL, origin, more)
}

// framed speaks HTTP/2 up to where both ends have said their settings, and then as it
// is told.
func framed(settings []http2.Setting, next func(f *http2.Framer) error) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(conn, conn)
		f.AllowIllegalWrites = true
		if f.WriteSettings(settings...) == nil {
			_ = next(f)
		}
		_, _ = io.Copy(io.Discard, conn)
	}
}

// onHeaders does something for every request.
func onHeaders(do func(f *http2.Framer, stream uint32) error) func(f *http2.Framer) error {
	return func(f *http2.Framer) error {
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return err
			}
			if h, ok := frame.(*http2.HeadersFrame); ok {
				if err := do(f, h.StreamID); err != nil {
					return err
				}
			}
		}
	}
}

// again writes without end.
func again(write func() error) error {
	for {
		if err := write(); err != nil {
			return err
		}
	}
}

// evilFrames are what an agent may do in HTTP/2.
func evilFrames() map[string]func(net.Conn) {
	away := func(f *http2.Framer, _ uint32) error { return f.WriteGoAway(0, http2.ErrCodeNo, nil) }
	return map[string]func(net.Conn){
		"SETTINGS_MAX_FRAME_SIZE=0": framed([]http2.Setting{{ID: http2.SettingMaxFrameSize}}, func(*http2.Framer) error { return nil }),
		"a window that stays shut":  framed([]http2.Setting{{ID: http2.SettingInitialWindowSize}}, func(*http2.Framer) error { return nil }),
		"GOAWAY at once":            framed(nil, func(f *http2.Framer) error { return away(f, 0) }),
		"GOAWAY for every request":  framed(nil, onHeaders(away)),
		"GOAWAY again and again": framed(nil, func(f *http2.Framer) error {
			return again(func() error { return f.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil) })
		}),
		"every request refused": framed(nil, onHeaders(func(f *http2.Framer, stream uint32) error {
			return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		})),
		"a head without end": framed(nil, onHeaders(func(f *http2.Framer, stream uint32) error {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream})
			return again(func() error { return f.WriteContinuation(stream, false, make([]byte, 1<<10)) })
		})),
		"PING without end": framed(nil, func(f *http2.Framer) error {
			return again(func() error { return f.WritePing(false, [8]byte{}) })
		}),
		"SETTINGS without end": framed(nil, func(f *http2.Framer) error {
			return again(func() error { return f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 7}) })
		}),
		"GOAWAY before SETTINGS": func(conn net.Conn) {
			_ = http2.NewFramer(conn, conn).WriteGoAway(0, http2.ErrCodeInadequateSecurity, nil)
			_, _ = io.Copy(io.Discard, conn)
		},
		"no word": func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
	}
}

// TestL19_EvilFrames is TestL19_EvilAgents in HTTP/2. Meanwhile another agent answers.
func TestL19_EvilFrames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate(t, dir)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	other, same := newSample(t, "good"), newSample(t, "h2")
	good := func(conn net.Conn) {
		if conn.(*tls.Conn).Handshake() == nil {
			(&http2.Server{}).ServeConn(conn, &http2.ServeConnOpts{Handler: same})
		}
	}
	agent := newRaw(t, l, good)
	p := serveFleet(t, evilServer, evilStreams,
		agent.behind(t, "h2", "https", fmt.Sprintf(`, tls: {ca: %q}, load: {breaker: {off: true}}`, filepath.Join(dir, "cert.pem"))),
		fmt.Sprintf(`{id: good, card: "http://%s/card"}`, other.address()))
	n := 0
	well := func(name string) bool {
		n++
		id := fmt.Sprintf("good%d", n)
		return p.caller(name).send(id).got(name, id)
	}
	eventually(t, "the agents are there", 10*time.Second, func() bool { return well("good") && well("h2") })
	base := p.rss()
	for name, does := range evilFrames() {
		t.Run(name, func(t *testing.T) {
			agent.will(does)
			evil{}.call(t, p, p.caller("h2"), "evil", base)
			if !well("good") {
				t.Error("another agent cannot be called")
			}
			dials := agent.will(good)
			t.Logf("%d connections", dials)
			if dials == 0 || dials > 3 {
				t.Errorf("the agent was connected to %d times", dials)
			}
			eventually(t, "the agent can be called again", 2*time.Second, func() bool { return well("h2") })
		})
	}
	for line := range strings.Lines(p.out.text()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no line of the log: %s", line)
		}
	}
}

const evilCard = `{"name":"NAME","description":"d","version":"1",` +
	`"supportedInterfaces":[{"url":"URL","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{},` +
	`"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"w","name":"W","description":"w","tags":["t"]}]}`

// TestL19_EarlyAnswer has an agent answer before it has read the request, which it never
// does. Whatever the gateway makes of the answer, the next call gets its own.
func TestL19_EarlyAnswer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var early atomic.Bool
	serve := func(conn net.Conn) {
		for in := bufio.NewReader(conn); ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if early.Load() {
				_, _ = io.WriteString(conn, sized(`{"jsonrpc":"2.0","id":"early","result":`+strings.Replace(evilMessage, "%TEXT%", "too early", 1)+`}`))
				time.Sleep(2 * time.Second)
				return
			}
			body, _ := io.ReadAll(r.Body)
			_, rest, _ := strings.Cut(string(body), `"id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			_, _ = io.WriteString(conn, sized(`{"jsonrpc":"2.0","id":"`+id+`","result":`+strings.Replace(evilMessage, "%TEXT%", "good "+id, 1)+`}`))
		}
	}
	p := serveFleet(t, "  limits: {body: 64MiB}", "", newRaw(t, l, serve).behind(t, "early", "http", ""))
	c := p.caller("early")
	eventually(t, "the agent is there", 10*time.Second, func() bool { return c.send("0000").status == http.StatusOK })
	for round := range 4 {
		early.Store(true)
		a := c.call("SendMessage", "early", `{"message":{"messageId":"early","role":"ROLE_USER","parts":[{"text":"`+strings.Repeat("x", 32<<20)+`"}]}}`)
		t.Logf("%d after %v: %s", a.status, a.took, tail(a.body))
		if a.err != nil || a.took > 5*time.Second || a.status == http.StatusOK && !strings.Contains(a.body, "too early") {
			t.Errorf("%d %.300s %v after %v", a.status, a.body, a.err, a.took)
		}
		early.Store(false)
		for k := range 3 {
			id := fmt.Sprintf("%d%d", round, k)
			if a := c.send(id); !strings.Contains(a.body, "good "+id) {
				t.Errorf("the next call: %d %.300s %v", a.status, a.body, a.err)
			}
		}
	}
}
