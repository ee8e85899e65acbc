package ledger

import (
	"context"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Check looks up everything that a call names and returns the record of its task,
// the zero Record when it names none that exists. It changes nothing.
//
// The error is ErrAbsent, a *ForeignContext, or wraps one of the store. All
// lookups are made before any is judged, so that refusals differ neither in kind
// nor in the work they took.
func (l *Ledger) Check(
	ctx context.Context, p *authn.Principal, agent string, c *wire.Call,
) (state.Record, error) {
	return l.check(ctx, ask(p, agent, c.Method), c)
}

// CheckMade is Check where the gateway has put the contextId that the call has in the place
// of the caller's own, so that it is the caller's although nobody knows it yet.
func (l *Ledger) CheckMade(
	ctx context.Context, p *authn.Principal, agent string, c *wire.Call,
) (state.Record, error) {
	a := ask(p, agent, c.Method)
	a.made = true
	return l.check(ctx, a, c)
}

func (l *Ledger) check(ctx context.Context, a asker, c *wire.Call) (state.Record, error) {
	if c.Method.Subject != wire.OfMessage && (c.Method.Extension != "" || c.TaskID != "" && c.ContextID != "") {
		return l.checkNamed(ctx, a, c)
	}
	switch c.Method.Subject {
	case wire.OfMessage:
		return l.checkMessage(ctx, a, c)
	case wire.OfTask, wire.OfConfig:
		t, err := l.findOne(ctx, a, state.Ref{Kind: state.Task, ID: c.TaskID})
		if err != nil {
			return state.Record{}, err
		}
		if !t.usable {
			return state.Record{}, ErrAbsent
		}
		return t.record, nil
	case wire.OfCaller:
		// The contextId of ListTasks is a filter. One of somebody else's is not for
		// the agent to see; one that nobody owns finds nothing that Owns lets pass.
		group, err := l.findOne(ctx, a, state.Ref{Kind: state.Context, ID: c.ContextID})
		if err != nil {
			return state.Record{}, err
		}
		return group.endpoint(), l.foreign(a, group, found{}, c.ContextID)
	case wire.OfAgent:
		return state.Record{}, nil
	}
	return state.Record{}, fmt.Errorf("check ownership of %s: unknown kind of subject %d",
		c.Method.Name, c.Method.Subject)
}

// checkNamed judges a call that brings no message and may name a task, a context, or both:
// that of an extension's method, whatever it is about, and one about a task that names the
// context too.
func (l *Ledger) checkNamed(ctx context.Context, a asker, c *wire.Call) (state.Record, error) {
	task, group, _, err := l.findNamed(ctx, a, c.TaskID, c.ContextID, nil)
	if err != nil {
		return state.Record{}, err
	}
	named := c.TaskID != "" || c.Method.Subject == wire.OfTask
	if named && !task.usable || disagree(task, c.ContextID) {
		return state.Record{}, ErrAbsent
	}
	if err := l.foreign(a, group, task, c.ContextID); err != nil && !task.lent {
		if named { // as in checkMessage
			return state.Record{}, ErrAbsent
		}
		return state.Record{}, err
	}
	return task.record, nil
}

// checkMessage judges a send: the task it continues, the context it is in, and
// the tasks it refers to, each optional.
func (l *Ledger) checkMessage(ctx context.Context, a asker, c *wire.Call) (state.Record, error) {
	// A call that names nothing looks nothing up, and what the agent makes of it could
	// not be recorded: the agent would work for an answer that has to be withheld.
	if err := l.away(a.agent); err != nil {
		return state.Record{}, unready(err)
	}
	task, group, referred, err := l.findNamed(ctx, a, c.TaskID, c.ContextID, c.ReferenceTaskIDs)
	if err != nil {
		return state.Record{}, err
	}
	// A push notification config is its owner's alone, whichever call brings it: its
	// webhook would go on to be told of the task when nothing is lent any more.
	absent := c.TaskID != "" && !task.usable || task.lent && c.HasPushConfig
	if choosesTaskID(c) && !task.exists {
		absent = false
	}
	if absent || !referred || disagree(task, c.ContextID) {
		return state.Record{}, ErrAbsent
	}
	if err := l.foreign(a, group, task, c.ContextID); err != nil && !task.lent {
		// A task that exists has a context of its own; another's beside it cannot be
		// replaced without changing what the call says.
		if task.exists {
			return state.Record{}, ErrAbsent
		}
		return state.Record{}, err
	}
	if !task.usable {
		return group.endpoint(), nil
	}
	return task.record, nil
}

// choosesTaskID reports whether the client makes up the ids of new tasks, so that
// a task nobody knows is one about to be made. Only 0.1's sends do that; since
// 0.2 the agent chooses. A 0.1 send that names no task is a new one that such an
// agent will name.
func choosesTaskID(c *wire.Call) bool {
	return c.Version == wire.V01 && c.Method.Subject == wire.OfMessage
}

// disagree reports whether a call puts a task into a context that is not its own.
// A task of which no context was ever shown is in none, and its owner may say so
// first.
func disagree(task found, contextID string) bool {
	own := task.record.Context
	return contextID != "" && own != contextID && (own != "" || task.lent)
}

// found is what the store says of one id.
type found struct {
	record         state.Record // zero unless usable
	exists, usable bool
	lent           bool // usable, and somebody else's
}

// foreign is the error for a context that is not the caller's. One that nobody knows may be
// anybody's, unless it is that of the caller's task, or made for the caller.
func (l *Ledger) foreign(a asker, group, task found, id string) error {
	switch {
	case id == "" || group.usable:
		return nil
	case group.exists:
		return &ForeignContext{ID: id}
	case l.adopt || a.made || task.usable && task.record.Context == id:
		return nil
	}
	return &ForeignContext{ID: id, Unknown: true}
}

// endpoint is where the agent was reached when it showed the id, and nothing else of
// the record: a new task of a context belongs where the context is known.
func (f found) endpoint() state.Record {
	return state.Record{Endpoint: f.record.Endpoint}
}

// Owns reports of each task that a list shows whether the call may see it. A task
// that nobody owns is for nobody. may is what rules say of a task that is the caller's or
// lent; nil lets all pass.
func (l *Ledger) Owns(
	ctx context.Context, p *authn.Principal, agent string, m *wire.Method, tasks []wire.TaskRef,
	may func(*state.Record) bool,
) ([]bool, error) {
	refs := make([]state.Ref, len(tasks))
	for i, t := range tasks {
		refs[i] = state.Ref{Kind: state.Task, ID: t.ID}
	}
	all := make([]found, len(tasks))
	if err := l.find(ctx, ask(p, agent, m), refs, all); err != nil {
		return nil, err
	}
	owns := make([]bool, len(tasks))
	for i := range all {
		owns[i] = all[i].usable && (may == nil || may(&all[i].record))
	}
	return owns, nil
}
