package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestPushConfigPages: 0.3 has no pages, so a caller of it gets all configs of a
// 1.0 agent that gives them one by one.
func TestPushConfigPages(t *testing.T) {
	t.Parallel()
	for _, endless := range []bool{false, true} {
		agent := newRecorder(t)
		agent.doc = only10
		w := build(t, func(s *setup) { s.agent.Card.URL = secret.URL(agent.URL + "/card") })
		w.agent = agent
		w.own("alice", "task", "c")
		agent.answers(func(rw http.ResponseWriter, r *record) {
			page := 1
			if _, err := fmt.Sscanf(after(string(r.body), `"pageToken":"`), "p%d", &page); err != nil {
				page = 1 // no token: the first
			}
			next := fmt.Sprintf("p%d", page+1)
			if page == 3 && !endless {
				next = ""
			}
			reply(rw, r, fmt.Sprintf(`{"configs":[%s],"nextPageToken":%q}`, strings.NewReplacer(
				`"pushNotificationConfig":{`, "", "}}", "}").Replace(pushConfig03(page)), next))
		})
		got := w.do("alice", "POST", "", rpcBody("tasks/pushNotificationConfig/list", `{"id":"task"}`))
		if endless {
			if got.status != 502 || !strings.Contains(got.body, "does not end") {
				t.Errorf("endless pages: %d %s", got.status, got.body)
			}
			continue
		}
		want := `"result":[` + pushConfig03(1) + `,` + pushConfig03(2) + `,` + pushConfig03(3) + `]`
		if got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("three pages: %d %s\nwant %s", got.status, got.body, want)
		}
		for i, r := range agent.take() {
			if asked := after(string(r.body), `"pageToken":"`); (i == 0) != (asked == "") {
				t.Errorf("question %d: %s", i, r.body)
			}
		}
	}
}

// TestNoPushConfigs: 0.1 has no list, so a 0.1 agent is asked for the one config that
// there can be, and what it answers when there is none is an empty list.
func TestNoPushConfigs(t *testing.T) {
	t.Parallel()
	agent := newRecorder(t)
	agent.doc = func(base string) string {
		return strings.Replace(only10(base), `"protocolVersion":"1.0"`, `"protocolVersion":"0.1"`, 1)
	}
	w := build(t, func(s *setup) { s.agent.Card.URL = secret.URL(agent.URL + "/card") })
	w.agent = agent
	w.own("alice", "task", "c")
	agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"no"}}`, r.rpc().ID)
	})
	for method, want := range map[string]string{
		"ListTaskPushNotificationConfigs": `"result":{"configs":[]`,
		"GetTask":                         `"code":-32001`,
	} {
		got := w.call("alice", method, `{"taskId":"task"}`)
		if !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", method, got.status, got.body)
		}
	}
	if got := agent.take()[0].rpc().Method; got != "tasks/pushNotification/get" && got != "tasks/get" {
		t.Errorf("the agent was asked for %s", got)
	}
}

func pushConfig03(n int) string {
	return fmt.Sprintf(`{"taskId":"task","pushNotificationConfig":{"id":"c%d","url":"https://hook.example"}}`, n)
}

// only10 is the card of an agent that speaks 1.0 over JSON-RPC alone.
func only10(base string) string {
	return `{"name":"New","description":"d","version":"1","supportedInterfaces":[
		{"url":"` + base + `/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"capabilities":{"streaming":true,"pushNotifications":true,"extendedAgentCard":true},
		"defaultInputModes":[],"defaultOutputModes":[],"skills":[{"id":"read","name":"Read","description":"r","tags":[]}]}`
}

// after is what follows a mark, "" where there is none.
func after(s, mark string) string {
	_, rest, _ := strings.Cut(s, mark)
	return rest
}
