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

// ErrMany says that a list would take a look at too many tasks that the caller may not
// see: other callers', or such as rules deny. A list of one context may be possible.
var ErrMany = errors.New("too many tasks to look through")

// What is lent is looked for among all tasks of the agent, and what rules allow among the
// caller's: so many at a time, and at most so many for each that is wanted.
const (
	stride  = 1000
	strides = 20
)

// Tasks returns the records of the tasks on an agent that a call may see, from the
// newest to the oldest and at most limit: what ListTasks is answered from for agents
// that have no such call. With a contextID they are the tasks of it only; whether the
// caller may name it is for Check to say, and may is as in Owns. A task that was reserved
// may be one that the agent never made. The error is ErrMany, or wraps one of the store.
func (l *Ledger) Tasks(
	ctx context.Context, p *authn.Principal, agent string, m *wire.Method, contextID string, limit int,
	may func(*state.Record) bool,
) ([]state.Record, error) {
	a := ask(p, agent, m)
	q := l.scope.query(a.owner, agent, contextID)
	lent := l.share != nil && m != nil && !q.Everyone
	if lent || may != nil {
		q.Everyone = q.Everyone || lent
		return l.tasksAmong(ctx, a, q, limit, may)
	}
	q.Limit = limit
	list, err := l.store.Tasks(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("list the tasks of a caller: %w", err)
	}
	// What shares says stands above how a store reads a query.
	return slices.DeleteFunc(list, func(r state.Record) bool { return !l.scope.shares(a.owner, r) }), nil
}

// tasksAmong looks for tasks among those that q asks for, which others may be as well.
func (l *Ledger) tasksAmong(
	ctx context.Context, a asker, q state.Query, limit int, may func(*state.Record) bool,
) ([]state.Record, error) {
	var mine []state.Record
	for left := strides * max(limit, stride); len(mine) < limit; left -= q.Limit {
		if left <= 0 {
			return nil, ErrMany
		}
		q.Limit = min(left, stride)
		list, err := l.store.Tasks(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("look through tasks: %w", err)
		}
		for i := range list {
			r := &list[i]
			if (l.scope.shares(a.owner, *r) || l.lends(a, *r)) && (may == nil || may(r)) {
				mine = append(mine, *r)
			}
		}
		if len(list) < q.Limit {
			break
		}
		q.After = list[len(list)-1]
	}
	return mine[:min(len(mine), max(limit, 0))], nil
}

// Count says how many tasks on an agent are the caller's, without those that are lent;
// with a contextID, of that only. most says that no others can be visible to the caller.
func (l *Ledger) Count(
	ctx context.Context, p *authn.Principal, agent, contextID string,
) (n int, most bool, err error) {
	n, err = l.store.Count(ctx, l.scope.query(asOwner(p), agent, contextID))
	if err != nil {
		return 0, false, fmt.Errorf("count the tasks of a caller: %w", err)
	}
	return n, l.share == nil, nil
}
