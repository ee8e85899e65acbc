package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// considering builds a world where a deny rule asks something of a call.
func considering(t testing.TB, expr string, edit ...func(*setup)) *world {
	t.Helper()
	return limited(t, "", append([]func(*setup){func(s *setup) {
		s.policy.Rules = append(s.policy.Rules, policy.Rule{Name: "not so", Effect: "deny", Expr: expr})
	}}, edit...)...)
}

// TestConsiderCalls: what rules may ask of a call is there on every side: the message, the
// task and its owner, the extensions, where it came from.
func TestConsiderCalls(t *testing.T) {
	t.Parallel()
	send := func(s wire.Side) ask { return ask{method: wire.SendMessage, task: taskFor(s)} }
	stream := func(s wire.Side) ask { return ask{method: wire.SendStreamingMessage, task: taskFor(s)} }
	get := func(wire.Side) ask { return ask{method: wire.GetTask, task: "task-1"} }
	asking := func(s wire.Side) ask {
		a := send(s)
		a.header = []string{"A2A-Extensions: urn:declared"}
		return a
	}
	for expr, tt := range map[string]struct{ denied, passes func(wire.Side) ask }{
		`message.parts.exists(p, p.text == "hi")`: {send, get},
		`message.role == "ROLE_USER"`:             {stream, get},
		`task.id == "task-1" && task.owner == "carol" && task.issuer == "api-keys" && task.contextId == "context-1"`: {get, send},
		`"urn:declared" in extensions`: {asking, send},
		`source.address.isLoopback() && source.ip == "127.0.0.1" && now > timestamp("2020-01-01T00:00:00Z") && method == "GetTask"`: {get, send},
	} {
		t.Run(expr, func(t *testing.T) {
			t.Parallel()
			// carol is not concerned while she makes the task.
			w := considering(t, `agent == "rec" && `+expr, func(s *setup) {
				s.policy.Tasks.Scope = "agent"
				s.policy.Rules[1].Subjects = []string{"dave"}
			})
			w.given("carol", w.base, w.agent, "task-1", "context-1", "")
			for _, s := range sides {
				w.speak("dave", w.base, s, tt.denied(s)).refused(t, s.String(), wire.Denied)
				w.agent.silent(t, s.String())
				w.speak("dave", w.base, s, tt.passes(s)).ok(t, s.String())
				w.agent.take()
			}
		})
	}
}

// TestConsiderWays: binding and version of a call are those that the caller uses.
func TestConsiderWays(t *testing.T) {
	t.Parallel()
	for _, s := range sides {
		w := considering(t, fmt.Sprintf("binding == %q && version == %q", s.Binding, s.Version))
		for _, other := range sides {
			got := w.speak("carol", w.base, other, ask{method: wire.SendMessage, task: taskFor(other)})
			if (got.err == nil) == (s == other) {
				t.Errorf("rule for %s, call over %s: %v", s, other, got.err)
			}
		}
	}
}

// TestConsiderFaults: where a rule cannot be evaluated the record says so, without a word
// of the call.
func TestConsiderFaults(t *testing.T) {
	t.Parallel()
	w := considering(t, `message.metadata.amount > 1000`)
	for i, s := range sides {
		got := w.speak("carol", w.base, s, ask{method: wire.SendMessage, task: taskFor(s), inMessage: `,"metadata":{"amount":"private"}`})
		got.refused(t, s.String(), wire.Denied)
		w.agent.silent(t, s.String())
		r := w.lastRecord(i + 1)
		if faults := joined(r["policy_faults"]); !strings.Contains(faults, "not so") || strings.Contains(fmt.Sprint(r), "private") {
			t.Errorf("%s: record %v", s, r)
		}
	}
}

// TestConsiderSharing: the record of a call on somebody else's task says by which entry it
// was let at it. One that is not let at it reads what a task that is not there reads.
func TestConsiderSharing(t *testing.T) {
	t.Parallel()
	w := limited(t, "", func(s *setup) {
		s.policy.Tasks.Sharing = []policy.Sharing{{Name: "dave reads", Owners: []string{"carol"}, Subjects: []string{"dave", "carol"}}}
	})
	w.given("carol", w.base, w.agent, "task-1", "context-1", "")
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		r.say(rw, taskIn(r.side(), "task-1", "context-1", "working", ""))
	})
	n := 1
	for _, s := range sides {
		for who, want := range map[string]string{"carol": "", "dave": "dave reads"} {
			w.speak(who, w.base, s, ask{method: wire.GetTask, task: "task-1"}).ok(t, who+" over "+s.String())
			n++
			if r := w.lastRecord(n); text(r["sharing"]) != want || r["principal"] != who {
				t.Errorf("%s over %s: record %v", who, s, r)
			}
		}
		w.agent.take()
		w.speak("erin", w.base, s, ask{method: wire.GetTask, task: "task-1"}).refused(t, s.String(), wire.TaskNotFound)
		w.speak("dave", w.base, s, ask{method: wire.SendMessage, task: "task-1"}).refused(t, s.String(), wire.TaskNotFound)
		w.agent.silent(t, s.String())
		n += 2
	}
}

// TestConsiderExtensions: a header of extensions that cannot be read is a mistake, before
// any rule is asked.
func TestConsiderExtensions(t *testing.T) {
	t.Parallel()
	w := considering(t, "true")
	got := w.call("alice", "SendMessage", message(""), "A2A-Extensions: not a uri")
	if !strings.Contains(got.body, wire.InvalidRequest.Reason) {
		t.Errorf("%d %s", got.status, got.body)
	}
}
