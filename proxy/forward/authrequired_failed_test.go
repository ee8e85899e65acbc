package forward_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// asksOddly is a task that waits, in bytes that nobody would write a second time.
const asksOddly = `{"jsonrpc" : "2.0","id":7, "result":{"task":{ "id":"t","contextId":"c-t","x" : [1 ,2],` +
	`"status":{"state":"TASK_STATE_AUTH_REQUIRED","message":{"messageId":"q","role":"ROLE_AGENT",` +
	`"parts":[{"data":{"authentication":{"audience":"` + proxytest.CRM + `"}}}]}}}}}`

// oddly answers with the task that waits: bare to a get, in a stream that goes on to a
// stream, and what the test says to a token for the other system.
func oddly(taken http.HandlerFunc) func(http.ResponseWriter, *proxytest.Request) {
	return func(rw http.ResponseWriter, r *proxytest.Request) {
		doc := strings.ReplaceAll(asksOddly, `"id":7`, `"id":`+string(r.RPC().ID))
		switch m := r.Called(); {
		case r.Header.Get(proxytest.CRMHeader) != "" && taken != nil:
			taken(rw, r.Request)
		case m.Streams:
			rw.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(rw, "data: "+doc+"\n\n")
			r.Event(rw, proxytest.StatusIn(proxytest.RPC10, "t", "c-t", "completed", ""))
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
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges)
		w.Agent.Answers(oddly(nil))
		e.answers(answer)
		got := w.Call("tied", wire.SendMessage, proxytest.Message(""))
		if got.Status != 200 || got.Body != asksOddly {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		r := w.RecordOf(1)
		if r["authorized"] != nil || fmt.Sprint(r["credentials"]) != "[value Authorization]" {
			t.Errorf("%s: recorded %v %v", name, r["authorized"], r["credentials"])
		}
		got = w.Call("tied", wire.SendStreamingMessage, proxytest.Message(""))
		if all := proxytest.EventsIn(got.Body); len(all) != 2 || all[0] != asksOddly || !strings.Contains(all[1], "COMPLETED") {
			t.Errorf("%s: streamed %s", name, got.Body)
		}
		if replies, _ := shows(w.Agent.Take()); len(replies) != 0 {
			t.Errorf("%s: the agent heard %s", name, replies[0].Content)
		}
		if strings.Contains(got.Body, "secret words") {
			t.Errorf("%s: %s", name, got.Body)
		}
		if name == "declined" { // which holds for longer than a test may take
			continue
		}
		waiting(w)
		e.gives()
		proxytest.Eventually(t, "answer after "+name, func() bool {
			return !strings.Contains(w.Call("tied", wire.GetTask, `{"id":"t"}`).Body, proxytest.CRM)
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
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges)
			w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
			w.Agent.Answers(oddly(refusal.answer))
			params := proxytest.Message("")
			if method == wire.GetTask {
				params = `{"id":"t"}`
			}
			got := w.Call("tied", method, params)
			body := got.Body
			if method == wire.SendStreamingMessage {
				body = strings.TrimSuffix(strings.TrimPrefix(body, "data: "), "\n\n")
			}
			want := asksOddly
			if method == wire.GetTask {
				want = strings.Replace(want[:len(want)-1], `{"task":`, "", 1)
			}
			if got.Status != 200 || body != want {
				t.Errorf("%s: %d %s", what, got.Status, got.Body)
			}
			r := w.RecordOf(2) // behind given's
			if (r["authorized"] == nil) != refusal.certain ||
				fmt.Sprint(r["credentials"]) != "[value Authorization exchange X-Crm-Token]" {
				t.Errorf("%s: recorded %v %v", what, r["authorized"], r["credentials"])
			}
			replies, _ := shows(w.Agent.Take())
			if len(replies) != 1 {
				t.Errorf("%s: %d replies", what, len(replies))
			}
			waiting(w)
			got = w.Call("tied", wire.GetTask, `{"id":"t"}`)
			if replies, _ := shows(w.Agent.Take()); (len(replies) == 1) != refusal.certain {
				t.Errorf("%s: %d replies later, %s", what, len(replies), got.Body)
			}
		}
	}
}

// TestAuthorizationStreamsNotTaken: the same on a stream, on every side.
func TestAuthorizationStreamsNotTaken(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for i, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), e.exchanges)
		for _, caller := range proxytest.CallersOf(i, i) {
			what := fmt.Sprintf("%s to %s", caller, agent)
			a := waiting(w)
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				if r.Header.Get(proxytest.CRMHeader) != "" {
					r.Fail(rw, wire.InvalidParams, "no messages now")
					return
				}
				a.answer(rw, r)
			})
			got := w.CallWaiting(caller, wire.SendStreamingMessage, "").OK(t, what)
			last := got.Docs[len(got.Docs)-1]
			if !strings.Contains(last, proxytest.CRM) || strings.Count(got.Body, proxytest.CRM) > 1 || strings.Contains(got.Body, "no messages") {
				t.Errorf("%s: %v", what, got.Docs)
			}
		}
	}
}

// TestAuthorizationWholeAnswer: an agent may answer a stream's reply whole.
func TestAuthorizationWholeAnswer(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), e.exchanges)
		for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03} {
			what := fmt.Sprintf("%s to %s", caller, agent)
			a := waiting(w)
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				if r.Header.Get(proxytest.CRMHeader) == "" {
					a.answer(rw, r)
					return
				}
				s := proxytest.Words{Side: r.Side()}
				out := httptest.NewRecorder()
				r.Say(out, s.Task(r.Call().TaskID, "completed", s.Message("agent", s.Text("thanks", ""), ""), ""))
				rw.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(rw, strings.TrimSpace(strings.TrimPrefix(out.Body.String(), "data: ")))
			})
			got := w.CallWaiting(caller, wire.SendStreamingMessage, "").OK(t, what)
			if last := got.Docs[len(got.Docs)-1]; asksStill(got) || !strings.Contains(last, "thanks") {
				t.Errorf("%s: %s", what, got.Docs)
			}
		}
	}
}

// TestAuthorizationClientLeaves: a client that leaves while a token is being fetched
// does not leave the task unanswered for good.
func TestAuthorizationClientLeaves(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges)
	w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
	waiting(w)
	asked, release := make(chan struct{}), make(chan struct{})
	e.answers(func(rw http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-release
		rw.WriteHeader(http.StatusBadGateway)
	})
	ctx, leave := context.WithCancel(context.Background())
	go func() { <-asked; leave() }()
	r := w.Request("tied", "POST", "", proxytest.RPCBody(wire.GetTask, `{"id":"t"}`), "A2A-Version: 1.0")
	if resp, err := w.Client.Do(r.WithContext(ctx)); err == nil {
		_ = resp.Body.Close()
		t.Error("the client got an answer")
	}
	w.RecordOf(2)
	close(release)
	e.gives()
	proxytest.Eventually(t, "answer", func() bool {
		return !asksStill(w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.GetTask, Task: "t"}))
	})
	if replies, _ := shows(w.Agent.Take()); len(replies) != 1 {
		t.Errorf("%d replies", len(replies))
	}
}

// TestAuthorizationSlowToken: waiting for a token counts against the time of the
// answer, and its end leaves the caller with the question.
func TestAuthorizationSlowToken(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges, func(s *proxytest.Setup) { s.Agent.Answer = quantity.Duration(2 * time.Second) })
	w.Agent.Answers(oddly(nil))
	release := make(chan struct{})
	e.answers(func(http.ResponseWriter, *http.Request) { <-release })
	got := w.Call("tied", wire.SendMessage, proxytest.Message(""))
	close(release)
	if got.Status != 200 || got.Body != asksOddly {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestAuthorizationOneStream: the stream of a reply is the same to the limit.
func TestAuthorizationOneStream(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges, func(s *proxytest.Setup) { s.Server.Limits.Streams = 1 })
	waiting(w)
	for range 3 {
		got := w.CallWaiting(proxytest.RPC10, wire.SendStreamingMessage, "").OK(t, "stream")
		if asksStill(got) {
			t.Errorf("%s", got.Docs)
		}
	}
}
