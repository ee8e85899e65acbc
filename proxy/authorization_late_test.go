package proxy_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestAuthorizationAfterWaiting: agents of 0.1 cannot be asked to wait, and the task
// that the gateway waits for in the caller's place is answered, or its links refused.
func TestAuthorizationAfterWaiting(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc01), e.exchanges)
	a := w.waiting()
	first := func(rw http.ResponseWriter, r *record) {
		s, c := words{rpc01}, r.call()
		if c.Method.Subject == wire.OfMessage && r.Header.Get(crmHeader) == "" {
			r.say(rw, s.task(c.TaskID, "working", "", ""))
			return
		}
		a.answer(rw, r)
	}
	w.agent.answers(first)
	got := w.callWaiting(rpc10, wire.SendMessage, "").ok(t, "answered")
	if replies, _ := shows(w.agent.take()); got.asksStill() || len(replies) != 1 {
		t.Errorf("%d replies, %s", len(replies), got.docs)
	}

	w = in(t, speaks(rpc01), permits)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		s, c := words{rpc01}, r.call()
		if c.Method.Subject == wire.OfMessage {
			r.say(rw, s.task(c.TaskID, "working", "", ""))
			return
		}
		r.say(rw, s.task(c.TaskID, "input-required", places(s, "https://evil.test/")["data"], ""))
	})
	got = w.callWaiting(rpc10, wire.SendMessage, "")
	got.refused(t, "elsewhere", wire.BadAgentResponse)
	if strings.Contains(got.body, "evil") {
		t.Errorf("%s", got.body)
	}
}

// TestAuthorizationLookBreaks: the reply is taken, and the look at the task behind it
// breaks off: nothing is said again.
func TestAuthorizationLookBreaks(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc10), e.exchanges)
	w.given("tied", w.base, w.agent, "t", "c-t", "")
	a := w.waiting()
	a.always = true
	var looks atomic.Int32
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		if r.method().Name == wire.GetTask && looks.Add(1) == 2 {
			r.fail(rw, wire.Internal, "busy")
			return
		}
		a.answer(rw, r)
	})
	for range 2 {
		if got := w.speak("tied", w.base, rpc10, ask{method: wire.GetTask, task: "t"}).ok(t, "look"); !got.asksStill() {
			t.Errorf("%s", got.docs)
		}
	}
	if replies, _ := shows(w.agent.take()); len(replies) != 1 {
		t.Errorf("%d replies", len(replies))
	}
}

// TestAuthorizationStatusOfReply: on gRPC a stream ends well for the caller, whatever
// status the agent ends the reply's with.
func TestAuthorizationStatusOfReply(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for _, side := range []wire.Side{grpc10, grpc03} {
		w := in(t, speaks(side), e.exchanges)
		a := w.waiting()
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			if r.Header.Get(crmHeader) == "" {
				a.answer(rw, r)
				return
			}
			rw.Header().Set("Content-Type", "application/grpc")
			flush(rw)
			rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "9")
			rw.Header().Set(http.TrailerPrefix+"Grpc-Message", "no messages now")
		})
		got := w.callWaiting(side, wire.SendStreamingMessage, "").ok(t, side.String())
		if got.code != 0 || !got.asksStill() {
			t.Errorf("%s: status %d, %s", side, got.code, got.docs)
		}
		_, _ = w.agent.take(), e.take()
	}
}
