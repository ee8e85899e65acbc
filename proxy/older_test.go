package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// card02 makes cards of agents of 0.2.
func card02(version string) func(string) string {
	return func(base string) string {
		return fmt.Sprintf(`{"name":"Old","description":"d","version":"1","url":"%s/rpc","protocolVersion":%q,
			"capabilities":{"streaming":true,"pushNotifications":true},"supportsAuthenticatedExtendedCard":true,
			"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain","image/png"],
			"skills":[{"id":"read","name":"Read","description":"r","tags":[],"outputModes":["image/png","audio/ogg"]}]}`, base, version)
	}
}

// TestOlderOutputModes: what agents before 0.2.6 require, and fasta2a's of 0.3, is filled in
// from their cards; a caller's own word stands.
func TestOlderOutputModes(t *testing.T) {
	t.Parallel()
	const filled, own = `"acceptedOutputModes":["text/plain","image/png","audio/ogg"]`, `"acceptedOutputModes":["text/html"]`
	for _, version := range []string{"0.2.0", "0.2.5", "0.2.6", "0.3.0"} {
		w := in(t, card02(version), tied)
		for _, caller := range []wire.Side{rpc10, rest10, grpc10, rest03, grpc03, rpc01} {
			w.speak("tied", w.base, caller, ask{method: wire.SendMessage, task: ifOld(caller, "t")}).ok(t, caller.String())
			if body := string(w.agent.one(t).body); !strings.Contains(body, filled) {
				t.Errorf("%s to %s: %s", caller, version, body)
			}
			if caller == rpc01 {
				continue // has no word for it
			}
			w.speak("tied", w.base, caller, ask{method: wire.SendMessage, more: `,"configuration":{` + own + `}`}).ok(t, caller.String())
			if body := string(w.agent.one(t).body); !strings.Contains(body, own) || strings.Contains(body, filled) {
				t.Errorf("%s to %s: %s", caller, version, body)
			}
		}
		// Between two that speak alike nothing is filled in.
		sent := rpcBody("message/send", ask{method: wire.SendMessage}.params(rpc03))
		wantStatus(t, version, w.do("tied", "POST", "", sent), 200)
		if body := string(w.agent.one(t).body); body != sent {
			t.Errorf("%s: the agent got %s", version, body)
		}
	}
}

// TestOlderPush: lists and deletions of push configs came with 0.2.5.
func TestOlderPush(t *testing.T) {
	t.Parallel()
	for version, later := range map[string]bool{"0.2.4": false, "0.2.5": true, "0.3.0": true} {
		w := in(t, card02(version))
		w.speakTask("alice", "t", "c")
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			if r.method().Name == "ListTaskPushNotificationConfigs" {
				r.say(rw, "[]")
				return
			}
			r.say(rw, "null")
		})
		for _, method := range []string{"ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig"} {
			got := w.call("alice", method, `{"taskId":"t","id":"c"}`)
			if refused := strings.Contains(got.body, "-32004"); refused == later || later != (len(w.agent.take()) == 1) {
				t.Errorf("%s of %s: %d %s", method, version, got.status, got.body)
			}
		}
	}
}

// TestOlderExtendedCard: before 0.3 it was a document beside the agent's URL.
func TestOlderExtendedCard(t *testing.T) {
	t.Parallel()
	w := in(t, card02("0.2.5"), tied)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		if r.Method != http.MethodGet || r.URL.String() != "/agent/authenticatedExtendedCard" || len(r.body) > 0 {
			t.Errorf("the agent got %s %s %s", r.Method, r.URL, r.body)
		}
		if v := r.Header["A2a-Version"]; len(v) != 1 || v[0] != "0.3" || r.Header.Get("X-Api-Key") != "" {
			t.Errorf("the agent got %v", r.Header)
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, strings.Replace(card02("0.2.5")(w.agent.URL), `"skills":[`,
			`"skills":[{"id":"more","name":"More","description":"m","tags":[]},`, 1))
	})
	for _, caller := range []wire.Side{rpc10, rest10, grpc10, rpc03, rest03, grpc03} {
		got := w.speak("tied", w.base, caller, ask{method: wire.GetExtendedAgentCard}).ok(t, caller.String())
		if len(w.agent.take()) != 1 {
			t.Errorf("%s: the agent was not asked", caller)
		}
		if len(got.docs) != 1 || !strings.Contains(got.docs[0], `"more"`) || strings.Contains(got.docs[0], w.agent.URL) {
			t.Errorf("%s: %s", caller, got.docs)
		}
	}
	w.agent.answers(func(rw http.ResponseWriter, _ *record) { rw.WriteHeader(http.StatusNotFound) })
	for _, caller := range []wire.Side{rpc10, rest10, grpc10} {
		got := w.speak("tied", w.base, caller, ask{method: wire.GetExtendedAgentCard})
		if got.err == nil {
			t.Errorf("%s: %d %s", caller, got.status, got.body)
		}
	}
	w.agent.take()
	w.becomes(card02("0.3.0"))
	w.agent.answers(func(rw http.ResponseWriter, r *record) { r.say(rw, card02("0.3.0")(w.agent.URL)) })
	w.speak("tied", w.base, rpc10, ask{method: wire.GetExtendedAgentCard}).ok(t, "0.3")
	if seen := w.agent.one(t); seen.rpc().Method != "agent/getAuthenticatedExtendedCard" {
		t.Errorf("the agent got %s %s %s", seen.Method, seen.URL, seen.body)
	}
}
