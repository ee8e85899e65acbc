package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// matched has rules by which the text or a part of a message says which skill it is for.
const matched = `agents:
  - {id: plain, card: %[1]q}
  - id: matched
    card: %[1]q
    match:
      - {skill: rest, when: 'message.parts.exists(p, p.kind == "text" && p.text.contains("rest"))'}
      - {skill: rest, when: 'message.parts.exists(p, p.kind == "data" && "rest" in p.data)'}
      - {skill: work, when: 'true'}
`

// TestA12_EveryCarrier: somebody who may use one skill reaches the other by nothing that a
// call can carry: path, metadata of message or request, text, data, or an own task.
func TestA12_EveryCarrier(t *testing.T) {
	t.Parallel()
	const key = wire.SkillSelection
	w := newWorld(t)
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	g := w.start(w.yaml(plain, twoCallers+fmt.Sprintf(matched, agent.CardURL)))
	one := w.token("caller", "one")
	const text = `{"text":"task"}`
	for _, tt := range []struct {
		name, path      string
		parts           string
		message, params string // metadata
		ok              bool
	}{
		{name: "the skill's path", path: "plain/skills/work", parts: text, ok: true},
		{name: "the other's", path: "plain/skills/rest", parts: text},
		{name: "no skill", path: "plain", parts: text},
		{name: "metadata of the message", path: "plain", parts: text, message: key},
		{name: "beside the path", path: "plain/skills/work", parts: text, message: key},
		{name: "metadata of the request", path: "plain", parts: text, params: key},
		{name: "text", path: "plain", parts: `{"text":"use skill work"}`},
		{name: "data", path: "plain", parts: `{"data":{"skill":"work","skillId":"work"}}`},
		{name: "names of one's own", path: "plain", parts: text, message: "skill", params: "skillId"},
		{name: "a rule for work", path: "matched", parts: text, ok: true},
		{name: "a rule about text", path: "matched", parts: `{"text":"task, then rest"}`},
		{name: "a rule about a later part", path: "matched", parts: text + `,{"text":"rest"}`},
		{name: "a rule about data", path: "matched", parts: text + `,{"data":{"rest":true}}`},
		{name: "metadata against a rule", path: "matched", parts: text, message: key},
	} {
		before := agent.Exec.Requests()
		status, answer := w.carry(g.URL()+"/agents/"+tt.path, one, tt.parts, tt.message, tt.params)
		if ok := status == http.StatusOK && !strings.Contains(answer, `"error"`); ok != tt.ok || tt.ok != (agent.Exec.Requests() > before) {
			t.Errorf("%s: the agent got %d: %d %s", tt.name, agent.Exec.Requests()-before, status, answer)
		}
	}
}

// carry sends a message with parts, and the skill rest under the names in metadata.
func (w *world) carry(url string, credential http.Header, parts, inMessage, inParams string) (int, string) {
	w.t.Helper()
	metadata := func(name string) string {
		if name == "" {
			return ""
		}
		return fmt.Sprintf(`,"metadata":{%q:"rest"}`, name)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"1","method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER",`+
		`"parts":[%s]%s}%s}}`, parts, metadata(inMessage), metadata(inParams))
	status, answer, err := try(client(w.t), http.MethodPost, url, sendHeader(credential), body)
	if err != nil {
		w.t.Fatal(err)
	}
	return status, answer
}

// TestA12_OwnTaskOfAnotherSkill: a task stays with the skill that it was made for, also for
// its owner who may not use that any more.
func TestA12_OwnTaskOfAnotherSkill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := gatewaytest.Flavours()[1]
	agent := gatewaytest.Start(t, f)
	g := w.start(w.yaml(plain, twoCallers+fmt.Sprintf(matched, agent.CardURL)))
	base := g.URL() + "/agents/plain"
	hc := gatewaytest.HTTPClient(t, w.token("caller", "all"), nil)
	client10, _ := gatewaytest.Dial(t, gatewaytest.Go10, hc, base+"/skills/rest", f.Version, f.Binding)
	made, err := client10.SendMessage(t.Context(), say("input"))
	if err != nil {
		t.Fatal(err)
	}
	task := made.TaskInfo().TaskID
	one, before := w.token("caller", "one"), agent.Exec.Requests()
	for _, path := range []string{"", "/skills/work", "/skills/rest"} {
		for method, params := range map[string]string{
			"GetTask": `{"id":%q}`, "CancelTask": `{"id":%q}`, "SubscribeToTask": `{"id":%q}`,
			"SendMessage": `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go on"}],"taskId":%q}}`,
		} {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"1","method":%q,"params":`+params+`}`, method, task)
			status, answer, err := try(client(t), http.MethodPost, base+path, sendHeader(one), body)
			if err != nil || status == http.StatusOK && !strings.Contains(answer, `"error"`) || agent.Exec.Requests() != before {
				t.Errorf("%s at %q: %d %s, %v", method, path, status, answer, err)
			}
		}
	}
	if got, err := client10.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task}); err != nil || got.ID != task {
		t.Errorf("by who may: %v, %v", got, err)
	}
}
