package ledger

import (
	"context"
	"slices"
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Beside returns the records of what a call names beside its own task: a context, and tasks
// that its message refers to, each of which may be missing. It does not say whose they are,
// which is for Check. The error wraps one of the store.
func (l *Ledger) Beside(
	ctx context.Context, agent, contextID string, taskIDs []string,
) (group state.Record, tasks []state.Record, err error) {
	refs := make([]state.Ref, 0, 1+len(taskIDs))
	for _, id := range taskIDs {
		refs = append(refs, state.Ref{Kind: state.Task, ID: id})
	}
	if contextID != "" {
		refs = append(refs, state.Ref{Kind: state.Context, ID: contextID})
	}
	found, err := l.lookUp(ctx, agent, refs)
	if err == nil && contextID != "" {
		group, found = found[len(taskIDs)], found[:len(taskIDs)]
	}
	return group, slices.DeleteFunc(found, func(r state.Record) bool { return r.Kind == 0 }), err
}

// SkillsIn returns those of the skills that calls in a context were for, beside the one
// that the context's record has; "" stands for calls of which nobody knew which. The error
// wraps one of the store.
func (l *Ledger) SkillsIn(ctx context.Context, agent, contextID string, skills []string) ([]string, error) {
	refs := make([]state.Ref, len(skills))
	for i, skill := range skills {
		refs[i] = state.Ref{Kind: state.ContextAlias, ID: skillID(skill, contextID)}
	}
	found, err := l.lookUp(ctx, l.place(agent, state.Context), refs)
	if err != nil {
		return nil, err
	}
	var list []string
	for i, r := range found {
		if r.Kind != 0 {
			list = append(list, skills[i])
		}
	}
	return list, nil
}

// skillID is the id under which the state has that a context was used for a skill other
// than that of its record. Names of clients' own, which are of the same kind, never begin
// like that (see aliasID), and the skill is length-prefixed.
func skillID(skill, contextID string) string {
	return "skill:" + strconv.Itoa(len(skill)) + ":" + skill + contextID
}
