package proxy_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// colleagues lets amy and ann of one tenant use each other's tasks.
func colleagues(scope string) func(*setup) {
	return func(s *setup) {
		s.tenants = map[string]string{"amy": "acme", "ann": "acme"}
		s.policy.Rules[0].Subjects = append(s.policy.Rules[0].Subjects, "amy", "ann")
		s.policy.Tasks = policy.TasksConfig{Scope: scope}
	}
}

// registrar keeps configs as the servers of the SDKs do: one that has no id gets that of
// the task.
func registrar(w http.ResponseWriter, r *record) {
	s, c := r.side(), r.call()
	if c.Method.Name != wire.CreatePushConfig {
		fluent(w, r)
		return
	}
	id := cmp.Or(c.ConfigID, c.TaskID)
	_, rest, _ := strings.Cut(string(r.body), `"url":"`)
	url, _, _ := strings.Cut(rest, `"`)
	switch {
	case s.Version == wire.V01:
		r.say(w, fmt.Sprintf(`{"id":%q,"pushNotificationConfig":{"url":%q}}`, c.TaskID, url))
	case s.Version == wire.V10:
		r.say(w, fmt.Sprintf(`{"taskId":%q,"id":%q,"url":%q}`, c.TaskID, id, url))
	case s.Binding == wire.JSONRPC:
		r.say(w, fmt.Sprintf(`{"taskId":%q,"pushNotificationConfig":{"id":%q,"url":%q}}`, c.TaskID, id, url))
	default:
		r.say(w, fmt.Sprintf(`{"name":"tasks/%s/pushNotificationConfigs/%s","pushNotificationConfig":{"id":%[2]q,"url":%[3]q}}`, c.TaskID, id, url))
	}
}

// registers brings a webhook for a task, by a create or inline in a send, under an id, or
// under none.
func (w *world) registers(who string, s wire.Side, inline bool, task, id string) answer {
	w.Helper()
	named := ""
	if id != "" {
		named = fmt.Sprintf(`"id":%q,`, id)
	}
	hook := `{` + named + `"url":"` + hookURL + `"}`
	send := `{"message":{"messageId":"m","taskId":"` + task + `",%s},"configuration":{%q:` + hook + `}}`
	verb, target, body := "POST", "", ""
	switch {
	case s == rpc10 && inline:
		body = rpcBody("SendMessage", fmt.Sprintf(send, `"role":"ROLE_USER","parts":[]`, "taskPushNotificationConfig"))
	case s == rpc10:
		body = rpcBody("CreateTaskPushNotificationConfig", fmt.Sprintf(`{"taskId":%q,%s"url":%q}`, task, named, hookURL))
	case s == rpc03 && inline:
		body = rpcBody("message/send", fmt.Sprintf(send, `"kind":"message","role":"user","parts":[]`, "pushNotificationConfig"))
	case s == rpc03:
		body = rpcBody("tasks/pushNotificationConfig/set", fmt.Sprintf(`{"taskId":%q,"pushNotificationConfig":%s}`, task, hook))
	case inline:
		target, body = "/v1/message:send", fmt.Sprintf(send, `"role":"ROLE_USER","content":[]`, "pushNotification")
	default:
		target = "/v1/tasks/" + task + "/pushNotificationConfigs"
		body = fmt.Sprintf(`{"parent":"tasks/%s","configId":%q,"config":{"pushNotificationConfig":%s}}`, task, id, hook)
	}
	return w.do(who, verb, target, body, "A2A-Version: "+string(s.Version))
}

// TestConfigsOfColleagues: who may use a task may not put a webhook in the place of
// another's, whichever id that has got, and by whichever call.
func TestConfigsOfColleagues(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"tenant", "agent"} {
		for _, agent := range []wire.Side{rpc10, rpc03, rest03} {
			t.Run(scope+" "+agent.String(), func(t *testing.T) {
				t.Parallel()
				w := in(t, speaks(agent), relayed, colleagues(scope), func(s *setup) { s.relay.PerTask = 100 })
				for _, caller := range []wire.Side{rpc10, rpc03, rest03} {
					for _, inline := range []bool{false, true} {
						for _, id := range []string{"", "c1"} {
							w.replaces(caller, inline, id)
						}
					}
				}
			})
		}
	}
}

// replaces has amy register a webhook, and ann try to put one in its place.
func (w *world) replaces(s wire.Side, inline bool, id string) {
	w.Helper()
	task := strings.NewReplacer(" ", "", "+", "").Replace(fmt.Sprintf("task-%s-%t-%s", s, inline, id))
	w.given("amy", w.base, w.agent, task, "context-"+task, "")
	w.agent.answers(registrar)
	wantStatus(w, "amy's", w.registers("amy", s, inline, task, id), 200)
	w.agent.take()
	for _, theirs := range []bool{false, true} {
		for _, other := range []string{"", task, "c1", "c2"} {
			what := fmt.Sprintf("%s: amy's %q (inline %t), ann's %q (inline %t)", s, id, inline, other, theirs)
			got := w.registers("ann", s, theirs, task, other)
			if cmp.Or(other, task) == cmp.Or(id, task) {
				if !strings.Contains(got.body, "-32001") && !strings.Contains(got.body, "TASK_NOT_FOUND") && got.status != 404 {
					w.Errorf("%s: %d %s", what, got.status, got.body)
				}
				w.agent.silent(w, what)
				continue
			}
			if got.status != 200 || strings.Contains(got.body, `"error"`) {
				w.Errorf("%s: %d %s", what, got.status, got.body)
			}
			w.agent.take()
		}
	}
	wantStatus(w, "amy's again", w.registers("amy", s, inline, task, id), 200)
	w.agent.take()
}

// TestConfigsNamedElsewhere: a config says its id in more than one way, and with an agent
// of 0.1 a task has but one.
func TestConfigsNamedElsewhere(t *testing.T) {
	t.Parallel()
	const send = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[],"taskId":"mine"},"configuration":{"taskPushNotificationConfig":%s}}`
	w := in(t, speaks(rpc10), relayed, colleagues("tenant"))
	w.given("amy", w.base, w.agent, "mine", "context", "")
	wantStatus(t, "amy's", w.registers("amy", rpc10, true, "mine", "c1"), 200)
	w.agent.take()
	for _, config := range []string{
		`{"name":"tasks/mine/pushNotificationConfigs/c1","url":"` + hookURL + `"}`,
		`{"id":"c1","pushNotificationConfig":{"url":"` + hookURL + `"}}`,
		`{"id":"c1"}`, `{"name":"tasks/mine/pushNotificationConfigs/c1"}`, `{}`,
	} {
		if got := w.call("ann", "SendMessage", fmt.Sprintf(send, config)); !strings.Contains(got.body, "-32001") {
			t.Errorf("%s: %d %s", config, got.status, got.body)
		}
		w.agent.silent(t, config)
	}
	wantStatus(t, "no config", w.call("ann", "SendMessage", fmt.Sprintf(send, "null")), 200)
	w.agent.take()

	w = in(t, speaks(rpc01), relayed, colleagues("tenant"))
	w.given("amy", w.base, w.agent, "mine", "context", "")
	w.agent.answers(registrar)
	wantStatus(t, "amy's", w.registers("amy", rpc10, false, "mine", "c1"), 200)
	w.agent.take()
	if got := w.registers("ann", rpc10, false, "mine", "c2"); !strings.Contains(got.body, "-32001") {
		t.Errorf("the one config: %d %s", got.status, got.body)
	}
	w.agent.silent(t, "the one config")
}

// TestNoPushWhateverTheTask: of an agent whose card has no push notifications, every call about
// them is refused alike, be the task somebody else's or nobody's (A2A 1.0 §3.3.4).
func TestNoPushWhateverTheTask(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rpc03} {
		doc := func(base string) string {
			return strings.Replace(speaks(agent)(base), `"pushNotifications":true`, `"pushNotifications":false`, 1)
		}
		w := in(t, doc, tied)
		w.given("alice", w.base, w.agent, "of-alice", "c", "")
		for _, task := range []string{"of-alice", "nobodys"} {
			for method, params := range map[string]string{
				"CreateTaskPushNotificationConfig": `{"taskId":"%s","url":"https://hooks.example/h"}`,
				"GetTaskPushNotificationConfig":    `{"taskId":"%s","id":"c"}`,
				"ListTaskPushNotificationConfigs":  `{"taskId":"%s"}`,
				"DeleteTaskPushNotificationConfig": `{"taskId":"%s","id":"c"}`,
			} {
				if got := w.call("bob", method, fmt.Sprintf(params, task)); !strings.Contains(got.body, `"code":-32003`) {
					t.Errorf("%s of %s from %s: %d %s", method, task, agent, got.status, got.body)
				}
			}
			if got := w.call("bob", "GetTask", `{"id":"`+task+`"}`); !strings.Contains(got.body, `"code":-32001`) {
				t.Errorf("%s: %d %s", task, got.status, got.body)
			}
		}
		w.agent.silent(t, "calls on tasks that are not the caller's")
	}
}
