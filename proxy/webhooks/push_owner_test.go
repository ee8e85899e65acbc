package webhooks_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestConfigsOfColleagues: who may use a task may not put a webhook in the place of
// another's, whichever id that has got, and by whichever call.
func TestConfigsOfColleagues(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"tenant", "agent"} {
		for _, agent := range []wire.Side{proxytest.RPC10, proxytest.RPC03, proxytest.REST03} {
			t.Run(scope+" "+agent.String(), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithRelay, proxytest.WithColleagues(scope), func(s *proxytest.Setup) { s.Relay.PerTask = 100 })
				for _, caller := range []wire.Side{proxytest.RPC10, proxytest.RPC03, proxytest.REST03} {
					for _, inline := range []bool{false, true} {
						for _, id := range []string{"", "c1"} {
							replaces(w, caller, inline, id)
						}
					}
				}
			})
		}
	}
}

// replaces has amy register a webhook, and ann try to put one in its place.
func replaces(w *proxytest.Gateway, s wire.Side, inline bool, id string) {
	w.Helper()
	task := strings.NewReplacer(" ", "", "+", "").Replace(fmt.Sprintf("task-%s-%t-%s", s, inline, id))
	w.Given("amy", w.Base, w.Agent, task, "context-"+task, "")
	w.Agent.Answers(proxytest.Registrar)
	proxytest.WantStatus(w, "amy's", w.Registers("amy", s, inline, task, id), 200)
	w.Agent.Take()
	for _, theirs := range []bool{false, true} {
		for _, other := range []string{"", task, "c1", "c2"} {
			what := fmt.Sprintf("%s: amy's %q (inline %t), ann's %q (inline %t)", s, id, inline, other, theirs)
			got := w.Registers("ann", s, theirs, task, other)
			if cmp.Or(other, task) == cmp.Or(id, task) {
				if !strings.Contains(got.Body, "-32001") && !strings.Contains(got.Body, "TASK_NOT_FOUND") && got.Status != 404 {
					w.Errorf("%s: %d %s", what, got.Status, got.Body)
				}
				w.Agent.Silent(w, what)
				continue
			}
			if got.Status != 200 || strings.Contains(got.Body, `"error"`) {
				w.Errorf("%s: %d %s", what, got.Status, got.Body)
			}
			w.Agent.Take()
		}
	}
	proxytest.WantStatus(w, "amy's again", w.Registers("amy", s, inline, task, id), 200)
	w.Agent.Take()
}

// TestConfigsNamedElsewhere: a config says its id in more than one way, and with an agent
// of 0.1 a task has but one.
func TestConfigsNamedElsewhere(t *testing.T) {
	t.Parallel()
	const send = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[],"taskId":"mine"},"configuration":{"taskPushNotificationConfig":%s}}`
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithRelay, proxytest.WithColleagues("tenant"))
	w.Given("amy", w.Base, w.Agent, "mine", "context", "")
	proxytest.WantStatus(t, "amy's", w.Registers("amy", proxytest.RPC10, true, "mine", "c1"), 200)
	w.Agent.Take()
	for _, config := range []string{
		`{"name":"tasks/mine/pushNotificationConfigs/c1","url":"` + proxytest.WebhookURL + `"}`,
		`{"id":"c1","pushNotificationConfig":{"url":"` + proxytest.WebhookURL + `"}}`,
		`{"id":"c1"}`, `{"name":"tasks/mine/pushNotificationConfigs/c1"}`, `{}`,
	} {
		if got := w.Call("ann", "SendMessage", fmt.Sprintf(send, config)); !strings.Contains(got.Body, "-32001") {
			t.Errorf("%s: %d %s", config, got.Status, got.Body)
		}
		w.Agent.Silent(t, config)
	}
	proxytest.WantStatus(t, "no config", w.Call("ann", "SendMessage", fmt.Sprintf(send, "null")), 200)
	w.Agent.Take()

	w = proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC01), proxytest.WithRelay, proxytest.WithColleagues("tenant"))
	w.Given("amy", w.Base, w.Agent, "mine", "context", "")
	w.Agent.Answers(proxytest.Registrar)
	proxytest.WantStatus(t, "amy's", w.Registers("amy", proxytest.RPC10, false, "mine", "c1"), 200)
	w.Agent.Take()
	if got := w.Registers("ann", proxytest.RPC10, false, "mine", "c2"); !strings.Contains(got.Body, "-32001") {
		t.Errorf("the one config: %d %s", got.Status, got.Body)
	}
	w.Agent.Silent(t, "the one config")
}

// TestNoPushWhateverTheTask: of an agent whose card has no push notifications, every call about
// them is refused alike, be the task somebody else's or nobody's (A2A 1.0 §3.3.4).
func TestNoPushWhateverTheTask(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.RPC03} {
		doc := func(base string) string {
			return strings.Replace(proxytest.CardFor(agent)(base), `"pushNotifications":true`, `"pushNotifications":false`, 1)
		}
		w := proxytest.NewGatewayFor(t, doc, proxytest.WithTied)
		w.Given("alice", w.Base, w.Agent, "of-alice", "c", "")
		for _, task := range []string{"of-alice", "nobodys"} {
			for method, params := range map[string]string{
				"CreateTaskPushNotificationConfig": `{"taskId":"%s","url":"https://hooks.example/h"}`,
				"GetTaskPushNotificationConfig":    `{"taskId":"%s","id":"c"}`,
				"ListTaskPushNotificationConfigs":  `{"taskId":"%s"}`,
				"DeleteTaskPushNotificationConfig": `{"taskId":"%s","id":"c"}`,
			} {
				if got := w.Call("bob", method, fmt.Sprintf(params, task)); !strings.Contains(got.Body, `"code":-32003`) {
					t.Errorf("%s of %s from %s: %d %s", method, task, agent, got.Status, got.Body)
				}
			}
			if got := w.Call("bob", "GetTask", `{"id":"`+task+`"}`); !strings.Contains(got.Body, `"code":-32001`) {
				t.Errorf("%s: %d %s", task, got.Status, got.Body)
			}
		}
		w.Agent.Silent(t, "calls on tasks that are not the caller's")
	}
}
