package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// inline is how many ids of a call are looked up without memory for the question:
// all but those of messages with many references.
const inline = 4

// errShort is about a store that answers less than it was asked.
var errShort = errors.New("the store has left ids out")

// findNamed looks up what a call names, each of which it may leave out: a task, a
// context, and tasks it refers to, of which referred says whether all are usable.
func (l *Ledger) findNamed(
	ctx context.Context, a asker, taskID, contextID string, references []string,
) (task, group found, referred bool, err error) {
	var refRoom [inline]state.Ref
	var foundRoom [inline]found
	refs := append(refRoom[:0], state.Ref{Kind: state.Task, ID: taskID}, state.Ref{Kind: state.Context, ID: contextID})
	for _, id := range references {
		refs = append(refs, state.Ref{Kind: state.Task, ID: id})
	}
	all := foundRoom[:min(len(refs), inline)]
	if len(refs) > inline {
		all = make([]found, len(refs))
	}
	if err := l.find(ctx, a, refs, all); err != nil {
		return found{}, found{}, false, err
	}
	referred = true
	for i := range references {
		referred = referred && all[2+i].usable
	}
	return all[0], all[1], referred, nil
}

// findOne is find for one id.
func (l *Ledger) findOne(ctx context.Context, a asker, ref state.Ref) (found, error) {
	var is [1]found
	err := l.find(ctx, a, []state.Ref{ref}, is[:])
	return is[0], err
}

// find looks ids up, all of them before any is judged by anybody. The empty id, which
// is how a call says nothing, is not looked up and does not exist.
func (l *Ledger) find(ctx context.Context, a asker, refs []state.Ref, is []found) error {
	named, last := 0, 0
	for i, ref := range refs {
		if ref.ID != "" {
			named, last = named+1, i
		}
	}
	if named > 1 && !l.near {
		return l.findAtOnce(ctx, a, refs, is)
	}
	for i := range refs[:min(last+1, len(refs))] {
		ref := &refs[i]
		if ref.ID == "" {
			continue
		}
		r, ok, err := l.lookup(ctx, a.agent, ref.Kind, ref.ID)
		if err != nil {
			return fmt.Errorf("look up who owns %s %q: %w", kindName(ref.Kind), ref.ID, err)
		}
		if ok {
			l.judge(a, &r, &is[i])
		}
	}
	return nil
}

// findAtOnce is find in one round trip.
func (l *Ledger) findAtOnce(ctx context.Context, a asker, refs []state.Ref, is []found) error {
	asked := make([]state.Ref, 0, len(refs))
	for _, ref := range refs {
		if ref.ID != "" {
			asked = append(asked, ref)
		}
	}
	records, err := l.lookupAll(ctx, a.agent, asked)
	if err != nil {
		return fmt.Errorf("look up who owns %s %q and %d more: %w",
			kindName(asked[0].Kind), asked[0].ID, len(asked)-1, err)
	}
	next := 0
	for i, ref := range refs {
		if ref.ID == "" {
			continue
		}
		if r := &records[next]; r.Kind != 0 { // the zero Record is for what is not there
			l.judge(a, r, &is[i])
		}
		next++
	}
	return nil
}

// judge says what a record that exists is to the asker.
func (l *Ledger) judge(a asker, r *state.Record, is *found) {
	is.exists = true
	is.usable = l.scope.shares(a.owner, *r)
	if !is.usable {
		is.lent = l.lends(a, *r)
		is.usable = is.lent
	}
	if is.usable {
		is.record = *r
	}
}

func kindName(k state.Kind) string {
	if k == state.Context || k == state.ContextAlias || k == state.ContextName {
		return "context"
	}
	return "task"
}
