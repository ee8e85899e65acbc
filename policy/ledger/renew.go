package ledger

import (
	"context"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Uses are the ids that something uses which goes on for longer than one look at the ledger:
// an open stream, or a call that waits for its answer.
type Uses struct {
	Agent string // configured agent id
	Skill string // what the call was allowed for

	Tasks    []string
	Contexts []string

	// What a client of 0.1 calls them, where it has chosen the ids; see Bind.
	TaskNames    []string
	ContextNames []string
}

// Renew has the records of what is used live on, as a call that names it does: a record is
// forgotten when nobody has asked for it for as long as the state keeps records, and whoever
// listens to a task asks for nothing. It tells nothing of what it finds. The error wraps one
// of the store.
func (l *Ledger) Renew(ctx context.Context, p *authn.Principal, u *Uses) error {
	o := asOwner(p)
	var refs, skills []state.Ref
	for _, id := range u.Tasks {
		refs = append(refs, state.Ref{Kind: state.Task, ID: id})
	}
	for _, id := range u.TaskNames {
		refs = append(refs, state.Ref{Kind: state.TaskAlias, ID: l.scope.aliasID(o, id)})
	}
	for _, id := range u.ContextNames {
		refs = append(refs, state.Ref{Kind: state.ContextAlias, ID: l.scope.aliasID(o, id)})
	}
	for _, id := range u.Contexts {
		refs = append(refs, state.Ref{Kind: state.Context, ID: id})
		if len(u.ContextNames) > 0 {
			refs = append(refs, state.Ref{Kind: state.ContextName, ID: l.scope.aliasID(o, id)})
		}
		if u.Skill != "" {
			skills = append(skills, state.Ref{Kind: state.ContextAlias, ID: skillID(u.Skill, id)})
		}
	}
	if len(refs) == 0 {
		return nil
	}
	_, err := l.lookupAll(ctx, u.Agent, refs)
	if err == nil && len(skills) > 0 {
		_, err = l.all(ctx, l.place(u.Agent, state.Context), skills)
	}
	if err != nil {
		return fmt.Errorf("renew %d records that are in use: %w", len(refs)+len(skills), err)
	}
	return nil
}
