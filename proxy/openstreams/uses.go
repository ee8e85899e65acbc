package openstreams

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
)

// mostUses is how many of each kind of id a call keeps alive: those that it has named or been
// shown last. Streams of A2A's own are of one task; those of an extension's methods may show
// any number.
const mostUses = 64

// Uses are what a call that lasts uses of the state: the ids that it names and is shown, and
// where their tasks stand in the states of extensions. Its stream adds to them while they are
// renewed.
type Uses struct {
	principal *authn.Principal

	mu    sync.Mutex
	ids   ledger.Uses
	steps []state.Step
}

// Aliases are what the caller calls a task and its context, where it has chosen ids of its own.
type Aliases struct{ Task, Context string }

// NewUses are what a principal's call of an agent's skill uses: nothing yet.
func NewUses(principal *authn.Principal, agent, skill string) *Uses {
	return &Uses{principal: principal, ids: ledger.Uses{Agent: agent, Skill: skill}}
}

// Shown notes a task and a context, each of which may be missing, and what the caller calls
// them where it has chosen its own ids. A nil uses notes nothing.
func (u *Uses) Shown(as Aliases, task, group string) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	note(&u.ids.Tasks, task)
	note(&u.ids.Contexts, group)
	note(&u.ids.TaskNames, as.Task)
	note(&u.ids.ContextNames, as.Context)
}

// Answered notes what an answer or event shows.
func (u *Uses) Answered(as Aliases, seen wire.Answer) {
	for _, t := range seen.Tasks {
		u.Shown(as, t.ID, t.ContextID)
	}
	u.Shown(as, "", seen.ContextID)
}

// Stands notes where a task stands in the states of an extension. A nil uses notes nothing.
func (u *Uses) Stands(step state.Step) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !slices.Contains(u.steps, step) {
		u.steps = last(append(u.steps, step))
	}
}

func note(ids *[]string, id string) {
	if id != "" && !slices.Contains(*ids, id) {
		*ids = last(append(*ids, id))
	}
}

// last gives the newest of a list, as many as are kept.
func last[T any](list []T) []T {
	return slices.Delete(list, 0, max(len(list)-mostUses, 0))
}

// now is a copy of what is used at this moment.
func (u *Uses) now() (ledger.Uses, []state.Step) {
	u.mu.Lock()
	defer u.mu.Unlock()
	ids := u.ids
	for _, list := range []*[]string{&ids.Tasks, &ids.Contexts, &ids.TaskNames, &ids.ContextNames} {
		*list = slices.Clone(*list)
	}
	return ids, slices.Clone(u.steps)
}

// RenewEvery is how often Renew has to be called, for records that are kept for a time. One
// that cannot be renewed now can be two more times before it is forgotten.
func RenewEvery(kept time.Duration) time.Duration {
	return min(max(kept/4, 100*time.Millisecond), time.Hour)
}

// Waits notes what a call uses until done is called, where it may wait for its answer for
// so long that records of it have to be renewed. begin is asked for what it uses only then.
func (s *Streams) Waits(begin func() *Uses, most time.Duration) (done func()) {
	if s.Retention <= 0 || most < RenewEvery(s.Retention) {
		return func() {}
	}
	u := begin()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = map[*Uses]struct{}{}
	}
	s.waiting[u] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, u)
	}
}

// Keeper has the state go on knowing ids of a principal's, and where tasks stand in the states
// of extensions.
type Keeper interface {
	Keep(ctx context.Context, principal *authn.Principal, ids *ledger.Uses, steps []state.Step) error
}

// Renew has the state go on knowing what open streams and waiting calls use. What cannot be
// renewed now is to be the next time; the error is the first that kept something from it.
func (s *Streams) Renew(ctx context.Context, k Keeper) error {
	for _, u := range s.used() {
		ids, steps := u.now()
		if err := k.Keep(ctx, u.principal, &ids, steps); err != nil {
			return err
		}
	}
	return nil
}

// used is what is in use, each once.
func (s *Streams) used() []*Uses {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Uses, 0, len(s.open)+len(s.waiting))
	for u := range s.waiting {
		all = append(all, u)
	}
	for st := range s.open {
		if _, also := s.waiting[st.uses]; !also {
			all = append(all, st.uses)
		}
	}
	return all
}
