package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Origin is the call that an id comes from: what its record keeps of it, and what
// else it is judged by.
type Origin struct {
	Agent      string   // configured agent id
	Skill      string   // what the call was allowed for
	Endpoint   string   // where the agent was reached; "" while it has not been
	Version    string   // what the caller speaks
	Extensions []string // active in the call
	Trace      string   // its span, as state.Record keeps it

	Method *wire.Method // of the call; nil: what is lent may not be used
	Task   string       // what the call names; "" for none

	// Alias is a context that stands in the place of somebody else's, which the call named
	// by what it is called by the caller: Called. Its record keeps that; see Names.
	Alias, Called string

	// Reserved is the context that Reserve has made the caller's not a second ago, or found
	// to be; "" for none. A store in this process still says so: Learn need not ask again.
	Reserved string
}

// record is what all claims of one call have in common.
func (o *Origin) record(a owner) state.Record {
	return state.Record{
		Agent: o.Agent, Owner: a.key, Tenant: a.tenant, Skill: o.Skill, Version: o.Version,
		Endpoint: o.Endpoint, Extensions: o.Extensions, Trace: o.Trace,
	}
}

// Reserve makes the ids that a caller chose the caller's, once the call has been
// allowed and before the agent sees it: the contextId of a send, or of an extension's
// method that writes, and the task id of a 0.1 send. Ids that the caller owns already
// stay as they are. c is the call as it goes to the agent: with a fresh contextId where
// Check found a foreign one. A call on a task that is lent reserves nothing.
//
// The error is ErrAbsent or a *ForeignContext when somebody else was faster, or
// wraps one of the store, state.ErrFull among them. When the call then fails, the
// reservation stands: it binds nobody but the one who made it.
func (l *Ledger) Reserve(ctx context.Context, p *authn.Principal, o Origin, c *wire.Call) error {
	if c.Method.Subject != wire.OfMessage && (c.Method.Extension == "" || !c.Method.Writes) {
		return nil
	}
	if l.share != nil && c.TaskID != "" {
		task, err := l.findOne(ctx, ask(p, o.Agent, c.Method), state.Ref{Kind: state.Task, ID: c.TaskID})
		if err != nil || task.lent {
			return err
		}
	}
	o.Version = string(c.Version)
	if !choosesTaskID(c) || c.TaskID == "" {
		return l.ReserveTask(ctx, p, o, "", c.ContextID)
	}
	// A task is in the context of its record for good, so it must not get one that
	// somebody else turns out to have.
	if c.ContextID != "" {
		if err := l.ReserveTask(ctx, p, o, "", c.ContextID); err != nil {
			return err
		}
	}
	by := asOwner(p)
	_, err := l.claim(ctx, by, []state.Record{asTask(o.record(by), c.TaskID, c.ContextID)})
	return err
}

// Ready reports whether what a call of an agent makes could be recorded at this moment, so
// that one whose answer would have to be withheld is not sent. It asks the store, unless a
// write has worked there just now. more is how many ids the call makes that are nobody's yet,
// and are to be p's. The error wraps one of the store.
func (l *Ledger) Ready(ctx context.Context, p *authn.Principal, agent string, more int) error {
	if l.bounded != nil && more > 0 {
		if err := l.bounded.Room(asOwner(p).key, more); err != nil {
			return unready(err)
		}
	}
	if l.far == nil {
		return nil
	}
	err := l.far.Ready(ctx, agent)
	if backend := l.place(agent, state.Context); err == nil && backend != agent {
		err = l.far.Ready(ctx, backend)
	}
	if err != nil {
		return unready(err)
	}
	return nil
}

func unready(err error) error { return fmt.Errorf("record what a call will make: %w", err) }

// ReserveTask is Reserve for ids that the gateway made up in the caller's place,
// because the agent wants a client to choose them and the caller's version does
// not let it: a 0.1 agent in front of later clients. Each may be empty for none.
// The errors are those of Reserve.
func (l *Ledger) ReserveTask(ctx context.Context, p *authn.Principal, o Origin, taskID, contextID string) error {
	by := asOwner(p)
	var room [2]state.Record
	claims := room[:0]
	if taskID != "" {
		claims = append(claims, asTask(o.record(by), taskID, contextID))
	}
	if contextID != "" {
		claims = append(claims, o.asContext(o.record(by), contextID))
	}
	_, err := l.claim(ctx, by, claims)
	return err
}

// Learn makes what an answer shows the caller's: each task, its context, and the
// context of a message. A task that is lent stays its owner's, with its context and with
// any other that it is shown in. What is recorded of a task's context is the first that
// it was shown in.
// It returns what is recorded of the first task, the zero Record where there is none.
//
// The error is ErrAbsent when a task is somebody else's, a *ForeignContext when a
// context is, or wraps one of the store; in every case the caller must not get
// the answer. Lists are not learned from: see Owns.
//
// What an agent has made exists even if the caller has hung up, so the end of ctx
// does not keep it from being recorded.
func (l *Ledger) Learn(ctx context.Context, p *authn.Principal, o Origin, a wire.Answer) (state.Record, error) {
	if a.Kind == listed || len(a.Tasks) == 0 && a.ContextID == "" {
		return state.Record{}, nil
	}
	if !l.near { // a store in this process does not look at it
		ctx = context.WithoutCancel(ctx)
	}
	if l.share != nil && o.Method != nil {
		return l.learnLent(ctx, p, o, a)
	}
	by := asOwner(p)
	r := o.record(by)
	var room [2]state.Record
	claims := room[:0]
	last := "" // tasks of one answer nearly always share a context
	if l.near {
		last = o.Reserved
	}
	for _, t := range a.Tasks {
		if t.ID != "" {
			claims = append(claims, asTask(r, t.ID, t.ContextID))
		}
		if t.ContextID != last && t.ContextID != "" {
			claims = append(claims, o.asContext(r, t.ContextID))
		}
		last = t.ContextID
	}
	if a.ContextID != last && a.ContextID != "" {
		claims = append(claims, o.asContext(r, a.ContextID))
	}
	first, err := l.claim(ctx, by, claims)
	return onlyTask(first), err
}

// onlyTask leaves out what is recorded of a context.
func onlyTask(r state.Record) state.Record {
	if r.Kind != state.Task {
		return state.Record{}
	}
	return r
}

// learnLent is Learn where tasks may be lent. Tasks come first: the context of one
// that is lent must not become the caller's, not even where nobody has it yet. It becomes
// that of the task's owner.
func (l *Ledger) learnLent(ctx context.Context, p *authn.Principal, o Origin, a wire.Answer) (first state.Record, err error) {
	asks := ask(p, o.Agent, o.Method)
	r := o.record(asks.owner)
	var claims []state.Record
	for _, t := range a.Tasks {
		if t.ID != "" {
			claims = append(claims, asTask(r, t.ID, t.ContextID))
		}
	}
	stand, err := l.claimAll(ctx, claims)
	if err != nil {
		return first, err
	}
	if len(stand) > 0 {
		first = stand[0]
	}
	if len(claims) == 0 && o.Task != "" { // a message in the context of the call's task
		task, err := l.findOne(ctx, asks, state.Ref{Kind: state.Task, ID: o.Task})
		if err != nil {
			return first, err
		}
		stand = append(stand, task.record)
	}
	lent, groups := map[string]bool{}, contexts{} // what comes with a lent task, and what is the caller's
	for i, s := range stand {
		context := s.Context
		if i < len(claims) {
			context = claims[i].Context
		}
		switch {
		case s.Kind == 0:
			continue
		case l.scope.shares(asks.owner, s):
			if i < len(claims) {
				groups.add(&o, r, context) // also where it came with a lent task
			}
			continue
		case !l.lends(asks, s):
			return first, ErrAbsent
		}
		if lent[s.Context], lent[context] = true, true; context != s.Context {
			if err := l.claimLent(ctx, o.asContext(r, context), s); err != nil {
				return first, err
			}
		}
	}
	for _, t := range append(slices.Clone(a.Tasks), wire.TaskRef{ContextID: a.ContextID}) {
		if t.ID == "" && !lent[t.ContextID] {
			groups.add(&o, r, t.ContextID)
		}
	}
	_, err = l.claim(ctx, asks.owner, groups.records)
	return first, err
}

// contexts are claims of contexts, each once.
type contexts struct {
	records []state.Record
	ids     map[string]bool
}

func (c *contexts) add(o *Origin, r state.Record, id string) {
	if id == "" || c.ids[id] {
		return
	}
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	c.records, c.ids[id] = append(c.records, o.asContext(r, id)), true
}

// claimLent records a context that a lent task is shown in, where that is not the one of the
// task's record, for the owner of the task.
func (l *Ledger) claimLent(ctx context.Context, group, task state.Record) error {
	if group.ID == "" {
		return nil
	}
	group.Owner, group.Tenant, group.Context = task.Owner, task.Tenant, ""
	_, err := l.claim(ctx, owner{key: task.Owner, tenant: task.Tenant}, []state.Record{group})
	if errors.Is(err, ErrAbsent) {
		return ErrAbsent
	}
	return err
}

// listed is wire.Answer.Kind of a ListTasks answer.
const listed = "list"

func asTask(r state.Record, id, contextID string) state.Record {
	r.Kind, r.ID, r.Context = state.Task, id, contextID
	return r
}

// asContext leaves out what nobody asks of a context.
func (o *Origin) asContext(r state.Record, id string) state.Record {
	r.Kind, r.ID, r.Context, r.Trace, r.Extensions = state.Context, id, "", "", nil
	if id == o.Alias {
		r.Context = o.Called
	}
	return r
}

// claim records what is not recorded yet, judges what stands, and returns the first of
// that. A store in this
// process is asked for one after the other, which takes no memory, and no further
// than the first that is somebody else's.
func (l *Ledger) claim(ctx context.Context, by owner, claims []state.Record) (first state.Record, err error) {
	for i := range claims {
		claims[i].Agent = l.place(claims[i].Agent, claims[i].Kind)
	}
	if len(claims) > 1 && !l.near {
		return l.claimAtOnce(ctx, by, slices.Clone(claims))
	}
	for i := range claims {
		stands, err := l.store.Claim(ctx, claims[i])
		if err != nil {
			return first, unclaimed(claims[i:i+1], err)
		}
		if !l.scope.shares(by, stands) {
			return first, taken(claims[i].Kind, claims[i].ID)
		}
		if err := l.join(ctx, claims[i], stands); err != nil {
			return first, err
		}
		if i == 0 {
			first = stands
		}
	}
	return first, nil
}

// claimAtOnce is claim in one round trip.
func (l *Ledger) claimAtOnce(ctx context.Context, by owner, claims []state.Record) (state.Record, error) {
	stand, err := l.claimAll(ctx, claims)
	if err != nil {
		return state.Record{}, err
	}
	for i, s := range stand {
		if !l.scope.shares(by, s) {
			return state.Record{}, taken(claims[i].Kind, claims[i].ID)
		}
	}
	for i, s := range stand {
		if err := l.join(ctx, claims[i], s); err != nil {
			return state.Record{}, err
		}
	}
	return stand[0], nil
}

// taken is the error for an id that is somebody else's.
func taken(k state.Kind, id string) error {
	if k == state.Task {
		return ErrAbsent
	}
	return &ForeignContext{ID: id}
}

func unclaimed(claims []state.Record, err error) error {
	return fmt.Errorf("record who owns %s %q and %d more: %w",
		kindName(claims[0].Kind), claims[0].ID, len(claims)-1, err)
}
