package agents_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
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
		w := proxytest.NewGatewayFor(t, card02(version), proxytest.WithTied)
		for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.REST03, proxytest.GRPC03, proxytest.RPC01} {
			w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.IDForV01(caller, "t")}).OK(t, caller.String())
			if body := string(w.Agent.One(t).Content); !strings.Contains(body, filled) {
				t.Errorf("%s to %s: %s", caller, version, body)
			}
			if caller == proxytest.RPC01 {
				continue // has no word for it
			}
			w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage, More: `,"configuration":{` + own + `}`}).OK(t, caller.String())
			if body := string(w.Agent.One(t).Content); !strings.Contains(body, own) || strings.Contains(body, filled) {
				t.Errorf("%s to %s: %s", caller, version, body)
			}
		}
		// Between two that speak alike nothing is filled in.
		sent := proxytest.RPCBody("message/send", proxytest.Ask{Method: wire.SendMessage}.Params(proxytest.RPC03))
		proxytest.WantStatus(t, version, w.Do("tied", "POST", "", sent), 200)
		if body := string(w.Agent.One(t).Content); body != sent {
			t.Errorf("%s: the agent got %s", version, body)
		}
	}
}

// TestOlderPush: lists and deletions of push configs came with 0.2.5.
func TestOlderPush(t *testing.T) {
	t.Parallel()
	for version, later := range map[string]bool{"0.2.4": false, "0.2.5": true, "0.3.0": true} {
		w := proxytest.NewGatewayFor(t, card02(version))
		w.SpeakTask("alice", "t", "c")
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			if r.Called().Name == "ListTaskPushNotificationConfigs" {
				r.Say(rw, "[]")
				return
			}
			r.Say(rw, "null")
		})
		for _, method := range []string{"ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig"} {
			got := w.Call("alice", method, `{"taskId":"t","id":"c"}`)
			if refused := strings.Contains(got.Body, "-32004"); refused == later || later != (len(w.Agent.Take()) == 1) {
				t.Errorf("%s of %s: %d %s", method, version, got.Status, got.Body)
			}
		}
	}
}

// TestOlderExtendedCard: before 0.3 it was a document beside the agent's URL.
func TestOlderExtendedCard(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, card02("0.2.5"), proxytest.WithTied)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		if r.Method != http.MethodGet || r.URL.String() != "/agent/authenticatedExtendedCard" || len(r.Content) > 0 {
			t.Errorf("the agent got %s %s %s", r.Method, r.URL, r.Content)
		}
		if v := r.Header["A2a-Version"]; len(v) != 1 || v[0] != "0.3" || r.Header.Get("X-Api-Key") != "" {
			t.Errorf("the agent got %v", r.Header)
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, strings.Replace(card02("0.2.5")(w.Agent.URL), `"skills":[`,
			`"skills":[{"id":"more","name":"More","description":"m","tags":[]},`, 1))
	})
	for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03, proxytest.GRPC03} {
		got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.GetExtendedAgentCard}).OK(t, caller.String())
		if len(w.Agent.Take()) != 1 {
			t.Errorf("%s: the agent was not asked", caller)
		}
		if len(got.Docs) != 1 || !strings.Contains(got.Docs[0], `"more"`) || strings.Contains(got.Docs[0], w.Agent.URL) {
			t.Errorf("%s: %s", caller, got.Docs)
		}
	}
	w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) { rw.WriteHeader(http.StatusNotFound) })
	for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
		got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.GetExtendedAgentCard})
		if got.Err == nil {
			t.Errorf("%s: %d %s", caller, got.Status, got.Body)
		}
	}
	w.Agent.Take()
	w.BecomeCard(card02("0.3.0"))
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) { r.Say(rw, card02("0.3.0")(w.Agent.URL)) })
	w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.GetExtendedAgentCard}).OK(t, "0.3")
	if seen := w.Agent.One(t); seen.RPC().Method != "agent/getAuthenticatedExtendedCard" {
		t.Errorf("the agent got %s %s %s", seen.Method, seen.URL, seen.Content)
	}
}
