package limits

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// admission is the work on one call. It is used again for other calls, so that nothing
// that outlives Admit may point into it.
// It comes from a pool: the lists and the text keep their memory from call to call, and most calls
// allocate nothing.
type admission struct {
	limiter *Limiter
	call    *Call
	who     who
	now     time.Time
	draws   []state.Draw
	uses    []*bound // by draw
	spans   [][2]int // where text has the draws' keys
	text    []byte
	shadow  []string // limits that the call exceeds, but for their mode
	applied []*bound // those for open tasks
	named   bool     // draws stand for the task that a send names
}

// Admit checks the rate limits and quotas of a call: it counts the call, or says which limit is reached and counts nothing. Limits that
// do not apply cost nothing. Besides *Exceeded and ErrUnavailable an error may be that of
// ctx. The Pass is nil where nothing is to be done later, which is not an error.
func (l *Limiter) Admit(ctx context.Context, c *Call) (*Pass, error) {
	if l == nil || len(l.limits) == 0 {
		return nil, nil //nolint:nilnil // a nil Pass holds nothing
	}
	p := principal(c)
	a := l.scratch.Get().(*admission) //nolint:errcheck,forcetypeassert // the pool's own
	defer a.free()
	a.limiter, a.call = l, c
	here := l.agent(c.Agent)
	// The limits of an agent are listed when they are compiled: only their other conditions are
	// asked here.
	for _, m := range here.limits {
		if !m.applies(c, p) {
			continue
		}
		if m.src.Bytes > 0 && c.Bytes > int64(m.src.Bytes) {
			// Before anything is drawn: nothing would have to be given back.
			if !m.shadow {
				return nil, &Exceeded{Name: m.src.Name, Reason: tooLarge, Size: true}
			}
			a.exceeds(m)
		}
		// Who calls, and when, is worked out once and only if some limit applies.
		if a.who.caller == nil {
			a.who, a.now = callOf(c, p), l.options.Now()
		}
		a.add(m)
	}
	// All limits in one step: a call that one of them refuses has taken nothing of the others.
	got, at, err := a.draw(ctx)
	if err != nil {
		return nil, err
	}
	return a.pass(here, got, at), nil
}

// principal is who calls; for a call without one, somebody without a name, who shares the
// counts of all such calls.
func principal(c *Call) *authn.Principal {
	if c.Principal == nil {
		return &authn.Principal{}
	}
	return c.Principal
}

// free forgets the call.
func (a *admission) free() {
	l := a.limiter
	clear(a.draws)
	*a = admission{draws: a.draws[:0], uses: a.uses[:0], spans: a.spans[:0], text: a.text[:0]}
	l.scratch.Put(a)
}

// exceeds notes a limit in shadow mode that would have refused the call, once for all of its
// bounds.
func (a *admission) exceeds(m *limit) {
	if !slices.Contains(a.shadow, m.src.Name) {
		a.shadow = append(a.shadow, m.src.Name)
	}
}

// add lists what the call takes of a limit.
func (a *admission) add(m *limit) {
	from := len(a.text)
	// The values are written once for a limit, and copied behind the prefix of each bound.
	a.text = appendValues(a.text, m.parts, &a.who)
	to := len(a.text)
	cost := m.costs.ofCall(a.call)
	for i := range m.bounds {
		b := &m.bounds[i]
		switch {
		// Only a send can make a task, a call that has a place already needs no second, and a call
		// that costs nothing draws nothing.
		case b.what == boundTasks && !sends(a.call.Method),
			b.what == boundConcurrency && a.call.Placed,
			b.ttl == 0 && cost == 0:
			continue
		case b.what == boundTasks:
			a.applied = append(a.applied, b)
		}
		begin := len(a.text)
		a.text = append(a.text, b.prefix...)
		if b.what == boundTasks && a.call.Task != nil {
			w := recordOf(a.call.Task)
			a.text = appendValues(a.text, m.parts, &w)
		} else {
			a.text = append(a.text, a.text[from:to]...)
		}
		a.spans = append(a.spans, [2]int{begin, len(a.text)})
		a.uses = append(a.uses, b)
		a.draws = append(a.draws, a.one(b, cost))
	}
}

// one is a draw without its key. A send on a task keeps that task's place, if it has one.
func (a *admission) one(b *bound, cost int64) state.Draw {
	d := b.draw(cost, a.now)
	switch {
	case b.what == boundConcurrency:
		d.Holder = holder(byCall, a.call.ID)
	case b.what == boundTasks && a.call.Task != nil:
		d.Holder, d.Limit, a.named = holder(byTask, a.call.Agent, a.call.Task.ID), 0, true
	case b.what == boundTasks:
		d.Holder, d.TTL = holder(byCall, a.call.ID), max(a.call.Within, holdTTL)
	}
	return d
}

// Kinds of holders.
const (
	// A call has its place until it is released, by its id, which is unique over all gateways.
	byCall = "call/"
	// A task has its place until it is over, whichever calls and gateways tell of it.
	byTask = "task/"
)

// draw draws on all that was listed.
func (a *admission) draw(ctx context.Context) ([]state.Drawn, where, error) {
	if len(a.draws) == 0 {
		return nil, nowhere, nil
	}
	// Keys are slices of one string: a call that several limits apply to allocates once.
	text := string(a.text) // once for all keys
	for i, span := range a.spans {
		a.draws[i].Key = text[span[0]:span[1]]
	}
	got, at, err := a.limiter.draw(ctx, a.draws)
	// A send on a task asks for no new place: it renews the one that the task has. Where the
	// task has none, since it is over or older than the limit, it is counted as a new one.
	if a.named && err == nil && at != nowhere && a.closed(got) {
		got, at, err = a.limiter.draw(ctx, a.draws)
	}
	// Limits that are counted in this process, or not at all, are told of: they are wider than
	// they say.
	if at != inStore && ctx.Err() == nil {
		a.tell()
	}
	switch {
	case errors.Is(err, ErrUnavailable) && !slices.ContainsFunc(a.draws, hard):
		return nil, nowhere, nil // what is only watched refuses nobody
	case err != nil:
		return nil, nowhere, err
	}
	// A refusal for another reason stands: the send is then refused whether its task has a place
	// or not.
	for i, g := range got {
		if !g.OK && !a.draws[i].Soft {
			return nil, nowhere, a.exceeded(got)
		}
	}
	return got, at, nil
}

// hard reports whether a draw can refuse a call: those of limits in shadow mode cannot.
// A soft draw is made as far as there is room and answers either way.
func hard(d state.Draw) bool { return !d.Soft }

// tell says which limits were not counted where they should be.
// Draws of one limit stand together, so that each is told of once.
func (a *admission) tell() {
	for i, b := range a.uses {
		if i == 0 || a.uses[i-1].of != b.of {
			a.limiter.options.Fell(b.of.src.Name)
		}
	}
}

// closed reports whether a send is refused for no other reason than that its task has no
// place. It is then to be counted like one that makes a task.
func (a *admission) closed(got []state.Drawn) bool {
	found := false
	for i, g := range got {
		if g.OK || a.draws[i].Soft {
			continue
		}
		if a.uses[i].what != boundTasks {
			return false
		}
		found = true
	}
	for i, g := range got {
		if b := a.uses[i]; found && !g.OK && b.what == boundTasks {
			d := b.draw(1, a.now)
			d.Key, d.Holder = b.key(&a.who), holder(byCall, a.call.ID)
			d.TTL = max(a.call.Within, holdTTL)
			a.draws[i] = d
		}
	}
	return found
}

// key is that of a bucket of the bound.
// The prefix names the limit and the bound, the values are what the limit counts by.
func (b *bound) key(w *who) string {
	return string(appendValues([]byte(b.prefix), b.of.parts, w))
}

// pass is what an admitted call holds; nil for nothing.
func (a *admission) pass(here *agent, got []state.Drawn, at where) *Pass {
	var calls, tasks []state.Draw
	for i := range got {
		d := &a.draws[i]
		switch {
		case !got[i].OK:
			if d.Limit > 0 { // or it asked for the place of a task
				a.exceeds(a.uses[i].of)
			}
		case a.uses[i].what == boundConcurrency:
			calls = append(calls, *d)
		case a.uses[i].what == boundTasks && d.Limit > 0:
			tasks = append(tasks, *d)
		}
	}
	standings := a.standings(got)
	// Most calls hold nothing and show nothing, and then there is nothing to allocate.
	if standings == nil && a.shadow == nil && calls == nil && here.tasks == nil {
		return nil
	}
	p := &Pass{Standings: standings, Shadow: a.shadow, limiter: a.limiter, calls: calls, tasks: tasks}
	if here.tasks != nil {
		if a.who.caller == nil { // no limit applies, but the call may be on a task that has a place
			a.who = callOf(a.call, principal(a.call))
		}
		p.of = &tasksOf{bounds: here.tasks, applied: a.applied, who: a.who, record: a.call.Task}
	}
	if calls != nil || tasks != nil {
		a.limiter.keeper.add(p, at)
	}
	return p
}
