package ownership

import (
	"errors"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/google/uuid"
)

// A client of A2A 0.1 chooses the ids of its tasks and sessions; since 0.2 the
// agent does. Between the two the gateway remembers, for each caller and agent,
// which of the agent's ids goes by which of the caller's.

// RecogniseVersion settles whether a call whose method's name 0.1 and 0.3 share is 0.1's:
// it is if the caller's task was made by a 0.1 call.
//
// It matters for tasks/get and tasks/cancel, whose names are the same in 0.1 and 0.3 while their
// answers differ.
func (ow *Owners) RecogniseVersion(x *exchange.Exchange) error {
	view := x.Agent.Look()
	if view == nil {
		return nil
	}
	if mixed, err := ow.recogniseMixed(x, view); mixed || err != nil {
		return err
	}
	if !x.Call.Shared {
		return nil
	}
	old := slices.ContainsFunc(view.Endpoints, func(e agents.Endpoint) bool { return e.Version == wire.V01 })
	if !old {
		// A newer agent has ids of its own, which clients of every version may name.
		_, named, err := ow.Ledger.Alias(x.Ctx, x.Principal, x.Agent.ID, state.TaskAlias, x.Call.TaskID)
		if named {
			x.Call.Version = wire.V01
		}
		return err
	}
	version, err := ow.Ledger.Speaks(x.Ctx, x.Principal, x.Agent.ID, x.Call.TaskID)
	if version == string(wire.V01) {
		x.Call.Version = wire.V01
	}
	return err
}

// renameIDs puts the agent's ids in the place of those that a 0.1 caller chose. A new
// one is left out: the agent will choose its own, and alias remembers it.
//
// A new task has no id toward the agent yet; its record is made when the answer names it.
func (ow *Owners) renameIDs(x *exchange.Exchange) error {
	if x.Call.Version != wire.V01 || x.Endpoint.Version == wire.V01 {
		return nil
	}
	send := x.Call.Method.Subject == wire.OfMessage
	for _, n := range []struct {
		kind state.Kind
		ID   *string
		to   *string
		from *string
	}{
		{state.TaskAlias, &x.Call.TaskID, &x.Task.Agent, &x.Task.Caller},
		{state.ContextAlias, &x.Call.ContextID, &x.Session.Agent, &x.Session.Caller},
	} {
		if *n.ID == "" {
			continue
		}
		agents, ok, err := ow.Ledger.Alias(x.Ctx, x.Principal, x.Agent.ID, n.kind, *n.ID)
		switch {
		case err != nil:
			return err
		case ok:
			*n.to, *n.from, *n.ID = agents, *n.ID, agents
		case send:
			*n.from, *n.ID = *n.ID, ""
		}
	}
	return nil
}

// RecallSession finds the session of a task that a 0.1 caller names without it.
func (ow *Owners) RecallSession(x *exchange.Exchange) error {
	if x.Task.Caller == "" || x.Session.Caller != "" || x.Record.Context == "" {
		return nil
	}
	callers, ok, err := ow.Ledger.Alias(x.Ctx, x.Principal, x.Agent.ID, state.ContextName, x.Record.Context)
	if ok {
		x.Session = translate.Alias{Agent: x.Record.Context, Caller: callers}
	}
	return err
}

// bindAliases remembers which ids the agent chose for those of a 0.1 caller.
//
// Both directions are kept for contexts, since events of the agent's name the context alone.
func (ow *Owners) bindAliases(x *exchange.Exchange, seen wire.Answer) error {
	if x.Task.Caller != "" && x.Task.Agent == "" && len(seen.Tasks) == 1 && seen.Tasks[0].ID != "" {
		if !approvals.IsID(x.Task.Caller) {
			if err := ow.bindAlias(x, state.TaskAlias, x.Task.Caller, seen.Tasks[0].ID); err != nil {
				return err
			}
		}
		x.Task.Agent = seen.Tasks[0].ID
	}
	if err := ow.learnApproved(x, seen); err != nil {
		return err
	}
	if x.Session.Caller != "" && x.Session.Agent == "" && seen.ContextID != "" {
		if err := ow.bindAlias(x, state.ContextAlias, x.Session.Caller, seen.ContextID); err != nil {
			return err
		}
		if err := ow.bindAlias(x, state.ContextName, seen.ContextID, x.Session.Caller); err != nil {
			return err
		}
		x.Session.Agent = seen.ContextID
	}
	if x.Upstream.Retell != nil {
		x.Upstream.Retell.Task, x.Upstream.Retell.Context = x.Task, x.Session
	}
	return nil
}

// bindAlias is insert-only: of two first calls with one id, the agent has made two
// tasks, and only one of them can have the name.
func (ow *Owners) bindAlias(x *exchange.Exchange, kind state.Kind, id, stands string) error {
	err := ow.Ledger.Bind(x.Ctx, x.Principal, x.Agent.ID, kind, id, stands)
	if errors.Is(err, ledger.ErrBound) {
		if kind != state.TaskAlias {
			return nil // a second conversation of the session; its tasks have names of their own
		}
		return wire.Errorf(wire.InvalidParams, "another call with this task id was faster").Because(err)
	}
	return err
}

// AssignTaskID gives a new task the id that a 0.1 agent expects its client to choose, and a
// session id. The task id is random, so that it is nobody's yet, and is reserved for the caller
// before the agent sees it.
func (ow *Owners) AssignTaskID(x *exchange.Exchange, c *wire.Call) error {
	if c.Method.Subject != wire.OfMessage {
		return nil
	}
	if c.ContextID == "" {
		c.ContextID = x.Record.Context // a task goes on in its own
	}
	if c.ContextID == "" {
		c.ContextID = uuid.NewString()
	}
	if c.TaskID != "" {
		return nil
	}
	c.TaskID = uuid.NewString()
	return ow.Ledger.ReserveTask(x.Ctx, x.Principal, originOf(x), c.TaskID, c.ContextID)
}
