package proxy_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// countingStore counts ids that are looked up and trips to the store.
type countingStore struct {
	state.Ledger
	ids, trips atomic.Int64
}

func (s *countingStore) Lookup(ctx context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	s.ids.Add(1)
	s.trips.Add(1)
	return s.Ledger.Lookup(ctx, agent, k, id)
}

func (s *countingStore) LookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	s.ids.Add(int64(len(refs)))
	s.trips.Add(1)
	return s.Ledger.LookupAll(ctx, agent, refs)
}

func (s *countingStore) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	s.trips.Add(1)
	return s.Ledger.Claim(ctx, r)
}

func (s *countingStore) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	s.trips.Add(1)
	return s.Ledger.ClaimAll(ctx, rs)
}

// refusal is all that a caller gets, and the work that it took.
func (s *countingStore) refusal(w *world, who string, side wire.Side, a ask) string {
	ids, trips := s.ids.Load(), s.trips.Load()
	got := w.speak(who, w.base, side, a)
	if got.err == nil || got.err.Kind != wire.TaskNotFound {
		w.Errorf("%s %s: %v %s", side, a.method, got.err, got.body)
	}
	return fmt.Sprintf("%d %v %q code %d text %q; %d ids in %d trips", got.status, sameHeader(got.answer), got.body,
		got.code, got.err.Text(), s.ids.Load()-ids, s.trips.Load()-trips)
}

// TestA01_AbsentOnEverySide: whoever names somebody else's task, by any operation of the
// method table in any version and binding, gets what he gets for a task that is not
// there, in every byte, and the gateway does the same for it: it asks its store for as many
// ids, as often.
func TestA01_AbsentOnEverySide(t *testing.T) {
	t.Parallel()
	for _, agent := range sides {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			var store *countingStore
			w := in(t, speaks(agent), func(s *setup) {
				store = &countingStore{Ledger: s.store}
				s.store = store
				s.bound = map[string]string{"tied": "rec", "thief": "rec"}
				s.policy.Rules[0].Subjects = append(s.policy.Rules[0].Subjects, "thief")
			})
			w.given("tied", w.base, w.agent, "somebody-s", "", "")
			w.agent.take()
			for _, m := range wire.Methods() {
				if m.Subject == wire.OfCaller || m.Subject == wire.OfAgent {
					continue // they name no task
				}
				for _, side := range sides {
					if side.Version == wire.V03 && m.V03 == "" || side.Version == wire.V01 && (m.V01 == "" || m.Subject == wire.OfMessage) ||
						m.Subject == wire.OfConfig && (side.Binding == wire.HTTPJSON || side == grpc03) {
						continue // there is none, the task is the caller's to name, or TestA01_ForeignTasks has the form
					}
					a := ask{method: m.Name, task: "somebody-s"}
					if m.Subject == wire.OfConfig {
						a.more = `,"taskId":"somebody-s","id":"somebody-s"`
					}
					foreign := store.refusal(w, "thief", side, a)
					a.task = "nobody-s--"
					if m.Subject == wire.OfConfig {
						a.more = `,"taskId":"nobody-s--","id":"nobody-s--"`
					}
					if absent := store.refusal(w, "thief", side, a); foreign != absent {
						t.Errorf("%s %s:\nforeign: %s\nabsent:  %s", side, m.Name, foreign, absent)
					}
					w.agent.silent(t, side.String()+" "+m.Name)
				}
			}
		})
	}
}
