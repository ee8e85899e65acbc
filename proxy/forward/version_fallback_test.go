package forward_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// onlyIn answers in one version, and knows no method of another.
func onlyIn(v wire.Version) func(http.ResponseWriter, *proxytest.Request) {
	return func(w http.ResponseWriter, r *proxytest.Request) {
		if r.Side().Version != v {
			r.Fail(w, wire.MethodNotFound, "Method not found")
			return
		}
		proxytest.Fluent(w, r)
	}
}

// warned is how often the log has told of an agent that speaks another version.
func warned(w *proxytest.Gateway) int {
	return strings.Count(w.Logs.String(), "agent speaks another version of A2A")
}

// TestCardOfAnotherVersion: an agent that speaks a caller's version, and not its card's, is
// called in that, by callers of every version from then on.
func TestCardOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ card, agent wire.Side }{
		{proxytest.RPC03, proxytest.RPC10}, {proxytest.RPC03, proxytest.RPC01}, {proxytest.RPC10, proxytest.RPC03}, {proxytest.RPC10, proxytest.RPC01}, {proxytest.RPC01, proxytest.RPC03}, {proxytest.RPC01, proxytest.RPC10},
	} {
		for _, caller := range proxytest.Sides {
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				if caller.Version != tt.agent.Version {
					continue
				}
				w := proxytest.NewGatewayFor(t, proxytest.CardFor(tt.card), proxytest.WithTied)
				w.Agent.Answers(onlyIn(tt.agent.Version))
				what := tt.card.String() + " for " + tt.agent.String() + ", " + caller.String() + " " + method
				task := "" // which clients of 0.1 choose
				if caller == proxytest.RPC01 {
					task = "chosen"
				}
				w.Speak("tied", w.Base, caller, proxytest.Ask{Method: method, Task: task}).OK(t, what)
				if n := len(w.Agent.Take()); n != 2 || warned(w) != 1 {
					t.Errorf("%s: %d calls, %d warnings", what, n, warned(w))
				}
				for _, other := range proxytest.Sides { // it is known now
					w.Speak("tied", w.Base, other, proxytest.Ask{Method: wire.SendMessage, Task: map[bool]string{true: "other"}[other == proxytest.RPC01]}).OK(t, what+", then "+other.String())
				}
				for _, r := range w.Agent.Take() {
					if r.Side().Version != tt.agent.Version {
						t.Errorf("%s: then called in %s", what, r.Side())
					}
				}
				if n := warned(w); n != 1 {
					t.Errorf("%s: %d warnings", what, n)
				}
				if n := len(w.Audited("call")); n != 1+len(proxytest.Sides) {
					t.Errorf("%s: %d records of %d calls", what, n, 1+len(proxytest.Sides))
				}
			}
		}
	}
}

// TestMethodUnknownInAnyVersion: an agent that knows no such method is asked once in the
// caller's version, and its answer passes.
func TestMethodUnknownInAnyVersion(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), proxytest.WithTied)
	w.Agent.Answers(onlyIn("none"))
	for n, want := range []int{2, 1, 1} {
		w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}).Refused(t, "unknown", wire.MethodNotFound)
		if got := len(w.Agent.Take()); got != want {
			t.Errorf("call %d: sent %d times, want %d", n, got, want)
		}
	}
	w.Speak("tied", w.Base, proxytest.RPC03, proxytest.Ask{Method: wire.SendMessage}).Refused(t, "in the version of the card", wire.MethodNotFound)
	if got := len(w.Agent.Take()); got != 1 || warned(w) != 0 {
		t.Errorf("in the version of the card: sent %d times, %d warnings", got, warned(w))
	}
	// Another card may be right.
	w.Agent.Answers(onlyIn(wire.V10))
	w.BecomeCard(func(base string) string {
		return strings.Replace(proxytest.CardFor(proxytest.RPC03)(base), `"Recorder"`, `"Renewed"`, 1)
	})
	w.Agent.Take()
	w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}).OK(t, "another card")
}

// TestOperatorsVersionIsKept: nothing is tried beside what the operator has written down.
func TestOperatorsVersionIsKept(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied, func(s *proxytest.Setup) {
		u, err := url.Parse(s.Agent.Card.URL.Reveal())
		proxytest.Must(t, err)
		s.Agent.Interfaces = []card.InterfaceConfig{{URL: secret.URL("http://" + u.Host + "/rpc"), Binding: "JSONRPC", Version: "0.3"}}
	})
	w.Agent.Answers(onlyIn(wire.V10))
	w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}).Refused(t, "written down", wire.MethodNotFound)
	if got := len(w.Agent.Take()); got != 1 {
		t.Errorf("sent %d times", got)
	}
}

// TestErrorsOtherThanUnknown: what the agent may have begun is not sent twice.
func TestErrorsOtherThanUnknown(t *testing.T) {
	t.Parallel()
	for _, k := range []*wire.Kind{wire.InvalidParams, wire.InvalidRequest, wire.Internal, wire.TaskNotFound, wire.Unsupported} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), proxytest.WithTied)
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, k, "no") })
		if got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}); got.Err == nil {
			t.Errorf("%s: answered %s", k.Reason, got.Body)
		}
		if got := len(w.Agent.Take()); got != 1 {
			t.Errorf("%s: sent %d times", k.Reason, got)
		}
	}
}

// TestA01_OtherVersionForeignTask: a task of somebody else's is one in whichever version the
// agent turns out to speak.
func TestA01_OtherVersionForeignTask(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03))
	w.Agent.Answers(onlyIn(wire.V01))
	w.Speak("alice", w.Base, proxytest.RPC01, proxytest.Ask{Method: wire.SendMessage, Task: "hers"}).OK(t, "alice's")
	w.Agent.Take()
	w.BecomeCard(func(base string) string {
		return strings.Replace(proxytest.CardFor(proxytest.RPC03)(base), `"Recorder"`, `"Renewed"`, 1)
	}) // all is forgotten
	w.Agent.Take()
	w.Speak("bob", w.Base, proxytest.RPC01, proxytest.Ask{Method: wire.SendMessage, Task: "hers"}).Refused(t, "bob's", wire.TaskNotFound)
	for _, r := range w.Agent.Take() {
		if r.Side().Version == wire.V01 && strings.Contains(string(r.Content), `"hers"`) {
			t.Errorf("bob's call reached alice's task: %s", r.Content)
		}
	}
	w.Speak("alice", w.Base, proxytest.RPC01, proxytest.Ask{Method: wire.SendMessage, Task: "hers"}).OK(t, "alice's again")
}

// TestWebhookOfAnotherVersion: of a message that is sent in two versions one webhook is
// registered, that of the call which the agent has taken.
func TestWebhookOfAnotherVersion(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), proxytest.WithTied, proxytest.WithRelay)
	w.Agent.Answers(onlyIn(wire.V10))
	w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{
		Method: wire.SendMessage, More: `,"configuration":{"taskPushNotificationConfig":{"url":"https://hooks.example.com/a"}}`,
	}).OK(t, "with a webhook")
	sent := w.Agent.Take()
	if len(sent) != 2 {
		t.Fatalf("sent %d times", len(sent))
	}
	refused, taken := proxytest.GivenIn(t, sent[0]), proxytest.GivenIn(t, sent[1])
	const event = `{"statusUpdate":{"taskId":"x","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
	if got := w.Notify(refused, event); got.Status != http.StatusNotFound {
		t.Errorf("the webhook of the call that was refused: %d %s", got.Status, got.Body)
	}
	if got := w.Notify(taken, event); got.Status == http.StatusNotFound || taken.URL == refused.URL {
		t.Errorf("the webhook of the call that was taken: %d %s", got.Status, got.Body)
	}
}
