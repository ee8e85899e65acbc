package ledger

import (
	"context"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// records are what the store holds of an agent's tasks and contexts, wherever it is: a context
// is recorded under the backend that has it, everything else under the agent.
type records struct {
	store state.Ledger
	// near is a store in this process: asking it twice costs no more than asking once
	// for both, which would take memory to write the question down.
	near    bool
	far     state.Distant             // nil where the store is never out of reach
	bounded state.Bounded             // nil where the store has no bound of its own
	backend func(agent string) string // nil: each agent is one of its own
}

// recordsIn are those of a store. backend is Config.Backend.
func recordsIn(store state.Ledger, backend func(agent string) string) records {
	_, near := store.(*state.Memory)
	rs := records{store: store, near: near, backend: backend}
	rs.far, _ = store.(state.Distant)
	rs.bounded, _ = store.(state.Bounded)
	return rs
}

// place is under which agent an id is recorded: a context is the backend's, which two
// configured agents may have in common, and everything else is the configured agent's.
func (rs *records) place(agent string, k state.Kind) string {
	if k != state.Context || rs.backend == nil {
		return agent
	}
	if backend := rs.backend(agent); backend != "" {
		return backend
	}
	return agent
}

// lookup is Lookup of the store where the id is recorded. Contexts that were recorded before
// backends were told apart from agents are found under their agent; both are looked at
// whatever is found, so that the time it takes does not tell whether an id is taken.
func (rs *records) lookup(ctx context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	at := rs.place(agent, k)
	r, ok, err := rs.store.Lookup(ctx, at, k, id)
	if err != nil || at == agent {
		return r, ok, err
	}
	older, was, err := rs.store.Lookup(ctx, agent, k, id)
	if !ok {
		r, ok = older, was
	}
	return r, ok, err
}

// lookupAll is lookup for several ids: one round trip for what may be the agent's, and where
// there are contexts one before it for the backend's.
func (rs *records) lookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	backend := rs.place(agent, state.Context)
	var groups []state.Ref
	if backend != agent {
		for _, ref := range refs {
			if ref.Kind == state.Context {
				groups = append(groups, ref)
			}
		}
	}
	if len(groups) == 0 {
		return rs.all(ctx, agent, refs)
	}
	first, err := rs.all(ctx, backend, groups)
	if err != nil {
		return nil, err
	}
	records, err := rs.all(ctx, agent, refs)
	if err != nil {
		return nil, err
	}
	for i, ref := range refs {
		if ref.Kind != state.Context {
			continue
		}
		if first[0].Kind != 0 {
			records[i] = first[0]
		}
		first = first[1:]
	}
	return records, nil
}

// all is LookupAll of the store.
func (rs *records) all(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	records, err := rs.store.LookupAll(ctx, agent, refs)
	if err == nil && len(records) != len(refs) {
		return nil, errShort
	}
	return records, err
}

// away returns an error while what belongs to an agent is known to be out of reach.
func (rs *records) away(agent string) error {
	if rs.far == nil {
		return nil
	}
	if err := rs.far.Away(agent); err != nil {
		return err
	}
	if backend := rs.place(agent, state.Context); backend != agent {
		return rs.far.Away(backend)
	}
	return nil
}

// lookUp is lookupAll with an error that says what was looked for; nil for no ids.
func (rs *records) lookUp(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	records, err := rs.lookupAll(ctx, agent, refs)
	if err != nil {
		return nil, fmt.Errorf("look up %s %q and %d more: %w", kindName(refs[0].Kind), refs[0].ID, len(refs)-1, err)
	}
	return records, nil
}

// claimAll is ClaimAll of the store: it records what is not recorded, and returns what stands of
// each claim, in their order; nil for no claims.
func (rs *records) claimAll(ctx context.Context, claims []state.Record) ([]state.Record, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	stand, err := rs.store.ClaimAll(ctx, claims)
	if err == nil && len(stand) != len(claims) {
		err = errShort
	}
	if err != nil {
		return nil, unclaimed(claims, err)
	}
	return stand, nil
}

// join records that a context is used for another skill than the one it began with, or for
// nobody knows which. stands is what is recorded of the context.
func (rs *records) join(ctx context.Context, claim, stands state.Record) error {
	if claim.Kind != state.Context || claim.Skill == stands.Skill {
		return nil
	}
	claim.Kind, claim.ID, claim.Context = state.ContextAlias, skillID(claim.Skill, claim.ID), claim.ID
	if _, err := rs.store.Claim(ctx, claim); err != nil {
		return fmt.Errorf("record that context %q is used for skill %q: %w", claim.Context, claim.Skill, err)
	}
	return nil
}
