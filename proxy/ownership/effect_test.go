package ownership_test

import (
	"net/http"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// A22: where no further task can be remembered none is begun: the agent would work for an
// answer that is withheld, and again each time that its client asks anew. What needs no
// further record goes on.
func TestA22_NoRoomForTasks(t *testing.T) {
	t.Parallel()
	for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.RPC01} {
		t.Run(caller.String(), func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied, func(s *proxytest.Setup) {
				full := state.NewMemory(state.Config{Memory: state.MemoryConfig{Records: 3}})
				t.Cleanup(func() { _ = full.Close() })
				s.Store = full
			})
			task, context := proxytest.MadeTask(t, w.Call("tied", "SendMessage", proxytest.Message("")))
			w.Agent.Take()
			for range 2 {
				new := proxytest.Ask{Method: wire.SendMessage}
				if caller == proxytest.RPC01 {
					new.Task = "of-the-client"
				}
				w.Speak("tied", w.Base, caller, new).Refused(t, "a new task", wire.Unavailable)
			}
			w.Agent.Silent(t, "a task that cannot be remembered")
			for method, params := range map[string]string{
				"SendMessage": proxytest.Message(`,"taskId":"` + task + `","contextId":"` + context + `"`),
				"CancelTask":  `{"id":"` + task + `"}`,
			} {
				if got := w.Call("tied", method, params); got.Status != http.StatusOK {
					t.Errorf("%s of a task that is known: %d %s", method, got.Status, got.Body)
				}
				w.Agent.One(t)
			}
		})
	}
}
