package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// ErrBound says that a client's id stands for another of the agent's ids already,
// as happens when a client makes two tasks under one id at the same moment. What
// the earlier call bound stays.
var ErrBound = errors.New("the id stands for something else already")

// Alias returns the agent's id that a client's own stands for. Clients of 0.1
// choose the ids of their tasks and sessions; in front of agents that do so too,
// Bind keeps which is which. kind is state.TaskAlias or state.ContextAlias;
// with state.ContextName the two ids change places.
//
// The names are of whoever shares tasks: of the principal, with the scope tenant
// of the tenant, with the scope agent of everyone. So those who may use a task can
// do so by the name under which it was made, and nobody can learn of, or be in
// the way of, names of somebody else's. Under another scope they are other names.
// The error wraps one of the store.
func (l *Ledger) Alias(
	ctx context.Context, p *authn.Principal, agent string, kind state.Kind, clientID string,
) (agentID string, ok bool, err error) {
	return l.alias(ctx, asOwner(p), agent, kind, clientID)
}

func (l *Ledger) alias(
	ctx context.Context, o owner, agent string, kind state.Kind, clientID string,
) (string, bool, error) {
	if clientID == "" {
		return "", false, nil
	}
	r, ok, err := l.store.Lookup(ctx, agent, kind, l.scope.aliasID(o, clientID))
	if err != nil {
		return "", false, fmt.Errorf("look up what %s %q stands for: %w", kindName(kind), clientID, err)
	}
	return r.Context, ok, nil
}

// Bind makes a client's id stand for one of the agent's, for good. It is nil when
// it does already, ErrBound when it stands for another, and else wraps an error of
// the store, state.ErrFull among them. In every other case than nil the caller
// must not get the answer: they could not come back to what it shows.
//
// Bind only gives a name. That the task or context is the caller's is for Learn
// to find out first. As there, the end of ctx does not keep it from being recorded.
func (l *Ledger) Bind(
	ctx context.Context, p *authn.Principal, agent string, kind state.Kind, clientID, agentID string,
) error {
	if clientID == "" || agentID == "" {
		return fmt.Errorf("record what %s %q stands for: %q is no id", kindName(kind), clientID, "")
	}
	o := asOwner(p)
	r := (&Origin{Agent: agent, Version: string(wire.V01)}).record(o)
	r.Kind, r.ID, r.Context = kind, l.scope.aliasID(o, clientID), agentID
	stands, err := l.store.Claim(context.WithoutCancel(ctx), r)
	if err != nil {
		return fmt.Errorf("record what %s %q stands for: %w", kindName(kind), clientID, err)
	}
	if stands.Context != agentID {
		return ErrBound
	}
	return nil
}

// Speaks tells whether a task is called by 0.1's rules, for the methods whose names
// 0.1 shares with later versions: "0.1" when the id is one that Bind gave a task of
// the caller's, or the caller's task was made by a client of 0.1; "" otherwise.
//
// It looks up the same for every id, so that the time it takes tells as little as
// its answer about tasks of somebody else's. It judges nothing: Check does.
func (l *Ledger) Speaks(
	ctx context.Context, p *authn.Principal, agent, taskID string,
) (version string, err error) {
	if taskID == "" {
		return "", nil
	}
	a := ask(p, agent, nil)
	refs := [...]state.Ref{{Kind: state.TaskAlias, ID: l.scope.aliasID(a.owner, taskID)}, {Kind: state.Task, ID: taskID}}
	var is [2]found
	if err := l.find(ctx, a, refs[:], is[:]); err != nil {
		return "", err
	}
	if named, task := is[0].exists, is[1].record; named || task.Version == string(wire.V01) {
		return string(wire.V01), nil
	}
	return "", nil
}

// MadeIn tells what the client spoke that a task of the caller's was made by; "" where the
// caller has no such task. It judges nothing: Check does.
func (l *Ledger) MadeIn(ctx context.Context, p *authn.Principal, agent, taskID string) (version string, err error) {
	if taskID == "" {
		return "", nil
	}
	task, err := l.findOne(ctx, ask(p, agent, nil), state.Ref{Kind: state.Task, ID: taskID})
	return task.record.Version, err
}
