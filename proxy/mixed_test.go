package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// unversioned is a JSON-RPC call in which nothing but the method says a version.
func (w *world) unversioned(method, params string) answer {
	w.Helper()
	return w.do("tied", http.MethodPost, "", rpcBody(method, params))
}

const mixedMessage = `{"message":{"messageId":"m","role":"user","parts":[{"text":"hi"},{"url":"https://files.example/a","mediaType":"image/png"}]}}`

// conversing answers with a task that has a history and an artifact.
func conversing(w http.ResponseWriter, r *record) {
	s := r.side()
	task := taskIn(s, "t", "c", "completed", `,"history":[{"messageId":"h","role":"`+
		map[bool]string{true: "agent", false: "ROLE_AGENT"}[s == rpc03]+`","parts":[{"text":"x"}]}]`)
	if r.method().Name != wire.GetTask && r.method().Name != wire.CancelTask {
		task = `{"task":` + task + `}`
	}
	r.say(w, task)
}

// TestMixedObjects: who calls 0.3's methods with 1.0's objects is answered in 1.0's objects
// with 0.3's words, whatever an agent without 0.3's JSON-RPC speaks, and so is a call about
// the task.
func TestMixedObjects(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rest10, grpc10} {
		w := in(t, speaks(agent), tied)
		w.agent.answers(conversing)
		for n, tt := range []struct{ method, params, result string }{
			{"message/send", mixedMessage, `"result":{"task":{`},
			{"message/stream", mixedMessage, `"result":{"task":{`},
			{"tasks/get", `{"id":"t"}`, `"result":{"`},
			{"tasks/cancel", `{"id":"t"}`, `"result":{"`},
		} {
			got := w.unversioned(tt.method, tt.params)
			what := agent.String() + " " + tt.method
			wantStatus(t, what, got, 200)
			for _, want := range []string{tt.result, `"state":"completed"`, `"role":"agent"`, `"text":"x"`, `"id":7`} {
				if !strings.Contains(got.body, want) {
					t.Errorf("%s: no %s in %s", what, want, got.body)
				}
			}
			if strings.Contains(got.body, `"kind"`) {
				t.Errorf("%s: has a kind: %s", what, got.body)
			}
			if list, _ := w.ended(n + 1)["quirks"].([]any); len(list) != 1 || list[0] != "mixed-objects" {
				t.Errorf("%s: recorded %v", what, w.ended(n+1))
			}
			seen := w.agent.one(t)
			if strings.HasPrefix(tt.method, "message") && agent != grpc10 {
				for _, want := range []string{`"role":"ROLE_USER"`, `"url":"https://files.example/a"`} {
					if !strings.Contains(string(seen.body), want) {
						t.Errorf("%s: the agent got %s", what, seen.body)
					}
				}
			}
		}
		if got := w.do("tied", http.MethodPost, "", rpcBody("GetTask", `{"id":"t"}`), "A2A-Version: 1.0"); !strings.Contains(got.body, "TASK_STATE_COMPLETED") {
			t.Errorf("%s: a caller of 1.0 got %s", agent, got.body)
		}
		w.agent.take()
	}
}

// TestNotMixed: calls that may be 0.3's are answered in 0.3: where a version or a kind is
// said, where the quirk is off, and where the agent itself speaks 0.3 over JSON-RPC, which
// then gets what was sent.
func TestNotMixed(t *testing.T) {
	t.Parallel()
	const kinded = `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"text":"hi"}]}}`
	const text = `{"message":{"messageId":"m","role":"user","parts":[{"text":"hi"}]}}`
	for name, tt := range map[string]struct {
		agent  wire.Side
		params string
		header []string
		quirks []agents.Quirk
	}{
		"a kind":              {rpc10, kinded, nil, nil},
		"a kind of a part":    {rpc10, `{"message":{"messageId":"m","role":"user","parts":[{"text":"hi"},{"kind":"text","text":"hi"}]}}`, nil, nil},
		"a version":           {rpc10, text, []string{"A2A-Version: 0.3"}, nil},
		"the quirk is off":    {rpc10, text, nil, []agents.Quirk{"zoneless-times"}},
		"the agent speaks it": {rpc03, text, nil, nil},
	} {
		w := in(t, speaks(tt.agent), tied, func(s *setup) { s.agent.Quirks = tt.quirks })
		w.agent.answers(fluent)
		sent := rpcBody("message/send", tt.params)
		got := w.do("tied", http.MethodPost, "", sent, tt.header...)
		if !strings.Contains(got.body, `"kind":"task"`) || w.ended(1)["quirks"] != nil {
			t.Errorf("%s: %s, recorded %v", name, got.body, w.ended(1))
		}
		if seen := w.agent.one(t); tt.agent == rpc03 && string(seen.body) != sent {
			t.Errorf("%s: the agent got %s", name, seen.body)
		}
	}
}

// TestMixedIsNoOracle: a task of somebody else's that a mixed call made is answered about like
// one that is not there.
func TestMixedIsNoOracle(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), tied)
	w.agent.answers(conversing)
	wantStatus(t, "send", w.unversioned("message/send", mixedMessage), 200)
	foreign := w.do("bob", http.MethodPost, "", rpcBody("tasks/get", `{"id":"t"}`))
	absent := w.do("bob", http.MethodPost, "", rpcBody("tasks/get", `{"id":"u"}`))
	if foreign.status != absent.status || foreign.body != absent.body {
		t.Errorf("%s, but %s", foreign.body, absent.body)
	}
}
