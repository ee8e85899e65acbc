package sqlite

import (
	"context"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Tasks implements state.Ledger. It takes time for the records it returns, and for those
// of the same owner, or tenant and context, that it passes by.
func (l *ledger) Tasks(ctx context.Context, q state.Query) ([]state.Record, error) {
	// A negative LIMIT is none to SQLite, and a Query without one asks for nothing.
	if q.Limit <= 0 {
		return nil, nil
	}
	// The text has one of few forms, by which of owner, tenant, context and After are given; it is
	// prepared each time, which next to reading pages of records does not count.
	now := l.db.now()
	text, args := l.list(q, now)
	// Neither owner nor tenant nor everyone: nothing is anybody's.
	if text == "" {
		return nil, nil
	}
	rows, err := l.db.readers.QueryContext(ctx, text+` ORDER BY created DESC, id DESC LIMIT ?`, append(args, q.Limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []state.Record
	for rows.Next() {
		var r row
		// A row that cannot be read fails the list: leaving it out would hide a task from its owner.
		if err := r.read(rows); err != nil {
			return nil, err
		}
		found, err := r.record()
		if err != nil {
			return nil, err
		}
		list = append(list, found)
	}
	return list, rows.Err()
}

// Count implements state.Ledger.
func (l *ledger) Count(ctx context.Context, q state.Query) (int, error) {
	// A count is of all pages, wherever a list goes on.
	q.After = state.Record{}
	text, args := l.list(q, l.db.now())
	if text == "" {
		return 0, nil
	}
	n := 0
	err := l.db.readers.QueryRowContext(ctx, `SELECT count(*) FROM (`+text+`)`, args...).Scan(&n)
	return n, err
}

// list is the statement that finds what q asks for, "" for nothing, without order and
// end. Names of indexes are written out, as SQLite would have to guess how many tasks
// an owner, a tenant or a context has.
func (l *ledger) list(q state.Query, now time.Time) (string, []any) {
	var parts []string
	var args []any
	add := func(index, where string, more ...any) {
		if q.Context != "" {
			index = "tasks_by_context"
		}
		text := `SELECT ` + columns + ` FROM records INDEXED BY ` + index + ` WHERE kind = 1 AND agent = ? AND used >= ?` + where
		args = append(append(args, []byte(q.Agent), l.uses.horizon(now)), more...)
		if q.Context != "" {
			text += ` AND context = ?`
			args = append(args, []byte(q.Context))
		}
		if !q.After.Created.IsZero() || q.After.ID != "" {
			// A row value: older, or as old with a smaller id, which is the order of lists.
			text += ` AND (created, id) < (?, ?)`
			args = append(args, q.After.Created.UnixNano(), []byte(q.After.ID))
		}
		parts = append(parts, text)
	}
	switch {
	case q.Everyone:
		add("tasks_by_time", "")
	case q.Owner != "" && q.Tenant != "":
		add("tasks_by_owner", ` AND owner = ?`, []byte(q.Owner))
		// Those of the owner come from the first part; without this they would be there twice.
		add("tasks_by_tenant", ` AND tenant = ? AND tenant <> x'' AND owner <> ?`, []byte(q.Tenant), []byte(q.Owner))
	case q.Owner != "":
		add("tasks_by_owner", ` AND owner = ?`, []byte(q.Owner))
	case q.Tenant != "":
		add("tasks_by_tenant", ` AND tenant = ? AND tenant <> x''`, []byte(q.Tenant))
	}
	return strings.Join(parts, ` UNION ALL `), args
}
