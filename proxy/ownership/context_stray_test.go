package ownership_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// A3: a context that stands where the caller's version has none is judged like one that stands
// where it belongs. No agent gets it as it is, on any side, and a task is in its own alone.
func TestA03_StrayContexts(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03, proxytest.REST03, proxytest.RPC01} {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent))
			w.Agent.Answers(new(archive).answer)
			for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03, proxytest.RPC01} {
				what := fmt.Sprintf("%s to %s", caller, agent)
				name := strings.NewReplacer(" ", "-", "+", "-").Replace("named-" + caller.String())
				more, query := fmt.Sprintf(`,"contextId":%q,"sessionId":%[1]q`, name), "contextId="+name+"&sessionId="+name
				send := proxytest.Ask{Method: wire.SendMessage, Context: name, Task: proxytest.IDForV01(caller, "mine"), Query: query, More: more}
				if caller == proxytest.RPC01 {
					send.More = fmt.Sprintf(`,"contextId":%q`, name)
				}
				said := w.Speak("alice", w.Base, caller, send).OK(t, what)
				unseen(t, what, w.Agent.One(t), name)
				_, rest, _ := strings.Cut(said.Docs[0], `"id":"`)
				task, _, _ := strings.Cut(rest, `"`)
				for _, method := range []string{wire.GetTask, wire.CancelTask} {
					get := proxytest.Ask{Method: method, Task: task, Query: query, More: more}
					if !strings.Contains(w.Speak("alice", w.Base, caller, get).OK(t, what).Docs[0], name) {
						t.Errorf("%s: the caller is shown another context", what)
					}
					unseen(t, what, w.Agent.One(t), name)
					get.Query, get.More = "contextId=other", `,"contextId":"other"`
					w.Speak("alice", w.Base, caller, get).Refused(t, what, wire.InvalidParams)
					get.Query, get.More = query, more
					w.Speak("bob", w.Base, caller, get).Refused(t, what, wire.TaskNotFound)
					w.Agent.Silent(t, what)
				}
			}
		})
	}
}

// unseen fails the test if a request has a context's name in it.
func unseen(t *testing.T, what string, r *proxytest.Request, name string) {
	t.Helper()
	if all := r.RequestURI + "\n" + string(r.Content); strings.Contains(all, name) {
		t.Errorf("%s: the agent got %s", what, all)
	}
}
