package ledger

import (
	"context"
	"fmt"
	"slices"

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
	o := ownerOf(p)
	if c.Method.Extension != "" && c.Method.Subject != wire.OfMessage {
		return l.checkExtension(ctx, o, agent, c)
	}
	switch c.Method.Subject {
	case wire.OfMessage:
		return l.checkMessage(ctx, o, agent, c)
	case wire.OfTask, wire.OfConfig:
		t, err := l.find(ctx, o, agent, state.Task, c.TaskID)
		if err != nil {
			return state.Record{}, err
		}
		if !t.owned {
			return state.Record{}, ErrAbsent
		}
		return t.record, nil
	case wire.OfCaller:
		// The contextId of ListTasks is a filter. One of somebody else's is not for
		// the agent to see; one that nobody owns finds nothing that Owns lets pass.
		group, err := l.find(ctx, o, agent, state.Context, c.ContextID)
		if err != nil {
			return state.Record{}, err
		}
		return state.Record{}, group.foreign(c.ContextID)
	case wire.OfAgent:
		return state.Record{}, nil
	}
	return state.Record{}, fmt.Errorf("check ownership of %s: unknown kind of subject %d",
		c.Method.Name, c.Method.Subject)
}

// checkExtension judges a call of an extension's method that brings no message.
// Whatever it is about, it may name a task, a context, or both.
func (l *Ledger) checkExtension(
	ctx context.Context, o owner, agent string, c *wire.Call,
) (state.Record, error) {
	task, group, err := l.findBoth(ctx, o, agent, c)
	if err != nil {
		return state.Record{}, err
	}
	named := c.TaskID != "" || c.Method.Subject == wire.OfTask
	if named && !task.owned || disagree(task.record, c.ContextID) {
		return state.Record{}, ErrAbsent
	}
	if err := group.foreign(c.ContextID); err != nil {
		if named { // as in checkMessage
			return state.Record{}, ErrAbsent
		}
		return state.Record{}, err
	}
	return task.record, nil
}

// checkMessage judges a send: the task it continues, the context it is in, and
// the tasks it refers to, each optional.
func (l *Ledger) checkMessage(
	ctx context.Context, o owner, agent string, c *wire.Call,
) (state.Record, error) {
	task, group, err := l.findBoth(ctx, o, agent, c)
	if err != nil {
		return state.Record{}, err
	}
	referred, err := l.ownsAll(ctx, o, agent, c.ReferenceTaskIDs)
	if err != nil {
		return state.Record{}, err
	}

	absent := c.TaskID != "" && !task.owned
	if choosesTaskID(c) && !task.exists {
		absent = false
	}
	if absent || !referred || disagree(task.record, c.ContextID) {
		return state.Record{}, ErrAbsent
	}
	if err := group.foreign(c.ContextID); err != nil {
		// A task that exists has a context of its own; another's beside it cannot be
		// replaced without changing what the call says.
		if task.exists {
			return state.Record{}, ErrAbsent
		}
		return state.Record{}, err
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
// A task of which no context was ever shown is in none.
func disagree(task state.Record, contextID string) bool {
	return task.Context != "" && contextID != "" && task.Context != contextID
}

// found is what the store says of one id.
type found struct {
	record        state.Record // zero unless owned
	exists, owned bool
}

// foreign is the error for a context that exists and is not the caller's.
func (f found) foreign(id string) error {
	if f.exists && !f.owned {
		return &ForeignContext{ID: id}
	}
	return nil
}

// findBoth looks up the task and the context that a call names.
func (l *Ledger) findBoth(ctx context.Context, o owner, agent string, c *wire.Call) (task, group found, err error) {
	if task, err = l.find(ctx, o, agent, state.Task, c.TaskID); err == nil {
		group, err = l.find(ctx, o, agent, state.Context, c.ContextID)
	}
	return task, group, err
}

// find looks an id up. The empty id, which is how a call says nothing, is not
// looked up and does not exist.
func (l *Ledger) find(
	ctx context.Context, o owner, agent string, k state.Kind, id string,
) (found, error) {
	if id == "" {
		return found{}, nil
	}
	r, ok, err := l.store.Lookup(ctx, agent, k, id)
	if err != nil {
		return found{}, fmt.Errorf("look up who owns %s %q: %w", kindName(k), id, err)
	}
	if !ok || !l.shares(o, r) {
		return found{exists: ok}, nil
	}
	return found{record: r, exists: true, owned: true}, nil
}

// ownsAll looks all ids up, also after the first that is not the caller's.
func (l *Ledger) ownsAll(ctx context.Context, o owner, agent string, ids []string) (bool, error) {
	all := true
	for _, id := range ids {
		t, err := l.find(ctx, o, agent, state.Task, id)
		if err != nil {
			return false, err
		}
		all = all && t.owned
	}
	return all, nil
}

// Owns reports whether a task that a list shows is the caller's. A task that
// nobody owns is not.
func (l *Ledger) Owns(ctx context.Context, p *authn.Principal, agent string, t wire.TaskRef) (bool, error) {
	f, err := l.find(ctx, ownerOf(p), agent, state.Task, t.ID)
	return f.owned, err
}

// Tasks returns the records of the tasks on an agent that are the caller's, from
// the newest to the oldest and at most limit: what ListTasks is answered from for
// agents that have no such call. With a contextID they are the tasks of it only;
// whether the caller may name it is for Check to say. A task that was reserved may
// be one that the agent never made. The error wraps one of the store.
func (l *Ledger) Tasks(
	ctx context.Context, p *authn.Principal, agent, contextID string, limit int,
) ([]state.Record, error) {
	o := ownerOf(p)
	q := state.Query{Agent: agent, Owner: o.key, Context: contextID, Limit: limit}
	switch l.scope {
	case scopeAgent:
		q.Everyone = true
	case scopeTenant:
		q.Tenant = o.tenant
	}
	list, err := l.store.Tasks(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("list the tasks of a caller: %w", err)
	}
	// What shares says stands above how a store reads a query.
	return slices.DeleteFunc(list, func(r state.Record) bool { return !l.shares(o, r) }), nil
}

func kindName(k state.Kind) string {
	if k == state.Context || k == state.ContextAlias || k == state.ContextName {
		return "context"
	}
	return "task"
}
