package ledger

import (
	"context"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// place is under which agent an id is recorded: a context is the backend's, which two
// configured agents may have in common, and everything else is the configured agent's.
func (l *Ledger) place(agent string, k state.Kind) string {
	if k != state.Context || l.backend == nil {
		return agent
	}
	if backend := l.backend(agent); backend != "" {
		return backend
	}
	return agent
}

// lookup is Lookup of the store where the id is recorded. Contexts that were recorded before
// backends were told apart from agents are found under their agent; both are looked at
// whatever is found, so that the time it takes does not tell whether an id is taken.
func (l *Ledger) lookup(ctx context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	at := l.place(agent, k)
	r, ok, err := l.store.Lookup(ctx, at, k, id)
	if err != nil || at == agent {
		return r, ok, err
	}
	older, was, err := l.store.Lookup(ctx, agent, k, id)
	if !ok {
		r, ok = older, was
	}
	return r, ok, err
}

// lookupAll is lookup for several ids: one round trip for what may be the agent's, and where
// there are contexts one before it for the backend's.
func (l *Ledger) lookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	backend := l.place(agent, state.Context)
	var groups []state.Ref
	if backend != agent {
		for _, ref := range refs {
			if ref.Kind == state.Context {
				groups = append(groups, ref)
			}
		}
	}
	if len(groups) == 0 {
		return l.all(ctx, agent, refs)
	}
	first, err := l.all(ctx, backend, groups)
	if err != nil {
		return nil, err
	}
	records, err := l.all(ctx, agent, refs)
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
func (l *Ledger) all(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	records, err := l.store.LookupAll(ctx, agent, refs)
	if err == nil && len(records) != len(refs) {
		return nil, errShort
	}
	return records, err
}

// away returns an error while what belongs to an agent is known to be out of reach.
func (l *Ledger) away(agent string) error {
	if l.far == nil {
		return nil
	}
	if err := l.far.Away(agent); err != nil {
		return err
	}
	if backend := l.place(agent, state.Context); backend != agent {
		return l.far.Away(backend)
	}
	return nil
}
