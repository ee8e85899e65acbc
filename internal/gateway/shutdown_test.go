package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

// outcome is what became of a call.
type outcome struct {
	status int
	body   string
	err    error
}

// stopping starts a gateway, has a call and a stream under way, and begins to
// shut the gateway down.
type stopping struct {
	*testing.T

	g      *gateway.Gateway
	agent  *counter
	call   chan outcome
	stream *sse
	done   chan error
}

func newStopping(t *testing.T, ctx context.Context) *stopping {
	t.Helper()
	w := newWorld(t)
	agent := newCounter(t, func(c *counter) {
		c.gate, c.arrived = make(chan struct{}), make(chan string, 10)
	})
	g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)))
	credential := w.token("caller")
	url := g.URL() + "/agents/a"
	s := &stopping{T: t, g: g, agent: agent, call: make(chan outcome, 1), done: make(chan error, 1)}
	c := client(t)
	go func() {
		status, body, err := try(c, http.MethodPost, url, sendHeader(credential), sendBody("SendMessage", "call"))
		s.call <- outcome{status, body, err}
	}()
	<-agent.arrived
	var err error
	if s.stream, err = openStream(c, url, credential, "stream"); err != nil {
		t.Fatal(err)
	}
	go func() { s.done <- g.Shutdown(ctx) }()
	return s
}

func (s *stopping) refusesConnections() {
	s.Helper()
	address := strings.TrimPrefix(s.g.URL(), "http://")
	eventually(s.T, "new connections are refused", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
}

// R2: what is under way may finish; who looks sees at once that no more should
// come.
func TestShutdownLetsCallsFinish(t *testing.T) {
	t.Parallel()
	s := newStopping(t, context.Background()) // the window is server.timeouts.drain, 30s
	eventually(t, "/readyz turns", func() bool {
		status, body := fetch(t, s.g.StatusURL()+"/readyz?verbose", nil)
		return status == http.StatusServiceUnavailable && strings.Contains(body, "serving: failed: draining")
	})
	if status, _ := fetch(t, s.g.StatusURL()+"/livez", nil); status != http.StatusOK {
		t.Errorf("/livez is %d: a gateway that drains is alive", status)
	}
	s.refusesConnections()
	close(s.agent.gate)
	if got := <-s.call; got.err != nil || got.status != http.StatusOK || !strings.Contains(got.body, "re-call") {
		t.Errorf("the call: %+v", got)
	}
	close(s.agent.release)
	if last, err := s.stream.finish(); err != nil || !strings.Contains(last, "COMPLETED") {
		t.Errorf("the stream ended with %q, error %v", last, err)
	}
	if err := <-s.done; err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if err := s.g.Shutdown(t.Context()); err != nil {
		t.Errorf("shutting down twice: %v", err)
	}
}

// Streams that do not finish by themselves are told to come back, in their own
// words, before the window closes.
func TestShutdownEndsStreams(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	s := newStopping(t, ctx)
	close(s.agent.gate)
	last, err := s.stream.finish()
	if err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
	var event struct {
		ID    string
		Error struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(last), &event); err != nil || event.ID != "stream" || event.Error.Code == 0 ||
		!strings.Contains(event.Error.Message, "subscribe again") {
		t.Errorf("last event %q, error %v", last, err)
	}
	if got := <-s.call; got.status != http.StatusOK {
		t.Errorf("the call: %+v", got)
	}
	if err := <-s.done; err != nil {
		t.Errorf("shutdown did not keep to its window: %v", err)
	}
}

// The second signal cancels the context: now means now.
func TestShutdownNow(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	s := newStopping(t, ctx)
	s.refusesConnections()
	cancel()
	if err := <-s.done; !errors.Is(err, context.Canceled) {
		t.Errorf("shutdown: %v, want that it was cancelled", err)
	}
	if got := <-s.call; got.status == http.StatusOK {
		t.Errorf("the call was answered %+v, by an agent that has not answered", got)
	}
	if last, err := s.stream.finish(); strings.Contains(last, "COMPLETED") {
		t.Errorf("the stream ended with %q, error %v", last, err)
	}
}

// A reload that comes while the gateway is going away is refused, and starts
// nothing.
func TestReloadAfterShutdown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	yaml := w.yaml(plain, openPolicy)
	g := w.start(yaml)
	if err := g.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.reload(g, yaml); err == nil {
		t.Error("reloaded after the shutdown")
	}
}

// A gateway that is to end takes connections for a while: those who have not looked at
// /readyz yet are answered, and sent elsewhere with the answer.
func TestShutdownLameDuck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(plain+"\ntimeouts: {lameDuck: 2s, drain: 10s}", openPolicy))
	done := make(chan error, 1)
	go func() { done <- g.Shutdown(context.Background()) }()
	eventually(t, "/readyz turns", func() bool {
		status, _ := fetch(t, g.StatusURL()+"/readyz", nil)
		return status == http.StatusServiceUnavailable
	})
	resp, err := client(t).Get(g.URL() + "/agents/nobody")
	if err != nil {
		t.Fatalf("while connections are taken: %v", err)
	}
	_ = resp.Body.Close()
	if !resp.Close {
		t.Error("the answer does not close its connection")
	}
	if err := <-done; err != nil {
		t.Errorf("shutdown: %v", err)
	}
}
