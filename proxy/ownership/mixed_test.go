package ownership_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// unversioned is a JSON-RPC call in which nothing but the method says a version.
func unversioned(w *proxytest.Gateway, method, params string) proxytest.Response {
	w.Helper()
	return w.Do("tied", http.MethodPost, "", proxytest.RPCBody(method, params))
}

const mixedMessage = `{"message":{"messageId":"m","role":"user","parts":[{"text":"hi"},{"url":"https://files.example/a","mediaType":"image/png"}]}}`

// conversing answers with a task that has a history and an artifact.
func conversing(w http.ResponseWriter, r *proxytest.Request) {
	s := r.Side()
	task := proxytest.TaskIn(s, "t", "c", "completed", `,"history":[{"messageId":"h","role":"`+
		map[bool]string{true: "agent", false: "ROLE_AGENT"}[s == proxytest.RPC03]+`","parts":[{"text":"x"}]}]`)
	if r.Called().Name != wire.GetTask && r.Called().Name != wire.CancelTask {
		task = `{"task":` + task + `}`
	}
	r.Say(w, task)
}

// TestMixedObjects: who calls 0.3's methods with 1.0's objects is answered in 1.0's objects
// with 0.3's words, whatever an agent without 0.3's JSON-RPC speaks, and so is a call about
// the task.
func TestMixedObjects(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
		w.Agent.Answers(conversing)
		for n, tt := range []struct{ method, params, result string }{
			{"message/send", mixedMessage, `"result":{"task":{`},
			{"message/stream", mixedMessage, `"result":{"task":{`},
			{"tasks/get", `{"id":"t"}`, `"result":{"`},
			{"tasks/cancel", `{"id":"t"}`, `"result":{"`},
		} {
			got := unversioned(w, tt.method, tt.params)
			what := agent.String() + " " + tt.method
			proxytest.WantStatus(t, what, got, 200)
			for _, want := range []string{tt.result, `"state":"completed"`, `"role":"agent"`, `"text":"x"`, `"id":7`} {
				if !strings.Contains(got.Body, want) {
					t.Errorf("%s: no %s in %s", what, want, got.Body)
				}
			}
			if strings.Contains(got.Body, `"kind"`) {
				t.Errorf("%s: has a kind: %s", what, got.Body)
			}
			if list, _ := w.RecordOf(n + 1)["quirks"].([]any); len(list) != 1 || list[0] != "mixed-objects" {
				t.Errorf("%s: recorded %v", what, w.RecordOf(n+1))
			}
			seen := w.Agent.One(t)
			if strings.HasPrefix(tt.method, "message") && agent != proxytest.GRPC10 {
				for _, want := range []string{`"role":"ROLE_USER"`, `"url":"https://files.example/a"`} {
					if !strings.Contains(string(seen.Content), want) {
						t.Errorf("%s: the agent got %s", what, seen.Content)
					}
				}
			}
		}
		if got := w.Do("tied", http.MethodPost, "", proxytest.RPCBody("GetTask", `{"id":"t"}`), "A2A-Version: 1.0"); !strings.Contains(got.Body, "TASK_STATE_COMPLETED") {
			t.Errorf("%s: a caller of 1.0 got %s", agent, got.Body)
		}
		w.Agent.Take()
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
		"a kind":              {proxytest.RPC10, kinded, nil, nil},
		"a kind of a part":    {proxytest.RPC10, `{"message":{"messageId":"m","role":"user","parts":[{"text":"hi"},{"kind":"text","text":"hi"}]}}`, nil, nil},
		"a version":           {proxytest.RPC10, text, []string{"A2A-Version: 0.3"}, nil},
		"the quirk is off":    {proxytest.RPC10, text, nil, []agents.Quirk{"zoneless-times"}},
		"the agent speaks it": {proxytest.RPC03, text, nil, nil},
	} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(tt.agent), proxytest.WithTied, func(s *proxytest.Setup) { s.Agent.Quirks = tt.quirks })
		w.Agent.Answers(proxytest.Fluent)
		sent := proxytest.RPCBody("message/send", tt.params)
		got := w.Do("tied", http.MethodPost, "", sent, tt.header...)
		if !strings.Contains(got.Body, `"kind":"task"`) || w.RecordOf(1)["quirks"] != nil {
			t.Errorf("%s: %s, recorded %v", name, got.Body, w.RecordOf(1))
		}
		if seen := w.Agent.One(t); tt.agent == proxytest.RPC03 && string(seen.Content) != sent {
			t.Errorf("%s: the agent got %s", name, seen.Content)
		}
	}
}

// TestMixedIsNoOracle: a task of somebody else's that a mixed call made is answered about like
// one that is not there.
func TestMixedIsNoOracle(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied)
	w.Agent.Answers(conversing)
	proxytest.WantStatus(t, "send", unversioned(w, "message/send", mixedMessage), 200)
	foreign := w.Do("bob", http.MethodPost, "", proxytest.RPCBody("tasks/get", `{"id":"t"}`))
	absent := w.Do("bob", http.MethodPost, "", proxytest.RPCBody("tasks/get", `{"id":"u"}`))
	if foreign.Status != absent.Status || foreign.Body != absent.Body {
		t.Errorf("%s, but %s", foreign.Body, absent.Body)
	}
}
