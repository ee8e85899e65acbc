package forward_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// answering is a world whose gateway has something to show to tasks that ask for it.
func answering(t *testing.T) *proxytest.Gateway {
	return proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Agent.Credentials = []credentials.Credential{{Value: secret.New("Bearer shown"), On: "auth-required"}}
	})
}

// TestA24_AskingOnAndOn: an agent that is never satisfied does not keep the gateway busy.
func TestA24_AskingOnAndOn(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		w := answering(t)
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			task := `{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_AUTH_REQUIRED"}}}`
			proxytest.Respond(rw, r, task)
		})
		got := w.Call("alice", method, proxytest.Message(""))
		if got.Status != 200 || !strings.Contains(got.Body, "TASK_STATE_AUTH_REQUIRED") {
			t.Errorf("%s: %d %s", method, got.Status, got.Body)
		}
		if seen := w.Agent.Take(); len(seen) != 2 || seen[1].Header.Get("Authorization") != "Bearer shown" {
			t.Errorf("%s: the agent was called %d times, want 2", method, len(seen))
		}
	}
}

// TestA24_TwoReadings: an answer that shows another task beside the caller's does not
// have the gateway answer that one.
func TestA24_TwoReadings(t *testing.T) {
	t.Parallel()
	w := answering(t)
	w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"jsonrpc":"2.0","id":7,
			"task":{"id":"bobs","contextId":"c","status":{"state":"TASK_STATE_AUTH_REQUIRED"}},
			"result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}}`)
	})
	w.Call("alice", "SendMessage", proxytest.Message(""))
	if seen := w.Agent.Take(); len(seen) != 1 {
		t.Errorf("the agent heard %s", seen[1].Content)
	}
}

// TestA24_HostsWithoutEnd: a stream that names other hosts with each event does not make
// its record grow.
func TestA24_HostsWithoutEnd(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		for i := range 100 {
			_, _ = fmt.Fprintf(rw, `data: {"jsonrpc":"2.0","id":%s,"result":{"statusUpdate":{"taskId":"t1","contextId":"c1",`+
				`"status":{"state":"TASK_STATE_AUTH_REQUIRED","message":{"messageId":"m","role":"ROLE_AGENT",`+
				`"parts":[{"text":"https://h%d.example/"}]}}}}}`+"\n\n", r.RPC().ID, i)
		}
	})
	if got := w.Call("alice", "SendStreamingMessage", proxytest.Message("")); strings.Count(got.Body, "h99.example") != 1 {
		t.Errorf("the stream did not come: %.200s", got.Body)
	}
	var all []map[string]any
	proxytest.Eventually(t, "record", func() bool { all = w.Audited("call"); return len(all) == 1 })
	hosts, _ := all[0]["demanded_hosts"].([]any)
	if len(hosts) != 64 || hosts[0] != "h0.example" || hosts[63] != "h63.example" {
		t.Errorf("hosts on record: %v", hosts)
	}
}
