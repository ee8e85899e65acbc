package proxy_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// onlyIn answers in one version, and knows no method of another.
func onlyIn(v wire.Version) func(http.ResponseWriter, *record) {
	return func(w http.ResponseWriter, r *record) {
		if r.side().Version != v {
			r.fail(w, wire.MethodNotFound, "Method not found")
			return
		}
		fluent(w, r)
	}
}

// warned is how often the log has told of an agent that speaks another version.
func (w *world) warned() int {
	return strings.Count(w.logs.String(), "agent speaks another version of A2A")
}

// TestCardOfAnotherVersion: an agent that speaks a caller's version, and not its card's, is
// called in that, by callers of every version from then on.
func TestCardOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ card, agent wire.Side }{
		{rpc03, rpc10}, {rpc03, rpc01}, {rpc10, rpc03}, {rpc10, rpc01}, {rpc01, rpc03}, {rpc01, rpc10},
	} {
		for _, caller := range sides {
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				if caller.Version != tt.agent.Version {
					continue
				}
				w := in(t, speaks(tt.card), tied)
				w.agent.answers(onlyIn(tt.agent.Version))
				what := tt.card.String() + " for " + tt.agent.String() + ", " + caller.String() + " " + method
				task := "" // which clients of 0.1 choose
				if caller == rpc01 {
					task = "chosen"
				}
				w.speak("tied", w.base, caller, ask{method: method, task: task}).ok(t, what)
				if n := len(w.agent.take()); n != 2 || w.warned() != 1 {
					t.Errorf("%s: %d calls, %d warnings", what, n, w.warned())
				}
				for _, other := range sides { // it is known now
					w.speak("tied", w.base, other, ask{method: wire.SendMessage, task: map[bool]string{true: "other"}[other == rpc01]}).ok(t, what+", then "+other.String())
				}
				for _, r := range w.agent.take() {
					if r.side().Version != tt.agent.Version {
						t.Errorf("%s: then called in %s", what, r.side())
					}
				}
				if n := w.warned(); n != 1 {
					t.Errorf("%s: %d warnings", what, n)
				}
				if n := len(w.audited("call")); n != 1+len(sides) {
					t.Errorf("%s: %d records of %d calls", what, n, 1+len(sides))
				}
			}
		}
	}
}

// TestMethodUnknownInAnyVersion: an agent that knows no such method is asked once in the
// caller's version, and its answer passes.
func TestMethodUnknownInAnyVersion(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc03), tied)
	w.agent.answers(onlyIn("none"))
	for n, want := range []int{2, 1, 1} {
		w.speak("tied", w.base, rpc10, ask{method: wire.SendMessage}).refused(t, "unknown", wire.MethodNotFound)
		if got := len(w.agent.take()); got != want {
			t.Errorf("call %d: sent %d times, want %d", n, got, want)
		}
	}
	w.speak("tied", w.base, rpc03, ask{method: wire.SendMessage}).refused(t, "in the version of the card", wire.MethodNotFound)
	if got := len(w.agent.take()); got != 1 || w.warned() != 0 {
		t.Errorf("in the version of the card: sent %d times, %d warnings", got, w.warned())
	}
	// Another card may be right.
	w.agent.answers(onlyIn(wire.V10))
	w.becomes(func(base string) string { return strings.Replace(speaks(rpc03)(base), `"Recorder"`, `"Renewed"`, 1) })
	w.agent.take()
	w.speak("tied", w.base, rpc10, ask{method: wire.SendMessage}).ok(t, "another card")
}

// TestOperatorsVersionIsKept: nothing is tried beside what the operator has written down.
func TestOperatorsVersionIsKept(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), tied, func(s *setup) {
		u, err := url.Parse(s.agent.Card.URL.Reveal())
		must(t, err)
		s.agent.Interfaces = []card.InterfaceConfig{{URL: secret.URL("http://" + u.Host + "/rpc"), Binding: "JSONRPC", Version: "0.3"}}
	})
	w.agent.answers(onlyIn(wire.V10))
	w.speak("tied", w.base, rpc10, ask{method: wire.SendMessage}).refused(t, "written down", wire.MethodNotFound)
	if got := len(w.agent.take()); got != 1 {
		t.Errorf("sent %d times", got)
	}
}

// TestErrorsOtherThanUnknown: what the agent may have begun is not sent twice.
func TestErrorsOtherThanUnknown(t *testing.T) {
	t.Parallel()
	for _, k := range []*wire.Kind{wire.InvalidParams, wire.InvalidRequest, wire.Internal, wire.TaskNotFound, wire.Unsupported} {
		w := in(t, speaks(rpc03), tied)
		w.agent.answers(func(rw http.ResponseWriter, r *record) { r.fail(rw, k, "no") })
		if got := w.speak("tied", w.base, rpc10, ask{method: wire.SendMessage}); got.err == nil {
			t.Errorf("%s: answered %s", k.Reason, got.body)
		}
		if got := len(w.agent.take()); got != 1 {
			t.Errorf("%s: sent %d times", k.Reason, got)
		}
	}
}

// TestA01_OtherVersionForeignTask: a task of somebody else's is one in whichever version the
// agent turns out to speak.
func TestA01_OtherVersionForeignTask(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc03))
	w.agent.answers(onlyIn(wire.V01))
	w.speak("alice", w.base, rpc01, ask{method: wire.SendMessage, task: "hers"}).ok(t, "alice's")
	w.agent.take()
	w.becomes(func(base string) string { return strings.Replace(speaks(rpc03)(base), `"Recorder"`, `"Renewed"`, 1) }) // all is forgotten
	w.agent.take()
	w.speak("bob", w.base, rpc01, ask{method: wire.SendMessage, task: "hers"}).refused(t, "bob's", wire.TaskNotFound)
	for _, r := range w.agent.take() {
		if r.side().Version == wire.V01 && strings.Contains(string(r.body), `"hers"`) {
			t.Errorf("bob's call reached alice's task: %s", r.body)
		}
	}
	w.speak("alice", w.base, rpc01, ask{method: wire.SendMessage, task: "hers"}).ok(t, "alice's again")
}

// TestWebhookOfAnotherVersion: of a message that is sent in two versions one webhook is
// registered, that of the call which the agent has taken.
func TestWebhookOfAnotherVersion(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc03), tied, relayed)
	w.agent.answers(onlyIn(wire.V10))
	w.speak("tied", w.base, rpc10, ask{
		method: wire.SendMessage, more: `,"configuration":{"taskPushNotificationConfig":{"url":"https://hooks.example.com/a"}}`,
	}).ok(t, "with a webhook")
	sent := w.agent.take()
	if len(sent) != 2 {
		t.Fatalf("sent %d times", len(sent))
	}
	refused, taken := givenIn(t, sent[0]), givenIn(t, sent[1])
	const event = `{"statusUpdate":{"taskId":"x","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
	if got := w.notify(refused, event); got.status != http.StatusNotFound {
		t.Errorf("the webhook of the call that was refused: %d %s", got.status, got.body)
	}
	if got := w.notify(taken, event); got.status == http.StatusNotFound || taken.URL == refused.URL {
		t.Errorf("the webhook of the call that was taken: %d %s", got.status, got.body)
	}
}
