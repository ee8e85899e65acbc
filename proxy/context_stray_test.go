package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// A3: a context that stands where the caller's version has none is judged like one that stands
// where it belongs. No agent gets it as it is, on any side, and a task is in its own alone.
func TestA03_StrayContexts(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rest10, rpc03, rest03, rpc01} {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			w := in(t, speaks(agent))
			w.agent.answers(new(archive).answer)
			for _, caller := range []wire.Side{rpc10, rest10, rpc03, rpc01} {
				what := fmt.Sprintf("%s to %s", caller, agent)
				name := strings.NewReplacer(" ", "-", "+", "-").Replace("named-" + caller.String())
				more, query := fmt.Sprintf(`,"contextId":%q,"sessionId":%[1]q`, name), "contextId="+name+"&sessionId="+name
				send := ask{method: wire.SendMessage, context: name, task: ifOld(caller, "mine"), query: query, more: more}
				if caller == rpc01 {
					send.more = fmt.Sprintf(`,"contextId":%q`, name)
				}
				said := w.speak("alice", w.base, caller, send).ok(t, what)
				unseen(t, what, w.agent.one(t), name)
				_, rest, _ := strings.Cut(said.docs[0], `"id":"`)
				task, _, _ := strings.Cut(rest, `"`)
				for _, method := range []string{wire.GetTask, wire.CancelTask} {
					get := ask{method: method, task: task, query: query, more: more}
					if !strings.Contains(w.speak("alice", w.base, caller, get).ok(t, what).docs[0], name) {
						t.Errorf("%s: the caller is shown another context", what)
					}
					unseen(t, what, w.agent.one(t), name)
					get.query, get.more = "contextId=other", `,"contextId":"other"`
					w.speak("alice", w.base, caller, get).refused(t, what, wire.InvalidParams)
					get.query, get.more = query, more
					w.speak("bob", w.base, caller, get).refused(t, what, wire.TaskNotFound)
					w.agent.silent(t, what)
				}
			}
		})
	}
}

// unseen fails the test if a request has a context's name in it.
func unseen(t *testing.T, what string, r *record, name string) {
	t.Helper()
	if all := r.RequestURI + "\n" + string(r.body); strings.Contains(all, name) {
		t.Errorf("%s: the agent got %s", what, all)
	}
}
