package ledger

import (
	"context"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Names says of each context that is shown to a caller, if it stands in the place of
// somebody else's, what its owner calls it; "" for every other. A task that is lent is in
// a context of its lender's, and named by that. The error wraps one of the store.
func (l *Ledger) Names(
	ctx context.Context, p *authn.Principal, agent string, m *wire.Method, shown []wire.TaskRef,
) ([]string, error) {
	refs := make([]state.Ref, 0, 2*len(shown))
	for _, t := range shown {
		refs = append(refs, state.Ref{Kind: state.Context, ID: t.ContextID})
		if t.ID != "" && l.share != nil {
			refs = append(refs, state.Ref{Kind: state.Task, ID: t.ID})
		}
	}
	records, err := l.lookupAll(ctx, agent, refs)
	if err != nil {
		return nil, fmt.Errorf("look up what %d contexts are called: %w", len(shown), err)
	}
	a := ask(p, agent, m)
	names := make([]string, len(shown))
	for i, t := range shown {
		group, task := records[0], state.Record{}
		if records = records[1:]; t.ID != "" && l.share != nil {
			task, records = records[0], records[1:]
		}
		lent := task.Context == group.ID && task.Owner == group.Owner && l.lends(a, task)
		if group.Kind == state.Context && (l.scope.shares(a.owner, group) || lent) {
			names[i] = group.Context
		}
	}
	return names, nil
}

// Circle names whoever shares tasks and contexts with a principal by the scope: a context
// of theirs goes by one name for all of them.
func (l *Ledger) Circle(p *authn.Principal) string {
	if who, whose := l.scope.circle(asOwner(p)); who == string(scopeTenant) {
		return who + ":" + whose // no key of a principal begins like that
	}
	return p.Key()
}
