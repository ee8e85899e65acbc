package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// TestA25_SmuggledEvents: of a stream into which the agent slips what does not belong
// there the client gets what came before, and nothing of the rest.
func TestA25_SmuggledEvents(t *testing.T) {
	t.Parallel()
	task := func(id, context, state string) string {
		return fmt.Sprintf(`{"task":{"id":%q,"contextId":%q,"status":{"state":"TASK_STATE_%s"}}}`, id, context, state)
	}
	status := func(id, context, state string) string {
		return fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":%q,"status":{"state":"TASK_STATE_%s"}}}`, id, context, state)
	}
	const said = `{"message":{"messageId":"x","role":"ROLE_AGENT","parts":[{"text":"smuggled"}]}}`
	for name, tt := range map[string]struct {
		events []string
		want   int // events that the client may see
		fails  bool
	}{
		"behind the end":    {[]string{task("t", "c", "WORKING"), status("t", "c", "COMPLETED"), status("t", "c", "WORKING")}, 2, false},
		"of another task":   {[]string{task("t", "c", "WORKING"), status("t2", "c", "WORKING")}, 1, true},
		"another context":   {[]string{task("t", "c", "WORKING"), status("", "c2", "WORKING")}, 1, true},
		"a second message":  {[]string{said, said}, 1, false},
		"a message between": {[]string{task("t", "c", "WORKING"), said}, 1, true},
	} {
		for _, to := range []struct{ path, body string }{
			{"", rpcBody("SendStreamingMessage", message(""))}, {"/message:stream", message("")},
		} {
			w := build(t, streaming(func(c *stream.Config) { c.Resubscribe = nil }))
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				rw.Header().Set("Content-Type", "text/event-stream")
				for _, e := range tt.events {
					if r.isRPC() {
						_, _ = io.WriteString(rw, eventOf(r, e))
					} else {
						_, _ = io.WriteString(rw, "data: "+e+"\n\n")
					}
				}
			})
			got := w.do("alice", "POST", to.path, to.body, "A2A-Version: 1.0")
			seen := events(got.body)
			failed := len(seen) > 0 && strings.Contains(seen[len(seen)-1], "INVALID_AGENT_RESPONSE")
			if failed {
				seen = seen[:len(seen)-1]
			}
			if len(seen) != tt.want || failed != tt.fails {
				t.Errorf("%s, %q: %s", name, to.path, got.body)
			}
		}
	}
}
