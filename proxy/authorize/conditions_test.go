package authorize_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestConsiderCalls: what rules may ask of a call is there on every side: the message, the
// task and its owner, the extensions, where it came from.
func TestConsiderCalls(t *testing.T) {
	t.Parallel()
	send := func(s wire.Side) proxytest.Ask {
		return proxytest.Ask{Method: wire.SendMessage, Task: proxytest.NewTaskID(s)}
	}
	stream := func(s wire.Side) proxytest.Ask {
		return proxytest.Ask{Method: wire.SendStreamingMessage, Task: proxytest.NewTaskID(s)}
	}
	get := func(wire.Side) proxytest.Ask { return proxytest.Ask{Method: wire.GetTask, Task: "task-1"} }
	asking := func(s wire.Side) proxytest.Ask {
		a := send(s)
		a.Header = []string{"A2A-Extensions: urn:declared"}
		return a
	}
	for expr, tt := range map[string]struct{ denied, passes func(wire.Side) proxytest.Ask }{
		`message.parts.exists(p, p.text == "hi")`: {send, get},
		`message.role == "ROLE_USER"`:             {stream, get},
		`task.id == "task-1" && task.owner == "carol" && task.issuer == "api-keys" && task.contextId == "context-1"`: {get, send},
		`"urn:declared" in extensions`: {asking, send},
		`source.address.isLoopback() && source.ip == "127.0.0.1" && now > timestamp("2020-01-01T00:00:00Z") && method == "GetTask"`: {get, send},
	} {
		t.Run(expr, func(t *testing.T) {
			t.Parallel()
			// carol is not concerned while she makes the task.
			w := proxytest.NewDenyingGateway(t, `agent == "rec" && `+expr, func(s *proxytest.Setup) {
				s.Policy.Tasks.Scope = "agent"
				s.Policy.Rules[1].Subjects = []string{"dave"}
			})
			w.Given("carol", w.Base, w.Agent, "task-1", "context-1", "")
			for _, s := range proxytest.Sides {
				w.Speak("dave", w.Base, s, tt.denied(s)).Refused(t, s.String(), wire.Denied)
				w.Agent.Silent(t, s.String())
				w.Speak("dave", w.Base, s, tt.passes(s)).OK(t, s.String())
				w.Agent.Take()
			}
		})
	}
}

// TestConsiderWays: binding and version of a call are those that the caller uses.
func TestConsiderWays(t *testing.T) {
	t.Parallel()
	for _, s := range proxytest.Sides {
		w := proxytest.NewDenyingGateway(t, fmt.Sprintf("binding == %q && version == %q", s.Binding, s.Version))
		for _, other := range proxytest.Sides {
			got := w.Speak("carol", w.Base, other, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.NewTaskID(other)})
			if (got.Err == nil) == (s == other) {
				t.Errorf("rule for %s, call over %s: %v", s, other, got.Err)
			}
		}
	}
}

// TestConsiderFaults: where a rule cannot be evaluated the record says so, without a word
// of the call.
func TestConsiderFaults(t *testing.T) {
	t.Parallel()
	w := proxytest.NewDenyingGateway(t, `message.metadata.amount > 1000`)
	for i, s := range proxytest.Sides {
		got := w.Speak("carol", w.Base, s, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.NewTaskID(s), InMessage: `,"metadata":{"amount":"private"}`})
		got.Refused(t, s.String(), wire.Denied)
		w.Agent.Silent(t, s.String())
		r := lastRecord(w, i+1)
		if faults := proxytest.JoinedText(r["policy_faults"]); !strings.Contains(faults, "not so") || strings.Contains(fmt.Sprint(r), "private") {
			t.Errorf("%s: record %v", s, r)
		}
	}
}

// TestConsiderSharing: the record of a call on somebody else's task says by which entry it
// was let at it. One that is not let at it reads what a task that is not there reads.
func TestConsiderSharing(t *testing.T) {
	t.Parallel()
	w := proxytest.NewLimitedGateway(t, "", func(s *proxytest.Setup) {
		s.Policy.Tasks.Sharing = []policy.Sharing{{Name: "dave reads", Owners: []string{"carol"}, Subjects: []string{"dave", "carol"}}}
	})
	w.Given("carol", w.Base, w.Agent, "task-1", "context-1", "")
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		r.Say(rw, proxytest.TaskIn(r.Side(), "task-1", "context-1", "working", ""))
	})
	n := 1
	for _, s := range proxytest.Sides {
		for who, want := range map[string]string{"carol": "", "dave": "dave reads"} {
			w.Speak(who, w.Base, s, proxytest.Ask{Method: wire.GetTask, Task: "task-1"}).OK(t, who+" over "+s.String())
			n++
			if r := lastRecord(w, n); proxytest.TextOf(r["sharing"]) != want || r["principal"] != who {
				t.Errorf("%s over %s: record %v", who, s, r)
			}
		}
		w.Agent.Take()
		w.Speak("erin", w.Base, s, proxytest.Ask{Method: wire.GetTask, Task: "task-1"}).Refused(t, s.String(), wire.TaskNotFound)
		w.Speak("dave", w.Base, s, proxytest.Ask{Method: wire.SendMessage, Task: "task-1"}).Refused(t, s.String(), wire.TaskNotFound)
		w.Agent.Silent(t, s.String())
		n += 2
	}
}

// TestConsiderExtensions: a header of extensions that cannot be read is a mistake, before
// any rule is asked.
func TestConsiderExtensions(t *testing.T) {
	t.Parallel()
	w := proxytest.NewDenyingGateway(t, "true")
	got := w.Call("alice", "SendMessage", proxytest.Message(""), "A2A-Extensions: not a uri")
	if !strings.Contains(got.Body, wire.InvalidRequest.Reason) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
