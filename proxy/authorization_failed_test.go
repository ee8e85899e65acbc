package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// asksOddly is a task that waits, in bytes that nobody would write a second time.
const asksOddly = `{"jsonrpc" : "2.0","id":7, "result":{"task":{ "id":"t","contextId":"c-t","x" : [1 ,2],` +
	`"status":{"state":"TASK_STATE_AUTH_REQUIRED","message":{"messageId":"q","role":"ROLE_AGENT",` +
	`"parts":[{"data":{"authentication":{"audience":"` + crm + `"}}}]}}}}}`

// oddly answers with the task that waits: bare to a get, in a stream that goes on to a
// stream, and what the test says to a token for the other system.
func oddly(taken http.HandlerFunc) func(http.ResponseWriter, *record) {
	return func(rw http.ResponseWriter, r *record) {
		doc := strings.ReplaceAll(asksOddly, `"id":7`, `"id":`+string(r.rpc().ID))
		switch m := r.method(); {
		case r.Header.Get(crmHeader) != "" && taken != nil:
			taken(rw, r.Request)
		case m.Streams:
			rw.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(rw, "data: "+doc+"\n\n")
			r.event(rw, statusIn(rpc10, "t", "c-t", "completed", ""))
		default:
			if m.Name == wire.GetTask {
				doc = strings.Replace(doc[:len(doc)-1], `{"task":`, "", 1)
			}
			rw.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(rw, doc)
		}
	}
}

// TestAuthorizationWithoutToken: where no token can be had, the question reaches the
// client byte for byte, and its stream goes on. The next call tries again.
func TestAuthorizationWithoutToken(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for name, answer := range map[string]http.HandlerFunc{
		"declined": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(rw, `{"error":"invalid_grant","error_description":"secret words"}`)
		},
		"down":  func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) },
		"page":  func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "<html>login</html>") },
		"broke": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		w := in(t, speaks(rpc10), e.exchanges)
		w.agent.answers(oddly(nil))
		e.answers(answer)
		got := w.call("tied", wire.SendMessage, message(""))
		if got.status != 200 || got.body != asksOddly {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		r := w.recorded(1)
		if r["authorized"] != nil || fmt.Sprint(r["credentials"]) != "[value Authorization]" {
			t.Errorf("%s: recorded %v %v", name, r["authorized"], r["credentials"])
		}
		got = w.call("tied", wire.SendStreamingMessage, message(""))
		if all := events(got.body); len(all) != 2 || all[0] != asksOddly || !strings.Contains(all[1], "COMPLETED") {
			t.Errorf("%s: streamed %s", name, got.body)
		}
		if replies, _ := shows(w.agent.take()); len(replies) != 0 {
			t.Errorf("%s: the agent heard %s", name, replies[0].body)
		}
		if strings.Contains(got.body, "secret words") {
			t.Errorf("%s: %s", name, got.body)
		}
		if name == "declined" { // which holds for longer than a test may take
			continue
		}
		w.waiting()
		e.gives()
		eventually(t, "answer after "+name, func() bool {
			return !strings.Contains(w.call("tied", wire.GetTask, `{"id":"t"}`).body, crm)
		})
	}
}

// rebuffs are what agents may answer a reply with that do not take it, each with
// whether it is certain that they have not.
var rebuffs = map[string]struct {
	certain bool
	answer  http.HandlerFunc
}{
	"error": {true, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no messages now"}}`)
	}},
	"event": {true, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, `data: {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no messages now"}}`+"\n\n")
	}},
	"page": {true, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(rw, "<html>busy</html>")
	}},
	"401": {true, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Www-Authenticate", "Bearer")
		rw.WriteHeader(http.StatusUnauthorized)
	}},
	"504":   {false, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusGatewayTimeout) }},
	"broke": {false, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	"other call": {false, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, strings.Replace(asksOddly, `"id":7`, `"id":8`, 1))
	}},
	"nonsense": {false, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"jsonrpc":`)
	}},
}

// TestAuthorizationNotTaken: an agent that does not take the reply leaves the caller
// with the question, byte for byte and once. What the agent may have taken is not said
// again; what it has certainly not is, by the next call.
func TestAuthorizationNotTaken(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for name, refusal := range rebuffs {
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage, wire.GetTask} {
			what := name + " to " + method
			w := in(t, speaks(rpc10), e.exchanges)
			w.given("tied", w.base, w.agent, "t", "c-t", "")
			w.agent.answers(oddly(refusal.answer))
			params := message("")
			if method == wire.GetTask {
				params = `{"id":"t"}`
			}
			got := w.call("tied", method, params)
			body := got.body
			if method == wire.SendStreamingMessage {
				body = strings.TrimSuffix(strings.TrimPrefix(body, "data: "), "\n\n")
			}
			want := asksOddly
			if method == wire.GetTask {
				want = strings.Replace(want[:len(want)-1], `{"task":`, "", 1)
			}
			if got.status != 200 || body != want {
				t.Errorf("%s: %d %s", what, got.status, got.body)
			}
			r := w.recorded(2) // behind given's
			if (r["authorized"] == nil) != refusal.certain ||
				fmt.Sprint(r["credentials"]) != "[value Authorization exchange X-Crm-Token]" {
				t.Errorf("%s: recorded %v %v", what, r["authorized"], r["credentials"])
			}
			replies, _ := shows(w.agent.take())
			if len(replies) != 1 {
				t.Errorf("%s: %d replies", what, len(replies))
			}
			w.waiting()
			got = w.call("tied", wire.GetTask, `{"id":"t"}`)
			if replies, _ := shows(w.agent.take()); (len(replies) == 1) != refusal.certain {
				t.Errorf("%s: %d replies later, %s", what, len(replies), got.body)
			}
		}
	}
}

// TestAuthorizationStreamsNotTaken: the same on a stream, on every side.
func TestAuthorizationStreamsNotTaken(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for i, agent := range sides {
		w := in(t, speaks(agent), e.exchanges)
		for _, caller := range callersOf(i, i) {
			what := fmt.Sprintf("%s to %s", caller, agent)
			a := w.waiting()
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				if r.Header.Get(crmHeader) != "" {
					r.fail(rw, wire.InvalidParams, "no messages now")
					return
				}
				a.answer(rw, r)
			})
			got := w.callWaiting(caller, wire.SendStreamingMessage, "").ok(t, what)
			last := got.docs[len(got.docs)-1]
			if !strings.Contains(last, crm) || strings.Count(got.body, crm) > 1 || strings.Contains(got.body, "no messages") {
				t.Errorf("%s: %v", what, got.docs)
			}
		}
	}
}

// TestAuthorizationWholeAnswer: an agent may answer a stream's reply whole.
func TestAuthorizationWholeAnswer(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for _, agent := range []wire.Side{rpc10, rest10, rpc03} {
		w := in(t, speaks(agent), e.exchanges)
		for _, caller := range []wire.Side{rpc10, rest10, grpc10, rpc03} {
			what := fmt.Sprintf("%s to %s", caller, agent)
			a := w.waiting()
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				if r.Header.Get(crmHeader) == "" {
					a.answer(rw, r)
					return
				}
				s := words{r.side()}
				out := httptest.NewRecorder()
				r.say(out, s.task(r.call().TaskID, "completed", s.message("agent", s.text("thanks", ""), ""), ""))
				rw.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(rw, strings.TrimSpace(strings.TrimPrefix(out.Body.String(), "data: ")))
			})
			got := w.callWaiting(caller, wire.SendStreamingMessage, "").ok(t, what)
			if last := got.docs[len(got.docs)-1]; got.asksStill() || !strings.Contains(last, "thanks") {
				t.Errorf("%s: %s", what, got.docs)
			}
		}
	}
}

// TestAuthorizationClientLeaves: a client that leaves while a token is being fetched
// does not leave the task unanswered for good.
func TestAuthorizationClientLeaves(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc10), e.exchanges)
	w.given("tied", w.base, w.agent, "t", "c-t", "")
	w.waiting()
	asked, release := make(chan struct{}), make(chan struct{})
	e.answers(func(rw http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-release
		rw.WriteHeader(http.StatusBadGateway)
	})
	ctx, leave := context.WithCancel(context.Background())
	go func() { <-asked; leave() }()
	r := w.request("tied", "POST", "", rpcBody(wire.GetTask, `{"id":"t"}`), "A2A-Version: 1.0")
	if resp, err := w.http.Do(r.WithContext(ctx)); err == nil {
		_ = resp.Body.Close()
		t.Error("the client got an answer")
	}
	w.recorded(2)
	close(release)
	e.gives()
	eventually(t, "answer", func() bool { return !w.speak("tied", w.base, rpc10, ask{method: wire.GetTask, task: "t"}).asksStill() })
	if replies, _ := shows(w.agent.take()); len(replies) != 1 {
		t.Errorf("%d replies", len(replies))
	}
}

// TestAuthorizationSlowToken: waiting for a token counts against the time of the
// answer, and its end leaves the caller with the question.
func TestAuthorizationSlowToken(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc10), e.exchanges, func(s *setup) { s.agent.Answer = secret.Duration(2 * time.Second) })
	w.agent.answers(oddly(nil))
	release := make(chan struct{})
	e.answers(func(http.ResponseWriter, *http.Request) { <-release })
	got := w.call("tied", wire.SendMessage, message(""))
	close(release)
	if got.status != 200 || got.body != asksOddly {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestAuthorizationOneStream: the stream of a reply is the same to the limit.
func TestAuthorizationOneStream(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc10), e.exchanges, func(s *setup) { s.server.Limits.Streams = 1 })
	w.waiting()
	for range 3 {
		got := w.callWaiting(rpc10, wire.SendStreamingMessage, "").ok(t, "stream")
		if got.asksStill() {
			t.Errorf("%s", got.docs)
		}
	}
}
