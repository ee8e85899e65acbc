package webhooks_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestPushConfigPages: 0.3 has no pages, so a caller of it gets all configs of a
// 1.0 agent that gives them one by one.
func TestPushConfigPages(t *testing.T) {
	t.Parallel()
	for _, endless := range []bool{false, true} {
		agent := proxytest.NewAgent(t)
		agent.Doc = proxytest.OnlyV10
		w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Agent.Card.URL = secret.URL(agent.URL + "/card") })
		w.Agent = agent
		w.Own("alice", "task", "c")
		agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			page := 1
			if _, err := fmt.Sscanf(after(string(r.Content), `"pageToken":"`), "p%d", &page); err != nil {
				page = 1 // no token: the first
			}
			next := fmt.Sprintf("p%d", page+1)
			if page == 3 && !endless {
				next = ""
			}
			proxytest.Respond(rw, r, fmt.Sprintf(`{"configs":[%s],"nextPageToken":%q}`, strings.NewReplacer(
				`"pushNotificationConfig":{`, "", "}}", "}").Replace(pushConfig03(page)), next))
		})
		got := w.Do("alice", "POST", "", proxytest.RPCBody("tasks/pushNotificationConfig/list", `{"id":"task"}`))
		if endless {
			if got.Status != 502 || !strings.Contains(got.Body, "does not end") {
				t.Errorf("endless pages: %d %s", got.Status, got.Body)
			}
			continue
		}
		want := `"result":[` + pushConfig03(1) + `,` + pushConfig03(2) + `,` + pushConfig03(3) + `]`
		if got.Status != 200 || !strings.Contains(got.Body, want) {
			t.Errorf("three pages: %d %s\nwant %s", got.Status, got.Body, want)
		}
		for i, r := range agent.Take() {
			if asked := after(string(r.Content), `"pageToken":"`); (i == 0) != (asked == "") {
				t.Errorf("question %d: %s", i, r.Content)
			}
		}
	}
}

// TestNoPushConfigs: 0.1 has no list, so a 0.1 agent is asked for the one config that
// there can be, and what it answers when there is none is an empty list.
func TestNoPushConfigs(t *testing.T) {
	t.Parallel()
	agent := proxytest.NewAgent(t)
	agent.Doc = func(base string) string {
		return strings.Replace(proxytest.OnlyV10(base), `"protocolVersion":"1.0"`, `"protocolVersion":"0.1"`, 1)
	}
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Agent.Card.URL = secret.URL(agent.URL + "/card") })
	w.Agent = agent
	w.Own("alice", "task", "c")
	agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"no"}}`, r.RPC().ID)
	})
	for method, want := range map[string]string{
		"ListTaskPushNotificationConfigs": `"result":{"configs":[]`,
		"GetTask":                         `"code":-32001`,
	} {
		got := w.Call("alice", method, `{"taskId":"task"}`)
		if !strings.Contains(got.Body, want) {
			t.Errorf("%s: %d %s", method, got.Status, got.Body)
		}
	}
	if got := agent.Take()[0].RPC().Method; got != "tasks/pushNotification/get" && got != "tasks/get" {
		t.Errorf("the agent was asked for %s", got)
	}
}

func pushConfig03(n int) string {
	return fmt.Sprintf(`{"taskId":"task","pushNotificationConfig":{"id":"c%d","url":"https://hook.example"}}`, n)
}

// after is what follows a mark, "" where there is none.
func after(s, mark string) string {
	_, rest, _ := strings.Cut(s, mark)
	return rest
}
