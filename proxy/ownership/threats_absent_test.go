package ownership_test

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// refusal is all that a caller gets, and the work that it took.
func refusal(s *proxytest.CountingStore, w *proxytest.Gateway, who string, side wire.Side, a proxytest.Ask) string {
	ids, trips := s.IDs.Load(), s.Trips.Load()
	got := w.Speak(who, w.Base, side, a)
	if got.Err == nil || got.Err.Kind != wire.TaskNotFound {
		w.Errorf("%s %s: %v %s", side, a.Method, got.Err, got.Body)
	}
	return fmt.Sprintf("%d %v %q code %d text %q; %d ids in %d trips", got.Status, proxytest.SameHeader(got.Response), got.Body,
		got.Code, got.Err.Text(), s.IDs.Load()-ids, s.Trips.Load()-trips)
}

// TestA01_AbsentOnEverySide: whoever names somebody else's task, by any operation of the
// method table in any version and binding, gets what he gets for a task that is not
// there, in every byte, and the gateway does the same for it: it asks its store for as many
// ids, as often.
func TestA01_AbsentOnEverySide(t *testing.T) {
	t.Parallel()
	for _, agent := range proxytest.Sides {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			var store *proxytest.CountingStore
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), func(s *proxytest.Setup) {
				store = &proxytest.CountingStore{Ledger: s.Store}
				s.Store = store
				s.Bound = map[string]string{"tied": "rec", "thief": "rec"}
				s.Policy.Rules[0].Subjects = append(s.Policy.Rules[0].Subjects, "thief")
			})
			w.Given("tied", w.Base, w.Agent, "somebody-s", "", "")
			w.Agent.Take()
			for _, m := range wire.Methods() {
				if m.Subject == wire.OfCaller || m.Subject == wire.OfAgent {
					continue // they name no task
				}
				for _, side := range proxytest.Sides {
					if side.Version == wire.V03 && m.V03 == "" || side.Version == wire.V01 && (m.V01 == "" || m.Subject == wire.OfMessage) ||
						m.Subject == wire.OfConfig && (side.Binding == wire.HTTPJSON || side == proxytest.GRPC03) {
						continue // there is none, the task is the caller's to name, or TestA01_ForeignTasks has the form
					}
					a := proxytest.Ask{Method: m.Name, Task: "somebody-s"}
					if m.Subject == wire.OfConfig {
						a.More = `,"taskId":"somebody-s","id":"somebody-s"`
					}
					foreign := refusal(store, w, "thief", side, a)
					a.Task = "nobody-s--"
					if m.Subject == wire.OfConfig {
						a.More = `,"taskId":"nobody-s--","id":"nobody-s--"`
					}
					if absent := refusal(store, w, "thief", side, a); foreign != absent {
						t.Errorf("%s %s:\nforeign: %s\nabsent:  %s", side, m.Name, foreign, absent)
					}
					w.Agent.Silent(t, side.String()+" "+m.Name)
				}
			}
		})
	}
}
