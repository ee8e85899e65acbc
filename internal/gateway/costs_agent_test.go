package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// costAgent is two agents of version 1.0, "rpc" of JSON-RPC and "grpc" of gRPC. A call is answered
// with a message of 600 bytes. A stream has a task, and after that as many events at once as next
// says.
type costAgent struct {
	*httptest.Server

	next  chan int
	tasks atomic.Int64
}

const (
	costTask    = `{"task":{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
	costEvent   = `{"artifactUpdate":{"taskId":%q,"contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"a few words more, "}]}%s}}`
	costMessage = `{"message":{"messageId":"re-m","contextId":"c","role":"ROLE_AGENT","parts":[{"text":"%s"}]}}`
)

// newCostAgent starts agents that hold back what they write for so long: see heldConn.
func newCostAgent(t testing.TB, hold time.Duration) *costAgent {
	a := &costAgent{next: make(chan int)}
	a.Server = httptest.NewUnstartedServer(a)
	if hold > 0 {
		a.Listener = heldListener{a.Listener, hold}
	}
	a.Config.Protocols = new(http.Protocols)
	a.Config.Protocols.SetHTTP1(true)
	a.Config.Protocols.SetUnencryptedHTTP2(true) // gRPC
	a.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 1000}
	a.Start()
	t.Cleanup(func() {
		a.CloseClientConnections()
		a.Close()
	})
	return a
}

// ServeHTTP implements http.Handler.
func (a *costAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	base := "http://" + r.Host
	switch r.URL.Path {
	case "/rpc.json":
		_, _ = io.WriteString(w, proxytest.CardFor(proxytest.RPC10)(base))
		return
	case "/grpc.json":
		_, _ = io.WriteString(w, proxytest.CardFor(proxytest.GRPC10)(base))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s := &costAnswer{w: w, grpc: r.Header.Get("Content-Type") == "application/grpc"}
	_, id, _ := bytes.Cut(body, []byte(`"id":`))
	s.id, _, _ = bytes.Cut(id, []byte(","))
	s.streams = bytes.Contains(body, []byte(wire.SendStreamingMessage)) || strings.HasSuffix(r.URL.Path, wire.SendStreamingMessage)
	s.head()
	if s.streams {
		a.stream(r, s)
	} else {
		s.say(fmt.Sprintf(costMessage, strings.Repeat("x", 450)), 1)
	}
	if s.grpc {
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}
}

func (a *costAgent) stream(r *http.Request, s *costAnswer) {
	task := "t-" + strconv.FormatInt(a.tasks.Add(1), 10)
	s.say(fmt.Sprintf(costTask, task), 1)
	for more := ""; ; more = `,"append":true` {
		select {
		case n := <-a.next:
			s.say(fmt.Sprintf(costEvent, task, more), n)
		case <-r.Context().Done():
			return
		}
	}
}

// costAnswer writes an answer.
type costAnswer struct {
	w             http.ResponseWriter
	id            []byte // of a JSON-RPC call
	grpc, streams bool
}

func (s *costAnswer) head() {
	kind := "application/json"
	if s.grpc {
		kind = "application/grpc"
	} else if s.streams {
		kind = "text/event-stream"
	}
	s.w.Header().Set("Content-Type", kind)
}

// say writes a result n times, at once.
func (s *costAnswer) say(result string, n int) {
	text := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, s.id, result)
	switch {
	case s.grpc:
		method := wire.SendMessage
		if s.streams {
			method = wire.SendStreamingMessage
		}
		message, err := wire.ResponseMessage(proxytest.MethodOf(method), wire.V10, []byte(result))
		if err != nil {
			panic(err)
		}
		text = grpcframe.Append(nil, message)
	case s.streams:
		text = fmt.Appendf(nil, "data: %s\n\n", text)
	}
	_, _ = s.w.Write(bytes.Repeat(text, n))
	if s.streams {
		_ = http.NewResponseController(s.w).Flush()
	}
}

// heldConn holds back what is written on it for a while, and then writes all of it at once. So one answer
// is one read of the gateway's, which comes after the first look for it, however busy the machine is: net/http
// writes an answer of HTTP/2 in as many pieces as it has time for.
type heldConn struct {
	net.Conn

	hold time.Duration
	mu   sync.Mutex
	held []byte
}

// Write implements net.Conn. Who reads finds out where it fails.
func (c *heldConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.held) == 0 {
		time.AfterFunc(c.hold, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			_, _ = c.Conn.Write(c.held)
			c.held = c.held[:0]
		})
	}
	c.held = append(c.held, p...)
	return len(p), nil
}

type heldListener struct {
	net.Listener

	hold time.Duration
}

// Accept implements net.Listener.
func (l heldListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &heldConn{Conn: conn, hold: l.hold}, nil
}
