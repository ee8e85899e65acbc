package session_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// TestA25_SmuggledEvents: of a stream into which the agent slips what is not the client's
// the client gets what came before, and nothing of the rest. What is only out of order is
// passed on; see TestStopsAloud.
func TestA25_SmuggledEvents(t *testing.T) {
	t.Parallel()
	task := func(id, context, state string) string {
		return fmt.Sprintf(`{"task":{"id":%q,"contextId":%q,"status":{"state":"TASK_STATE_%s"}}}`, id, context, state)
	}
	status := func(id, context, state string) string {
		return fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":%q,"status":{"state":"TASK_STATE_%s"}}}`, id, context, state)
	}
	said := func(id string) string {
		return fmt.Sprintf(`{"message":{"messageId":"x","role":"ROLE_AGENT","taskId":%q,"parts":[{"text":"smuggled"}]}}`, id)
	}
	for name, tt := range map[string]struct {
		events []string
		want   int // events that the client may see
		fails  bool
	}{
		"of another task":            {[]string{task("t", "c", "WORKING"), status("t2", "c", "WORKING")}, 1, true},
		"another context":            {[]string{task("t", "c", "WORKING"), status("", "c2", "WORKING")}, 1, true},
		"another task behind an end": {[]string{task("t", "c", "WORKING"), status("t", "c", "COMPLETED"), task("t2", "c", "COMPLETED")}, 2, true},
		"another task first":         {[]string{said("t2"), task("t", "c", "WORKING")}, 1, true},
		"said by another task":       {[]string{task("t", "c", "WORKING"), said("t2")}, 1, true},
	} {
		for _, to := range []struct{ path, body string }{
			{"", proxytest.RPCBody("SendStreamingMessage", proxytest.Message(""))}, {"/message:stream", proxytest.Message("")},
		} {
			w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) { c.Resubscribe = nil }))
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				rw.Header().Set("Content-Type", "text/event-stream")
				for _, e := range tt.events {
					if r.IsRPC() {
						_, _ = io.WriteString(rw, proxytest.EventOf(r, e))
					} else {
						_, _ = io.WriteString(rw, "data: "+e+"\n\n")
					}
				}
			})
			got := w.Do("alice", "POST", to.path, to.body, "A2A-Version: 1.0")
			seen := proxytest.EventsIn(got.Body)
			failed := len(seen) > 0 && strings.Contains(seen[len(seen)-1], "INVALID_AGENT_RESPONSE")
			if failed {
				seen = seen[:len(seen)-1]
			}
			if len(seen) != tt.want || failed != tt.fails {
				t.Errorf("%s, %q: %s", name, to.path, got.Body)
			}
		}
	}
}
