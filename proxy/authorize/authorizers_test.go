package authorize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
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
			for i, s := range proxytest.Sides {
				w, d := consulting(t, nil)
				d.decide(tt.answer, tt.status)
				what := fmt.Sprintf("%s over %s", name, s)
				got := w.Speak("carol", w.Base, s, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.NewTaskID(s)})
				got.Refused(t, what, tt.kind)
				if s.Binding == wire.GRPC && got.Code != tt.rpc || s.Binding != wire.GRPC && got.Status != tt.kind.HTTP {
					t.Errorf("%s: status %d, of gRPC %d", what, got.Status, got.Code)
				}
				proxytest.WantHeader(t, what, got, "Retry-After", tt.retry)
				if strings.Contains(got.Body, secret) || strings.Contains(got.Body, "pdp") || strings.Contains(fmt.Sprint(got.Header), secret) {
					t.Errorf("%s: the caller reads %s", what, got.Body)
				}
				w.Agent.Silent(t, what)
				if asked := d.take(); len(asked) != 1 {
					t.Errorf("%s: it was asked %d times", what, len(asked))
				}
				r := lastRecord(w, 1)
				if r["reason"] != tt.kind.Reason || !strings.Contains(proxytest.TextOf(r["cause"]), tt.cause) || !strings.Contains(proxytest.TextOf(r["cause"]), "pdp") {
					t.Errorf("%s: record %v", what, r)
				}
				if all := w.Measured("authorizer_requests_total"); i == 0 && all[fmt.Sprintf(`authorizer="pdp",result=%q`, tt.result)] != "1" {
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
		proxytest.WantStatus(t, onFailure, w.Call("alice", "SendMessage", proxytest.Message("")), status)
		r := lastRecord(w, 1)
		if passed := strings.Contains(proxytest.JoinedText(r["authorizers"]), "passed over"); passed != (onFailure == "allow") {
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
	proxytest.WantStatus(t, "shadow", w.Call("alice", "SendMessage", proxytest.Message("")), 200)
	if r := lastRecord(w, 1); r["decision"] != "allow" || !strings.Contains(proxytest.JoinedText(r["authorizers"]), "pdp") {
		t.Errorf("record %v", r)
	}
}

// TestConsultLast: an authorizer is asked about what rules and limits let pass, and about
// nothing else.
func TestConsultLast(t *testing.T) {
	t.Parallel()
	w, d := consulting(t, nil, func(s *proxytest.Setup) {
		s.Limits = proxytest.Read[limits.Config](t, `each: [{name: once, rate: {units: 1, per: 1h}}]`)
		s.Policy.Rules = append(s.Policy.Rules, denyMethod(wire.SendStreamingMessage, "alice"))
	})
	proxytest.WantStatus(t, "a stranger", w.Call("mallory", "SendMessage", proxytest.Message("")), 404)
	proxytest.WantStatus(t, "a denied call", w.Call("alice", "SendStreamingMessage", proxytest.Message("")), 403)
	proxytest.WantStatus(t, "somebody's task", w.Call("alice", "GetTask", `{"id":"x"}`), 200)
	if asked := d.take(); len(asked) != 0 {
		t.Errorf("it was asked %s", asked)
	}
	proxytest.WantStatus(t, "a call", w.Call("alice", "SendMessage", proxytest.Message("")), 200)
	proxytest.WantStatus(t, "one too many", w.Call("alice", "SendMessage", proxytest.Message("")), 429)
	if asked := d.take(); len(asked) != 1 {
		t.Errorf("it was asked %s", asked)
	}
}

// TestConsultQuestion: what an authorizer is told of a call, on every side. It is never
// told the credential or what the message says.
func TestConsultQuestion(t *testing.T) {
	t.Parallel()
	w, d := consulting(t, func(a *pdp.Authorizer) { a.Message = true })
	w.Given("carol", w.Base, w.Agent, "task-1", "context-1", "")
	d.take()
	for _, s := range proxytest.Sides {
		what := fmt.Sprint(s)
		w.Speak("carol", w.Base, s, proxytest.Ask{Method: wire.SendMessage, Task: "task-1", Header: []string{"A2A-Extensions: urn:declared"}}).OK(t, what)
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
		proxytest.Must(t, json.Unmarshal([]byte(asked[0]), &q, json.MatchCaseInsensitiveNames(true)))
		p := q.Resource.Properties
		if q.Subject.ID != "carol" || q.Action.Name != wire.SendMessage || p.Agent != "rec" || p.Task != "task-1" ||
			q.Context.Source != "127.0.0.1" || len(q.Context.Message.Parts) != 1 || q.Context.Message.Parts[0].Kind != "text" {
			t.Errorf("%s: %s", what, asked[0])
		}
		if len(q.Context.Extensions) != 1 || q.Context.Extensions[0] != "urn:declared" {
			t.Errorf("%s: extensions %v", what, q.Context.Extensions)
		}
		if strings.Contains(asked[0], w.Keys["carol"]) || strings.Contains(asked[0], `"hi"`) {
			t.Errorf("%s: it was told %s", what, asked[0])
		}
	}
}

// TestConsultSkills: it is told the skill, or those that a call may be for.
func TestConsultSkills(t *testing.T) {
	t.Parallel()
	w, d := consulting(t, nil)
	proxytest.WantStatus(t, "one skill", w.Do("alice", "POST", "/skills/read", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0"), 200)
	proxytest.WantStatus(t, "any skill", w.Call("alice", "SendMessage", proxytest.Message("")), 200)
	proxytest.WantStatus(t, "no skill", w.Call("alice", "ListTasks", `{}`), 200)
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
