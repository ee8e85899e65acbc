package forward_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestAuthorizationAfterWaiting: agents of 0.1 cannot be asked to wait, and the task
// that the gateway waits for in the caller's place is answered, or its links refused.
func TestAuthorizationAfterWaiting(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC01), e.exchanges)
	a := waiting(w)
	first := func(rw http.ResponseWriter, r *proxytest.Request) {
		s, c := proxytest.Words{Side: proxytest.RPC01}, r.Call()
		if c.Method.Subject == wire.OfMessage && r.Header.Get(proxytest.CRMHeader) == "" {
			r.Say(rw, s.Task(c.TaskID, "working", "", ""))
			return
		}
		a.answer(rw, r)
	}
	w.Agent.Answers(first)
	got := w.CallWaiting(proxytest.RPC10, wire.SendMessage, "").OK(t, "answered")
	if replies, _ := shows(w.Agent.Take()); asksStill(got) || len(replies) != 1 {
		t.Errorf("%d replies, %s", len(replies), got.Docs)
	}

	w = proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC01), permits)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		s, c := proxytest.Words{Side: proxytest.RPC01}, r.Call()
		if c.Method.Subject == wire.OfMessage {
			r.Say(rw, s.Task(c.TaskID, "working", "", ""))
			return
		}
		r.Say(rw, s.Task(c.TaskID, "input-required", places(s, "https://evil.test/")["data"], ""))
	})
	got = w.CallWaiting(proxytest.RPC10, wire.SendMessage, "")
	got.Refused(t, "elsewhere", wire.BadAgentResponse)
	if strings.Contains(got.Body, "evil") {
		t.Errorf("%s", got.Body)
	}
}

// TestAuthorizationLookBreaks: the reply is taken, and the look at the task behind it
// breaks off: nothing is said again.
func TestAuthorizationLookBreaks(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges)
	w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
	a := waiting(w)
	a.always = true
	var looks atomic.Int32
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		if r.Called().Name == wire.GetTask && looks.Add(1) == 2 {
			r.Fail(rw, wire.Internal, "busy")
			return
		}
		a.answer(rw, r)
	})
	for range 2 {
		if got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.GetTask, Task: "t"}).OK(t, "look"); !asksStill(got) {
			t.Errorf("%s", got.Docs)
		}
	}
	if replies, _ := shows(w.Agent.Take()); len(replies) != 1 {
		t.Errorf("%d replies", len(replies))
	}
}

// TestAuthorizationStatusOfReply: on gRPC a stream ends well for the caller, whatever
// status the agent ends the reply's with.
func TestAuthorizationStatusOfReply(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for _, side := range []wire.Side{proxytest.GRPC10, proxytest.GRPC03} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(side), e.exchanges)
		a := waiting(w)
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			if r.Header.Get(proxytest.CRMHeader) == "" {
				a.answer(rw, r)
				return
			}
			rw.Header().Set("Content-Type", "application/grpc")
			proxytest.Flush(rw)
			rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "9")
			rw.Header().Set(http.TrailerPrefix+"Grpc-Message", "no messages now")
		})
		got := w.CallWaiting(side, wire.SendStreamingMessage, "").OK(t, side.String())
		if got.Code != 0 || !asksStill(got) {
			t.Errorf("%s: status %d, %s", side, got.Code, got.Docs)
		}
		_, _ = w.Agent.Take(), e.take()
	}
}
