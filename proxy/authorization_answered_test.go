package proxy_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// ways are the calls that can find a task waiting.
var ways = []string{wire.SendMessage, wire.GetTask, wire.SendStreamingMessage, wire.SubscribeToTask}

// callWaiting makes a call that finds a task waiting: one that it begins, or the one
// that is named, which is to be the caller's.
func (w *world) callWaiting(caller wire.Side, method, task string, header ...string) said {
	a := ask{method: method, header: header}
	if methodOf(method).Subject == wire.OfTask {
		a.task = task
	}
	return w.speak("tied", w.base, caller, a)
}

// TestAuthorizationAnswered: whatever call finds a task waiting, and however either
// side speaks, the agent hears one message with a token for the other system, and the
// caller never sees the question.
func TestAuthorizationAnswered(t *testing.T) {
	t.Parallel()
	for i, agent := range sides {
		e := newEndpoint(t)
		w := in(t, speaks(agent), e.exchanges)
		for _, caller := range callersOf(i, i) {
			for _, method := range ways {
				what := fmt.Sprintf("%s %s to %s", method, caller, agent)
				task := strings.ReplaceAll("t-"+what, " ", "-")
				w.given("tied", w.base, w.agent, task, "c-"+task, "")
				w.waiting()
				got := w.callWaiting(caller, method, task, "Idempotency-Key: one", "Accept-Language: de").ok(t, what)
				last := got.docs[len(got.docs)-1]
				if got.asksStill() || !strings.Contains(last, "thanks") {
					t.Errorf("%s: %s", what, got.docs)
				}
				if caller.Binding == wire.JSONRPC && strings.Count(got.body, `"id":7`) != len(got.docs) {
					t.Errorf("%s: ids in %s", what, got.body)
				}
				w.onlyReply(t, what, agent, got)
			}
		}
		if asked := e.take(); len(asked) != 1 || asked[0].Get("audience") != crm || asked[0].Get("subject_token") == "" {
			t.Errorf("%s: the token endpoint was asked %v", agent, asked) // once: tokens are kept
		}
	}
}

// onlyReply checks what the agent heard: one reply to the task that was shown.
func (w *world) onlyReply(t *testing.T, what string, agent wire.Side, got said) {
	t.Helper()
	replies, others := shows(w.agent.take())
	if len(replies) != 1 {
		t.Fatalf("%s: %d replies", what, len(replies))
	}
	r, c := replies[0], replies[0].call()
	docs := strings.Join(got.docs, "")
	if c.TaskID == "" || !strings.Contains(docs, `"`+c.TaskID+`"`) || agent != rpc01 && c.ContextID != "c-"+c.TaskID {
		t.Errorf("%s: the reply is to %q in %q, the caller has %s", what, c.TaskID, c.ContextID, docs)
	}
	if c.Method.Subject != wire.OfMessage || !strings.Contains(string(c.Params), "Authorization has been provided.") {
		t.Errorf("%s: the reply is %s", what, r.body)
	}
	if r.Header.Get("Authorization") != "Bearer gateways-own" || r.Header.Get("X-Api-Key") != "" ||
		r.Header.Get("Idempotency-Key") != "" || r.Header.Get("Accept-Language") != "de" {
		t.Errorf("%s: the reply has %v", what, r.Header)
	}
	for _, text := range []string{w.keys["tied"], "token-for-crm"} {
		if strings.Contains(string(r.body), text) || strings.Contains(docs, text) {
			t.Errorf("%s: a credential is in %s or %s", what, r.body, docs)
		}
	}
	if len(others) == 0 {
		t.Errorf("%s: the call itself did not come", what)
	}
}

// TestAuthorizationOlderCallers: to callers of 0.1 too, for whom such a task waits for
// input.
func TestAuthorizationOlderCallers(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc10), e.exchanges)
	for _, agent := range sides {
		w.becomes(speaks(agent))
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			what := fmt.Sprintf("%s to %s", method, agent)
			w.waiting()
			got := w.speak("tied", w.base, rpc01, ask{method: method, task: strings.ReplaceAll(what, " ", "-")}).ok(t, what)
			if replies, _ := shows(w.agent.take()); got.asksStill() || len(replies) != 1 {
				t.Errorf("%s: %d replies, %s", what, len(replies), got.docs)
			}
		}
	}
}

// TestAuthorizationInInput: agents that have no state for it, or do not know it, ask for
// input.
func TestAuthorizationInInput(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc10), e.exchanges)
	for _, method := range ways {
		w.given("tied", w.base, w.agent, method, "c-"+method, "")
		w.waiting().state = "input-required"
		got := w.callWaiting(rpc10, method, method).ok(t, method)
		if replies, _ := shows(w.agent.take()); got.asksStill() || len(replies) != 1 {
			t.Errorf("%s: %d replies, %s", method, len(replies), got.docs)
		}
	}
}

// TestAuthorizationWaits: the reply waits for the task as long as the caller would have.
func TestAuthorizationWaits(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc10), e.exchanges)
	for _, tt := range []struct {
		caller        wire.Side
		configuration string
		now           bool
	}{
		{rpc10, "", false},
		{rpc10, `{}`, false},
		{rpc10, `{"returnImmediately":true}`, true},
		{rest10, `{"return_immediately":true}`, true},
		{grpc10, `{"returnImmediately":true}`, true},
		{grpc10, `{}`, false},
		{rpc10, `{"returnImmediately":false}`, false},
		{rpc03, "", false},
		{rpc03, `{}`, false},
		{rpc03, `{"blocking":false}`, true},
		{rpc03, `{"blocking":true}`, false},
		{rest03, "", false},
		{rest03, `{"blocking":true}`, false},
		{rest03, `{"acceptedOutputModes":["text"]}`, true},
		{grpc03, `{"blocking":true}`, false},
		{grpc03, `{"acceptedOutputModes":["text"]}`, true},
	} {
		what := fmt.Sprintf("%s %s", tt.caller, tt.configuration)
		w.waiting()
		w.utter(tt.caller, wire.SendMessage, words{tt.caller}.send("", "", member("configuration", tt.configuration))).ok(t, what)
		replies, _ := shows(w.agent.take())
		if len(replies) != 1 {
			t.Fatalf("%s: %d replies", what, len(replies))
		}
		if now := strings.Contains(string(replies[0].body), `"returnImmediately":true`); now != tt.now {
			t.Errorf("%s: the reply is %s", what, replies[0].body)
		}
	}
}

// TestAuthorizationOnce: however many look at a task at the same time, and whether it
// goes on waiting or not, it is answered once.
func TestAuthorizationOnce(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc10), e.exchanges)
	w.given("tied", w.base, w.agent, "t", "c-t", "")
	w.waiting().always = true
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			got := w.call("tied", wire.GetTask, `{"id":"t"}`)
			if got.status != 200 || !strings.Contains(got.body, crm) { // it still waits, and the caller is told
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
	all.Wait()
	if replies, _ := shows(w.agent.take()); len(replies) != 1 {
		t.Errorf("%d replies", len(replies))
	}
	for _, method := range ways {
		got := w.speak("tied", w.base, rpc10, ask{method: method, task: "t"}).ok(t, method)
		if replies, _ := shows(w.agent.take()); len(replies) != 0 || !got.asksStill() {
			t.Errorf("%s: %d further replies, %s", method, len(replies), got.docs)
		}
	}
}

// TestAuthorizationRecord: the record says that the gateway answered, with what, and
// where the links led; a call that it did not answer says so too.
func TestAuthorizationRecord(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := in(t, speaks(rpc10), e.exchanges)
	a := w.waiting()
	w.callWaiting(rpc10, wire.SendMessage, "").ok(t, "answered")
	r := w.recorded(1)
	if fmt.Sprintf("%v %v %v %v", r["authorized"], r["credentials"], r["demanded_hosts"], r["task_state"]) !=
		"true [value Authorization exchange X-Crm-Token] [crm.example] TASK_STATE_COMPLETED" {
		t.Errorf("answered: %v %v %v %v", r["authorized"], r["credentials"], r["demanded_hosts"], r["task_state"])
	}
	a.always = true
	w.callWaiting(rpc10, wire.SendStreamingMessage, "").ok(t, "asks on")
	if r := w.recorded(2); r["authorized"] != true || r["end"] != "agent finished" || r["events"] != 3.0 {
		t.Errorf("asks on: %v", r)
	}
	text := w.logs.String()
	for _, secret := range []string{"token-for-crm", w.keys["tied"]} {
		if strings.Contains(text, secret) || strings.Contains(fmt.Sprint(w.audited("call")), secret) {
			t.Errorf("a credential is on record")
		}
	}
}
