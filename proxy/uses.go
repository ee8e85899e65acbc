package proxy

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

// uses are what a call that lasts uses of the state: the ids that it names and is shown, and
// where their tasks stand in the states of extensions. Its stream adds to them while they are
// renewed.
type uses struct {
	principal *authn.Principal

	mu    sync.Mutex
	ids   ledger.Uses
	steps []state.Step
}

// inUse begins to note what an exchange uses.
func (x *exchange) inUse() *uses {
	if x.uses != nil {
		return x.uses
	}
	u := &uses{principal: x.principal, ids: ledger.Uses{Agent: x.agent.ID, Skill: x.skill}}
	u.shown(x, x.call.TaskID, x.call.ContextID)
	u.shown(x, x.record.ID, x.record.Context)
	u.shown(x, x.learned.ID, x.learned.ContextID)
	for step := range x.stands {
		u.stands(step)
	}
	x.uses = u
	return u
}

// shown notes a task and a context, each of which may be missing, and what the caller calls
// them where it has chosen its own ids. A nil uses notes nothing.
func (u *uses) shown(x *exchange, task, group string) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	note(&u.ids.Tasks, task)
	note(&u.ids.Contexts, group)
	note(&u.ids.TaskNames, x.task.Caller)
	note(&u.ids.ContextNames, x.session.Caller)
}

// answered notes what an answer or event shows.
func (u *uses) answered(x *exchange, seen wire.Answer) {
	for _, t := range seen.Tasks {
		u.shown(x, t.ID, t.ContextID)
	}
	u.shown(x, "", seen.ContextID)
}

// stands notes where a task stands in the states of an extension. A nil uses notes nothing.
func (u *uses) stands(step state.Step) {
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
func (u *uses) now() (ledger.Uses, []state.Step) {
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

// waits notes what an exchange uses until done is called, where it may wait for its answer for
// so long that records of it have to be renewed.
func (s *Streams) waits(x *exchange, most time.Duration) (done func()) {
	if s.Retention <= 0 || most < RenewEvery(s.Retention) {
		return func() {}
	}
	u := x.inUse()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = map[*uses]struct{}{}
	}
	s.waiting[u] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, u)
	}
}

// Renew has the state go on knowing what open streams and waiting calls use. What cannot be
// renewed now is to be the next time; the error is the first that kept something from it.
func (s *Streams) Renew(ctx context.Context, p *Proxy) error {
	for _, u := range s.used() {
		if err := u.renew(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// renew has the state go on knowing all that belongs to what is used.
func (u *uses) renew(ctx context.Context, p *Proxy) error {
	ids, steps := u.now()
	if err := p.Ledger.Renew(ctx, u.principal, &ids); err != nil {
		return err
	}
	for _, step := range steps {
		if _, err := p.Steps.Advance(ctx, step, "", ""); err != nil {
			return err
		}
	}
	if p.Relay == nil {
		return nil
	}
	for _, task := range ids.Tasks {
		if err := p.Relay.Hooks.Renew(ctx, ids.Agent, task); err != nil {
			return err
		}
	}
	return nil
}

// used is what is in use, each once.
func (s *Streams) used() []*uses {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*uses, 0, len(s.open)+len(s.waiting))
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
