package redis

import (
	"context"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const (
	// look is how many tasks one script reads: about half a millisecond for the server,
	// in which it does nothing else.
	look = 512
	// bottom of an index is where it ends, top where a list begins.
	top = "+"
)

// Tasks implements state.Ledger. Its time is bounded for each round trip, as their number
// depends on how many tasks it has to pass by because they are in other contexts.
func (l *ledger) Tasks(ctx context.Context, q state.Query) ([]state.Record, error) {
	// Two indexes may be asked, of the owner and of the tenant, each in the order of the answer: what
	// comes next is the newer of their first open tasks, as in a merge of sorted lists.
	rows := l.rows(q)
	var list []state.Record
	for len(list) < q.Limit {
		var next *row
		for _, r := range rows {
			if err := r.fill(ctx, q.Limit-len(list)); err != nil {
				return nil, err
			}
			if len(r.open) > 0 && (next == nil || newer(r.open[0], next.open[0])) {
				next = r
			}
		}
		if next == nil {
			break
		}
		list = append(list, next.open[0])
		next.open = next.open[1:]
	}
	return list, nil
}

// Count implements state.Ledger, in time as Tasks.
func (l *ledger) Count(ctx context.Context, q state.Query) (int, error) {
	q.After = state.Record{}
	count := 0
	for _, r := range l.rows(q) {
		// A limit of 0 has the script count instead of returning.
		for r.bound != "" {
			n, err := r.read(ctx, 0)
			if err != nil {
				return 0, err
			}
			count += n
		}
	}
	return count, nil
}

// row is a walk along one index, from the newest task on.
type row struct {
	l       *ledger
	q       state.Query
	index   string
	without string         // whose tasks are passed by, because another row has them
	bound   string         // where to go on; "" at the end
	open    []state.Record // that were read and not yet listed
}

// rows are the indexes that q asks for, none of whose tasks two of them have.
func (l *ledger) rows(q state.Query) []*row {
	bound := top
	if !q.After.Created.IsZero() || q.After.ID != "" {
		// The zero time is before all others, and so are 12 zero bytes.
		created := appendCreated(make([]byte, 0, createdSize+len(q.After.ID)), q.After.Created)
		if len(created) == 0 {
			created = created[:createdSize]
		}
		bound = "(" + string(append(created, q.After.ID...))
	}
	if q.Everyone {
		return []*row{{l: l, q: q, index: l.servers.names.everyone(q.Agent), bound: bound}}
	}
	var rows []*row
	if q.Owner != "" {
		rows = append(rows, &row{l: l, q: q, index: l.servers.names.owner(q.Agent, q.Owner), bound: bound})
	}
	if q.Tenant != "" {
		index := l.servers.names.tenant(q.Agent, q.Tenant)
		rows = append(rows, &row{l: l, q: q, index: index, without: q.Owner, bound: bound})
	}
	return rows
}

// fill reads on until there is an open task, or no more.
func (r *row) fill(ctx context.Context, limit int) error {
	for len(r.open) == 0 && r.bound != "" {
		if _, err := r.read(ctx, min(limit, look)); err != nil {
			return err
		}
	}
	return nil
}

// read reads a part of the index, opens at most limit tasks of it and says how many it
// has found.
func (r *row) read(ctx context.Context, limit int) (int, error) {
	// Where all are wanted no more are looked at than can be returned.
	size := look
	if limit > 0 && r.q.Context == "" && r.without == "" {
		size = limit
	}
	var reply []any
	err := r.l.servers.do(ctx, r.l.servers.names.tag(r.q.Agent), "list tasks", func(ctx context.Context) (err error) {
		reply, err = r.l.scripts.list.Run(ctx, r.l.servers.client, []string{r.index},
			r.l.servers.names.record(r.q.Agent, state.Task, ""), r.bound, size, limit, forms, r.q.Context, r.without).Slice()
		return err
	})
	if err != nil {
		return 0, err
	}
	if len(reply) < 2 || len(reply)%2 != 0 {
		return 0, errReply
	}
	// The reply: where to go on, "" at the end; how many were found; then id and record of each.
	last, count := reply[0], reply[1]
	for rest := reply[2:]; len(rest) > 0; rest = rest[2:] {
		id, stored := text(rest[0]), text(rest[1])
		task, err := decode(stored, r.q.Agent, state.Task, strings.Clone(id))
		if err != nil {
			return 0, err
		}
		r.open = append(r.open, task)
	}
	r.bound = ""
	if end := text(last); end != "" {
		r.bound = "(" + end
	}
	n, _ := count.(int64)
	return int(n), nil
}

// newer is the order of lists.
func newer(a, b state.Record) bool {
	if !a.Created.Equal(b.Created) {
		return a.Created.After(b.Created)
	}
	return a.ID > b.ID
}

// text is a bulk string of a reply; "" is what no script returns where it counts.
func text(reply any) string {
	t, _ := reply.(string)
	return t
}
