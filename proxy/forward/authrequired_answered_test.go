package forward_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestAuthorizationAnswered: whatever call finds a task waiting, and however either
// side speaks, the agent hears one message with a token for the other system, and the
// caller never sees the question.
func TestAuthorizationAnswered(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		e := newEndpoint(t)
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), e.exchanges)
		for _, caller := range proxytest.CallersOf(i, i) {
			for _, method := range proxytest.WaysToWait {
				what := fmt.Sprintf("%s %s to %s", method, caller, agent)
				task := strings.ReplaceAll("t-"+what, " ", "-")
				w.Given("tied", w.Base, w.Agent, task, "c-"+task, "")
				waiting(w)
				got := w.CallWaiting(caller, method, task, "Idempotency-Key: one", "Accept-Language: de").OK(t, what)
				last := got.Docs[len(got.Docs)-1]
				if asksStill(got) || !strings.Contains(last, "thanks") {
					t.Errorf("%s: %s", what, got.Docs)
				}
				if caller.Binding == wire.JSONRPC && strings.Count(got.Body, `"id":7`) != len(got.Docs) {
					t.Errorf("%s: ids in %s", what, got.Body)
				}
				onlyReply(w, t, what, agent, got)
			}
		}
		if asked := e.take(); len(asked) != 1 || asked[0].Get("audience") != proxytest.CRM || asked[0].Get("subject_token") == "" {
			t.Errorf("%s: the token endpoint was asked %v", agent, asked) // once: tokens are kept
		}
	}
}

// onlyReply checks what the agent heard: one reply to the task that was shown.
func onlyReply(w *proxytest.Gateway, t *testing.T, what string, agent wire.Side, got proxytest.Reply) {
	t.Helper()
	replies, others := shows(w.Agent.Take())
	if len(replies) != 1 {
		t.Fatalf("%s: %d replies", what, len(replies))
	}
	r, c := replies[0], replies[0].Call()
	docs := strings.Join(got.Docs, "")
	if c.TaskID == "" || !strings.Contains(docs, `"`+c.TaskID+`"`) || agent != proxytest.RPC01 && c.ContextID != "c-"+c.TaskID {
		t.Errorf("%s: the reply is to %q in %q, the caller has %s", what, c.TaskID, c.ContextID, docs)
	}
	if c.Method.Subject != wire.OfMessage || !strings.Contains(string(c.Params), "Authorization has been provided.") {
		t.Errorf("%s: the reply is %s", what, r.Content)
	}
	if r.Header.Get("Authorization") != "Bearer gateways-own" || r.Header.Get("X-Api-Key") != "" ||
		r.Header.Get("Idempotency-Key") != "" || r.Header.Get("Accept-Language") != "de" {
		t.Errorf("%s: the reply has %v", what, r.Header)
	}
	for _, text := range []string{w.Keys["tied"], "token-for-crm"} {
		if strings.Contains(string(r.Content), text) || strings.Contains(docs, text) {
			t.Errorf("%s: a credential is in %s or %s", what, r.Content, docs)
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
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges)
	for _, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			what := fmt.Sprintf("%s to %s", method, agent)
			waiting(w)
			got := w.Speak("tied", w.Base, proxytest.RPC01, proxytest.Ask{Method: method, Task: strings.ReplaceAll(what, " ", "-")}).OK(t, what)
			if replies, _ := shows(w.Agent.Take()); asksStill(got) || len(replies) != 1 {
				t.Errorf("%s: %d replies, %s", what, len(replies), got.Docs)
			}
		}
	}
}

// TestAuthorizationInInput: agents that have no state for it, or do not know it, ask for
// input.
func TestAuthorizationInInput(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges)
	for _, method := range proxytest.WaysToWait {
		w.Given("tied", w.Base, w.Agent, method, "c-"+method, "")
		waiting(w).state = "input-required"
		got := w.CallWaiting(proxytest.RPC10, method, method).OK(t, method)
		if replies, _ := shows(w.Agent.Take()); asksStill(got) || len(replies) != 1 {
			t.Errorf("%s: %d replies, %s", method, len(replies), got.Docs)
		}
	}
}

// TestAuthorizationWaits: the reply waits for the task as long as the caller would have.
func TestAuthorizationWaits(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges)
	for _, tt := range []struct {
		caller        wire.Side
		configuration string
		now           bool
	}{
		{proxytest.RPC10, "", false},
		{proxytest.RPC10, `{}`, false},
		{proxytest.RPC10, `{"returnImmediately":true}`, true},
		{proxytest.REST10, `{"return_immediately":true}`, true},
		{proxytest.GRPC10, `{"returnImmediately":true}`, true},
		{proxytest.GRPC10, `{}`, false},
		{proxytest.RPC10, `{"returnImmediately":false}`, false},
		{proxytest.RPC03, "", false},
		{proxytest.RPC03, `{}`, false},
		{proxytest.RPC03, `{"blocking":false}`, true},
		{proxytest.RPC03, `{"blocking":true}`, false},
		{proxytest.REST03, "", false},
		{proxytest.REST03, `{"blocking":true}`, false},
		{proxytest.REST03, `{"acceptedOutputModes":["text"]}`, true},
		{proxytest.GRPC03, `{"blocking":true}`, false},
		{proxytest.GRPC03, `{"acceptedOutputModes":["text"]}`, true},
	} {
		what := fmt.Sprintf("%s %s", tt.caller, tt.configuration)
		waiting(w)
		w.Utter(tt.caller, wire.SendMessage, proxytest.Words{Side: tt.caller}.Send("", "", proxytest.Member("configuration", tt.configuration))).OK(t, what)
		replies, _ := shows(w.Agent.Take())
		if len(replies) != 1 {
			t.Fatalf("%s: %d replies", what, len(replies))
		}
		if now := strings.Contains(string(replies[0].Content), `"returnImmediately":true`); now != tt.now {
			t.Errorf("%s: the reply is %s", what, replies[0].Content)
		}
	}
}

// TestAuthorizationOnce: however many look at a task at the same time, and whether it
// goes on waiting or not, it is answered once.
func TestAuthorizationOnce(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges)
	w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
	waiting(w).always = true
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			got := w.Call("tied", wire.GetTask, `{"id":"t"}`)
			if got.Status != 200 || !strings.Contains(got.Body, proxytest.CRM) { // it still waits, and the caller is told
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
	all.Wait()
	if replies, _ := shows(w.Agent.Take()); len(replies) != 1 {
		t.Errorf("%d replies", len(replies))
	}
	for _, method := range proxytest.WaysToWait {
		got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: method, Task: "t"}).OK(t, method)
		if replies, _ := shows(w.Agent.Take()); len(replies) != 0 || !asksStill(got) {
			t.Errorf("%s: %d further replies, %s", method, len(replies), got.Docs)
		}
	}
}

// TestAuthorizationRecord: the record says that the gateway answered, with what, and
// where the links led; a call that it did not answer says so too.
func TestAuthorizationRecord(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), e.exchanges)
	a := waiting(w)
	w.CallWaiting(proxytest.RPC10, wire.SendMessage, "").OK(t, "answered")
	r := w.RecordOf(1)
	if fmt.Sprintf("%v %v %v %v", r["authorized"], r["credentials"], r["demanded_hosts"], r["task_state"]) !=
		"true [value Authorization exchange X-Crm-Token] [crm.example] TASK_STATE_COMPLETED" {
		t.Errorf("answered: %v %v %v %v", r["authorized"], r["credentials"], r["demanded_hosts"], r["task_state"])
	}
	a.always = true
	w.CallWaiting(proxytest.RPC10, wire.SendStreamingMessage, "").OK(t, "asks on")
	if r := w.RecordOf(2); r["authorized"] != true || r["end"] != "agent finished" || r["events"] != 3.0 {
		t.Errorf("asks on: %v", r)
	}
	text := w.Logs.String()
	for _, secret := range []string{"token-for-crm", w.Keys["tied"]} {
		if strings.Contains(text, secret) || strings.Contains(fmt.Sprint(w.Audited("call")), secret) {
			t.Errorf("a credential is on record")
		}
	}
}
