package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// condition is one that an index of records answers by itself.
type condition struct {
	column string // and the index is by_ this
	is     string // what it is held against: a parameter, or a number that the index is for
	args   []any
	few    int // records that are so, as far as they were counted
}

// conditions are those of the query. An index on what most records are would be of no use.
func (i *Index) conditions(q *Query) (all []condition) {
	add := func(column string, kind byte, value string) {
		if value != "" {
			all = append(all, condition{column: column, is: "?", args: []any{i.digest(kind, value)}})
		}
	}
	add("principal", 'p', q.Principal)
	add("agent", 'a', q.Agent)
	add("skill", 's', q.Skill)
	add("task", 't', q.Task)
	add("context", 'c', q.Context)
	add("what", 'w', q.Method+q.Event)
	if d, ok := decisions[q.Decision]; ok {
		all = append(all, condition{column: "decision", is: "?", args: []any{d}})
	}
	if q.Type == "event" {
		all = append(all, condition{column: "type", is: fmt.Sprint(types["event"])})
	}
	return all
}

// enough is how far records are counted to find out which condition is true of the fewest.
// What SQLite's statistics know is what is so on average, and callers are not alike.
const enough = 50000

// rank sorts conditions, those that are true of few records first.
func (i *Index) rank(ctx context.Context, all []condition) error {
	if len(all) < 2 {
		return nil
	}
	for k := range all {
		c := &all[k]
		statement := fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM records INDEXED BY by_%[1]s WHERE %[1]s = %[2]s LIMIT %[3]d)", //nolint:gosec // columns and marks of this package
			c.column, c.is, enough)
		if err := i.db.QueryRowContext(ctx, statement, c.args...).Scan(&c.few); err != nil {
			return err
		}
	}
	slices.SortStableFunc(all, func(a, b condition) int { return cmp.Compare(a.few, b.few) })
	return nil
}

// disorder is how many records may stand between two that were made one after the other:
// records are numbered when they are written, by callers of which some have to wait.
const disorder = "100000"

// span is between which numbers the records are that were made in the query's time.
func span(q *Query) (where []string, args []any) {
	if !q.From.IsZero() {
		where = append(where, "records.seq >= (SELECT seq FROM records WHERE time >= ? ORDER BY time LIMIT 1) - "+disorder)
		args = append(args, q.From.UnixMicro())
	}
	if !q.Until.IsZero() {
		where = append(where, "records.seq <= (SELECT seq FROM records WHERE time <= ? ORDER BY time DESC LIMIT 1) + "+disorder)
		args = append(args, q.Until.UnixMicro())
	}
	return where, args
}

// hits finds where the records are.
func (i *Index) hits(ctx context.Context, q *Query) (*sql.Rows, error) {
	statement, args, err := i.plan(ctx, q)
	if err != nil {
		return nil, err
	}
	return i.db.QueryContext(ctx, statement, args...)
}

// plan is what SQLite is asked.
//
// The numbers come from indexes alone: those of the rarest condition in their order, of
// which each is looked up in the indexes of the others. Only then records are read, which
// lie far apart. The limit, which is none, and the cross joins hold SQLite to that order of
// things, and to giving records in the order of their numbers as they come: it must not
// collect all of them to sort them. All but names and numbers that stand here are arguments.
func (i *Index) plan(ctx context.Context, q *Query) (statement string, args []any, err error) {
	all := i.conditions(q)
	if err := i.rank(ctx, all); err != nil {
		return "", nil, err
	}
	by, where := "NOT INDEXED", []string{"TRUE"}
	for k, c := range all {
		if k == 0 {
			by = "INDEXED BY by_" + c.column
			where = append(where, fmt.Sprintf("%s = %s", c.column, c.is))
		} else {
			where = append(where, fmt.Sprintf("EXISTS (SELECT 1 FROM records AS other INDEXED BY by_%[1]s"+
				" WHERE other.%[1]s = %[2]s AND other.seq = records.seq)", c.column, c.is))
		}
		args = append(args, c.args...)
	}
	within, bounds := span(q)
	where, args = append(where, within...), append(args, bounds...)
	order := "DESC"
	if q.Oldest {
		order = "ASC"
	}
	of, rest := told(q)
	return fmt.Sprintf("SELECT hit.seq, name, at, length"+
		" FROM (SELECT seq FROM records %s WHERE %s ORDER BY seq %s LIMIT -1) AS hit"+
		" CROSS JOIN records AS found ON found.seq = hit.seq CROSS JOIN segments ON segments.id = found.segment WHERE %s",
		by, strings.Join(where, " AND "), order, of), append(args, rest...), nil
}

// told is what of the query only records themselves tell.
func told(q *Query) (where string, args []any) {
	if where = "found.type IN (2, 3)"; q.Type != "" {
		where, args = "found.type = ?", append(args, types[q.Type])
	}
	if !q.From.IsZero() {
		where, args = where+" AND found.time >= ?", append(args, q.From.UnixMicro())
	}
	if !q.Until.IsZero() {
		where, args = where+" AND found.time <= ?", append(args, q.Until.UnixMicro())
	}
	return where, args
}
