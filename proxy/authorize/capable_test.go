package authorize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// A1: what an agent has no capability for is refused by that, whoever's the task is and
// whether there is one at all, before the agent hears of it (A2A 1.0 §3.3.4).
func TestA01_CapabilityComesBeforeOwnership(t *testing.T) {
	t.Parallel()
	const v10, v03 = "A2A-Version: 1.0", "A2A-Version: 0.3"
	type call struct{ verb, path, body, version string } // TASK stands for the task
	push := []call{
		{"POST", "", proxytest.RPCBody("CreateTaskPushNotificationConfig", `{"taskId":"TASK","url":"https://hooks.example.com/"}`), v10},
		{"POST", "", proxytest.RPCBody("GetTaskPushNotificationConfig", `{"taskId":"TASK","id":"c"}`), v10},
		{"POST", "", proxytest.RPCBody("ListTaskPushNotificationConfigs", `{"taskId":"TASK"}`), v10},
		{"POST", "", proxytest.RPCBody("DeleteTaskPushNotificationConfig", `{"taskId":"TASK","id":"c"}`), v10},
		{"POST", "", proxytest.RPCBody("tasks/pushNotificationConfig/set", `{"taskId":"TASK","pushNotificationConfig":{"url":"https://hooks.example.com/"}}`), v03},
		{"POST", "", proxytest.RPCBody("tasks/pushNotificationConfig/get", `{"id":"TASK"}`), v03},
		{"GET", "/tasks/TASK/pushNotificationConfigs", "", v10},
		{"GET", "/tasks/TASK/pushNotificationConfigs/c", "", v10},
		{"GET", "/v1/tasks/TASK/pushNotificationConfigs", "", v03},
	}
	streams := []call{
		{"POST", "", proxytest.RPCBody("SubscribeToTask", `{"id":"TASK"}`), v10},
		{"POST", "", proxytest.RPCBody("tasks/resubscribe", `{"id":"TASK"}`), v03},
		{"POST", "/tasks/TASK:subscribe", "", v10},
		{"GET", "/tasks/TASK:subscribe", "", v10},
	}
	for _, tt := range []struct {
		name, from, to string // of the card
		push           string // of the gateway
		calls          []call
		want           []string // any of them, by version and binding
	}{
		{"no push in the card", `"pushNotifications":true`, `"pushNotifications":false`, "passthrough", push, []string{"-32003", "PUSH_NOTIFICATION_NOT_SUPPORTED", "Push Notification is not supported"}},
		{"no word on push", `"pushNotifications":true,`, ``, "passthrough", push, []string{"-32003", "PUSH_NOTIFICATION_NOT_SUPPORTED", "Push Notification is not supported"}},
		{"no push at the gateway", ``, ``, "off", push, []string{"-32003", "PUSH_NOTIFICATION_NOT_SUPPORTED", "Push Notification is not supported"}},
		{"no streams", `"streaming":true`, `"streaming":false`, "passthrough", streams, []string{"-32004", "UNSUPPORTED_OPERATION", "the agent does not stream"}},
		{"no word on streams", `"streaming":true,`, ``, "passthrough", streams, []string{"-32004", "UNSUPPORTED_OPERATION", "the agent does not stream"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := proxytest.CardFor(proxytest.RPC10, proxytest.REST10)
			w := proxytest.NewGatewayFor(t, func(base string) string { return strings.Replace(doc(base), tt.from, tt.to, 1) },
				func(s *proxytest.Setup) { s.Push = tt.push })
			w.Given("alice", w.Base, w.Agent, "of-alice", "c1", "")
			w.Given("bob", w.Base, w.Agent, "of-bob", "c2", "")
			for _, c := range tt.calls {
				answers := map[string]bool{}
				for _, task := range []string{"of-alice", "of-bob", "of-nobody"} {
					in := strings.NewReplacer("TASK", task)
					got := w.Do("bob", c.verb, in.Replace(c.path), strings.Replace(c.body, `:"TASK"`, `:"`+task+`"`, 1), c.version)
					named := false
					for _, want := range tt.want {
						named = named || strings.Contains(got.Body, want)
					}
					if !named {
						t.Errorf("%s%s %s %s: %d %s", c.path, c.body, c.version, task, got.Status, got.Body)
					}
					answers[fmt.Sprint(got.Status, got.Body)] = true
				}
				if len(answers) != 1 {
					t.Errorf("%s%s: answers differ: %v", c.path, c.body, answers)
				}
			}
			w.Agent.Silent(t, tt.name)
		})
	}
}
