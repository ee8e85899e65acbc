package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
)

// TestConsultRefusals: what a caller reads when an authorizer says no or nothing, on every
// side, and that the agent hears of nothing.
func TestConsultRefusals(t *testing.T) {
	t.Parallel()
	const secret = "quarterly secret"
	tests := map[string]struct {
		answer string
		status int
		kind   *wire.Kind
		rpc    int
		retry  string
		result string // of the metric
		cause  string
	}{
		"no": {`{"decision":false,"context":{"reason_admin":{"en":"` + secret + `"}}}`, 200,
			wire.Denied, 7, "", "deny", secret},
		"an error":   {`{}`, 500, wire.Unavailable, 14, "^5$", "error", "HTTP status 500"},
		"no word":    {`{"decision":"yes"}`, 200, wire.Unavailable, 14, "^5$", "error", ""},
		"not liked":  {`{}`, 400, wire.Unavailable, 14, "^5$", "error", "HTTP status 400"},
		"a redirect": {`{}`, 307, wire.Unavailable, 14, "^5$", "error", "HTTP status 307"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, s := range sides {
				w, d := consulting(t, nil)
				d.decide(tt.answer, tt.status)
				what := fmt.Sprintf("%s over %s", name, s)
				got := w.speak("carol", w.base, s, ask{method: wire.SendMessage, task: taskFor(s)})
				got.refused(t, what, tt.kind)
				if s.Binding == wire.GRPC && got.code != tt.rpc || s.Binding != wire.GRPC && got.status != tt.kind.HTTP {
					t.Errorf("%s: status %d, of gRPC %d", what, got.status, got.code)
				}
				headed(t, what, got, "Retry-After", tt.retry)
				if strings.Contains(got.body, secret) || strings.Contains(got.body, "pdp") || strings.Contains(fmt.Sprint(got.header), secret) {
					t.Errorf("%s: the caller reads %s", what, got.body)
				}
				w.agent.silent(t, what)
				if asked := d.take(); len(asked) != 1 {
					t.Errorf("%s: it was asked %d times", what, len(asked))
				}
				r := w.lastRecord(1)
				if r["reason"] != tt.kind.Reason || !strings.Contains(text(r["cause"]), tt.cause) || !strings.Contains(text(r["cause"]), "pdp") {
					t.Errorf("%s: record %v", what, r)
				}
				if all := w.measured("authorizer_requests_total"); i == 0 && all[fmt.Sprintf(`authorizer="pdp",result=%q`, tt.result)] != "1" {
					t.Errorf("%s: metrics %v", what, all)
				}
			}
		})
	}
}

// TestConsultUnreachable: an authorizer that is not there refuses, or is passed over where
// that is configured, and the record says so.
func TestConsultUnreachable(t *testing.T) {
	t.Parallel()
	for onFailure, status := range map[string]int{"deny": 503, "allow": 200} {
		w, d := consulting(t, func(a *pdp.Authorizer) { a.OnFailure = onFailure })
		d.Close()
		wantStatus(t, onFailure, w.call("alice", "SendMessage", message("")), status)
		r := w.lastRecord(1)
		if passed := strings.Contains(joined(r["authorizers"]), "passed over"); passed != (onFailure == "allow") {
			t.Errorf("%s: record %v", onFailure, r)
		}
	}
}

// TestConsultShadow: an authorizer in shadow mode refuses nothing, and the record has what
// it would have refused.
func TestConsultShadow(t *testing.T) {
	t.Parallel()
	w, d := consulting(t, func(a *pdp.Authorizer) { a.Mode = "shadow" })
	d.decide(`{"decision":false}`, 200)
	wantStatus(t, "shadow", w.call("alice", "SendMessage", message("")), 200)
	if r := w.lastRecord(1); r["decision"] != "allow" || !strings.Contains(joined(r["authorizers"]), "pdp") {
		t.Errorf("record %v", r)
	}
}

// TestConsultLast: an authorizer is asked about what rules and limits let pass, and about
// nothing else.
func TestConsultLast(t *testing.T) {
	t.Parallel()
	w, d := consulting(t, nil, func(s *setup) {
		s.limits = read[limits.Config](t, `each: [{name: once, rate: {units: 1, per: 1h}}]`)
		s.policy.Rules = append(s.policy.Rules, denyMethod(wire.SendStreamingMessage, "alice"))
	})
	wantStatus(t, "a stranger", w.call("mallory", "SendMessage", message("")), 404)
	wantStatus(t, "a denied call", w.call("alice", "SendStreamingMessage", message("")), 403)
	wantStatus(t, "somebody's task", w.call("alice", "GetTask", `{"id":"x"}`), 200)
	if asked := d.take(); len(asked) != 0 {
		t.Errorf("it was asked %s", asked)
	}
	wantStatus(t, "a call", w.call("alice", "SendMessage", message("")), 200)
	wantStatus(t, "one too many", w.call("alice", "SendMessage", message("")), 429)
	if asked := d.take(); len(asked) != 1 {
		t.Errorf("it was asked %s", asked)
	}
}

// TestConsultQuestion: what an authorizer is told of a call, on every side. It is never
// told the credential or what the message says.
func TestConsultQuestion(t *testing.T) {
	t.Parallel()
	w, d := consulting(t, func(a *pdp.Authorizer) { a.Message = true })
	w.given("carol", w.base, w.agent, "task-1", "context-1", "")
	d.take()
	for _, s := range sides {
		what := fmt.Sprint(s)
		w.speak("carol", w.base, s, ask{method: wire.SendMessage, task: "task-1", header: []string{"A2A-Extensions: urn:declared"}}).ok(t, what)
		asked := d.take()
		if len(asked) != 1 {
			t.Fatalf("%s: it was asked %d times", what, len(asked))
		}
		var q struct {
			Subject  struct{ ID string }
			Action   struct{ Name string }
			Resource struct {
				Type, ID   string
				Properties struct{ Agent, Task, Context string }
			}
			Context struct {
				Source     string
				Extensions []string
				Message    struct{ Parts []struct{ Kind string } }
			}
		}
		must(t, json.Unmarshal([]byte(asked[0]), &q, json.MatchCaseInsensitiveNames(true)))
		p := q.Resource.Properties
		if q.Subject.ID != "carol" || q.Action.Name != wire.SendMessage || p.Agent != "rec" || p.Task != "task-1" ||
			q.Context.Source != "127.0.0.1" || len(q.Context.Message.Parts) != 1 || q.Context.Message.Parts[0].Kind != "text" {
			t.Errorf("%s: %s", what, asked[0])
		}
		if len(q.Context.Extensions) != 1 || q.Context.Extensions[0] != "urn:declared" {
			t.Errorf("%s: extensions %v", what, q.Context.Extensions)
		}
		if strings.Contains(asked[0], w.keys["carol"]) || strings.Contains(asked[0], `"hi"`) {
			t.Errorf("%s: it was told %s", what, asked[0])
		}
	}
}

// TestConsultSkills: it is told the skill, or those that a call may be for.
func TestConsultSkills(t *testing.T) {
	t.Parallel()
	w, d := consulting(t, nil)
	wantStatus(t, "one skill", w.do("alice", "POST", "/skills/read", rpcBody("SendMessage", message("")), "A2A-Version: 1.0"), 200)
	wantStatus(t, "any skill", w.call("alice", "SendMessage", message("")), 200)
	wantStatus(t, "no skill", w.call("alice", "ListTasks", `{}`), 200)
	asked := d.take()
	if len(asked) != 3 {
		t.Fatalf("it was asked %s", asked)
	}
	for i, want := range []string{
		`"resource":{"type":"a2a_skill","id":"rec/read"`, `"skills":["read","write it"]`, `"resource":{"type":"a2a_agent","id":"rec"`,
	} {
		if !strings.Contains(asked[i], want) {
			t.Errorf("question %d lacks %s: %s", i, want, asked[i])
		}
	}
	if strings.Contains(asked[2], `"skills"`) {
		t.Errorf("a call about no skill: %s", asked[2])
	}
}
