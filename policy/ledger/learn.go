package ledger

import (
	"context"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Reserve makes the ids that a caller chose the caller's, once the call has been
// allowed and before the agent sees it: the contextId of a send, or of an extension's
// method that writes, and the task id of a 0.1 send. Ids that the caller owns already
// stay as they are. c is the call as it goes to the agent: with a fresh contextId where
// Check found a foreign one. exts are the extensions that are active in it.
//
// The error is ErrAbsent or a *ForeignContext when somebody else was faster, or
// wraps one of the store, state.ErrFull among them. When the call then fails, the
// reservation stands: it binds nobody but the one who made it.
func (l *Ledger) Reserve(
	ctx context.Context, p *authn.Principal, agent, skill string, c *wire.Call, exts ...string,
) error {
	if c.Method.Subject != wire.OfMessage && (c.Method.Extension == "" || !c.Method.Writes) {
		return nil
	}
	taskID := ""
	if choosesTaskID(c) {
		taskID = c.TaskID
	}
	return l.ReserveTask(ctx, p, agent, skill, string(c.Version), taskID, c.ContextID, exts...)
}

// ReserveTask is Reserve for ids that the gateway made up in the caller's place,
// because the agent wants a client to choose them and the caller's version does
// not let it: a 0.1 agent in front of later clients. Each may be empty for none.
// version is what the caller speaks. The errors are those of Reserve.
func (l *Ledger) ReserveTask(
	ctx context.Context, p *authn.Principal, agent, skill, version, taskID, contextID string,
	exts ...string,
) error {
	o := ownerOf(p)
	r := o.record(agent, skill, version)
	r.Extensions = exts
	if taskID != "" {
		if err := l.claimTask(ctx, o, r, taskID, contextID); err != nil {
			return err
		}
	}
	return l.claimContext(ctx, o, r, contextID)
}

// Learn makes what an answer shows the caller's: each task, its context, and the
// context of a message. skill is what the call was allowed for, endpoint where
// the agent was reached, version what the caller speaks, exts what was active.
//
// The error is ErrAbsent when a task is somebody else's, a *ForeignContext when a
// context is, or wraps one of the store; in every case the caller must not get
// the answer. Lists are not learned from: see Owns.
//
// What an agent has made exists even if the caller has hung up, so the end of ctx
// does not keep it from being recorded.
func (l *Ledger) Learn(
	ctx context.Context, p *authn.Principal, agent, skill, endpoint, version string,
	exts []string, a wire.Answer,
) error {
	if a.Kind == listed || len(a.Tasks) == 0 && a.ContextID == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	o := ownerOf(p)
	r := o.record(agent, skill, version)
	r.Endpoint, r.Extensions = endpoint, exts
	last := "" // tasks of one answer nearly always share a context
	for _, t := range a.Tasks {
		if t.ID != "" {
			if err := l.claimTask(ctx, o, r, t.ID, t.ContextID); err != nil {
				return err
			}
		}
		if t.ContextID != last {
			last = t.ContextID
			if err := l.claimContext(ctx, o, r, last); err != nil {
				return err
			}
		}
	}
	if a.ContextID == last {
		return nil
	}
	return l.claimContext(ctx, o, r, a.ContextID)
}

// listed is wire.Answer.Kind of a ListTasks answer.
const listed = "list"

// record is what all claims of one call have in common.
func (o owner) record(agent, skill, version string) state.Record {
	return state.Record{
		Agent: agent, Owner: o.key, Tenant: o.tenant, Skill: skill, Version: version,
	}
}

func (l *Ledger) claimTask(ctx context.Context, o owner, r state.Record, id, contextID string) error {
	r.Kind, r.ID, r.Context = state.Task, id, contextID
	stands, err := l.claim(ctx, r)
	if err == nil && !l.shares(o, stands) {
		return ErrAbsent
	}
	return err
}

func (l *Ledger) claimContext(ctx context.Context, o owner, r state.Record, id string) error {
	if id == "" {
		return nil
	}
	r.Kind, r.ID = state.Context, id
	stands, err := l.claim(ctx, r)
	if err == nil && !l.shares(o, stands) {
		return &ForeignContext{ID: id}
	}
	return err
}

func (l *Ledger) claim(ctx context.Context, r state.Record) (state.Record, error) {
	stands, err := l.store.Claim(ctx, r)
	if err != nil {
		return state.Record{}, fmt.Errorf("record who owns %s %q: %w", kindName(r.Kind), r.ID, err)
	}
	return stands, nil
}
