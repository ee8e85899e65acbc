package agents_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestMethodPaths: where an interface of JSON-RPC has the address of one method, each method is
// called at its own; without the quirk all are called at the one.
func TestMethodPaths(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ends   string // of the card's URL
		quirks []agents.Quirk
		want   map[string]string
	}{
		"of streams": {"/x/v1/message:stream", nil, map[string]string{
			wire.SendMessage: "/x/v1/message:send", wire.SendStreamingMessage: "/x/v1/message:stream",
			wire.GetTask: "/x/v1/tasks:get", wire.CancelTask: "/x/v1/tasks:cancel",
		}},
		"of sends": {"/x/v1/message:send?a=b", nil, map[string]string{
			wire.SendMessage: "/x/v1/message:send?a=b", wire.SendStreamingMessage: "/x/v1/message:stream?a=b",
		}},
		"of sends of 0.1": {"/x/tasks/send", nil, map[string]string{
			wire.SendMessage: "/x/tasks/send", wire.SendStreamingMessage: "/x/tasks/send",
			wire.GetTask: "/x/tasks/get", wire.CancelTask: "/x/tasks/cancel",
		}},
		"off": {"/x/v1/message:send", []agents.Quirk{}, map[string]string{
			wire.SendMessage: "/x/v1/message:send", wire.SendStreamingMessage: "/x/v1/message:send",
		}},
		"of no method": {"/x/message", nil, map[string]string{wire.SendMessage: "/x/message", wire.SendStreamingMessage: "/x/message"}},
	} {
		for method, want := range tt.want {
			w := proxytest.NewGatewayFor(t, func(base string) string {
				return strings.Replace(proxytest.CardFor(proxytest.RPC03)(base), `"url":"`+base+`/rpc"`, `"url":"`+base+tt.ends+`"`, 1)
			}, proxytest.WithTied, func(s *proxytest.Setup) { s.Agent.Quirks = tt.quirks })
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				rw.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":%s}`, r.RPC().ID, proxytest.TaskIn(proxytest.RPC03, "t", "c", "completed", ""))
			})
			task, n := "", 1
			if method == wire.GetTask || method == wire.CancelTask {
				w.Speak("tied", w.Base, proxytest.RPC03, proxytest.Ask{Method: wire.SendMessage}).OK(t, name)
				task, n = "t", 2
			}
			w.Agent.Take()
			for _, caller := range []wire.Side{proxytest.RPC03, proxytest.RPC10} {
				w.Speak("tied", w.Base, caller, proxytest.Ask{Method: method, Task: task}).OK(t, name)
				if seen := w.Agent.One(t); seen.URL.String() != want {
					t.Errorf("%s: %s of %s was called at %s, want %s", name, method, caller, seen.URL, want)
				}
				used := w.RecordOf(n)["quirks"] != nil
				if n++; used != strings.Contains(name, "of s") {
					t.Errorf("%s: the record has the quirk: %t", name, used)
				}
			}
		}
	}
}
