package proxy_test

import (
	"net/http"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// A22: where no further task can be remembered none is begun: the agent would work for an
// answer that is withheld, and again each time that its client asks anew. What needs no
// further record goes on.
func TestA22_NoRoomForTasks(t *testing.T) {
	t.Parallel()
	for _, caller := range []wire.Side{rpc10, rest10, grpc10, rpc03, rpc01} {
		t.Run(caller.String(), func(t *testing.T) {
			t.Parallel()
			w := in(t, speaks(rpc10), tied, func(s *setup) {
				full := state.NewMemory(state.Config{Memory: state.MemoryConfig{Records: 3}})
				t.Cleanup(func() { _ = full.Close() })
				s.store = full
			})
			task, context := made(t, w.call("tied", "SendMessage", message("")))
			w.agent.take()
			for range 2 {
				new := ask{method: wire.SendMessage}
				if caller == rpc01 {
					new.task = "of-the-client"
				}
				w.speak("tied", w.base, caller, new).refused(t, "a new task", wire.Unavailable)
			}
			w.agent.silent(t, "a task that cannot be remembered")
			for method, params := range map[string]string{
				"SendMessage": message(`,"taskId":"` + task + `","contextId":"` + context + `"`),
				"CancelTask":  `{"id":"` + task + `"}`,
			} {
				if got := w.call("tied", method, params); got.status != http.StatusOK {
					t.Errorf("%s of a task that is known: %d %s", method, got.status, got.body)
				}
				w.agent.one(t)
			}
		})
	}
}
