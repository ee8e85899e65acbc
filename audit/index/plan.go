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
	columns []string // and the index is by_ these
	is      []string // what they are held against: parameters, or numbers that the index is for
	args    []any
	few     int // records that are so, as far as they were counted
}

// index is the name of the index. It is made of columns of this package alone, as SQL has no
// parameters for names.
func (c *condition) index() string { return "by_" + strings.Join(c.columns, "_") }

// where is the condition on a table, whose name is prefixed because a plan has it several times.
func (c *condition) where(table string) string {
	parts := make([]string, len(c.columns))
	for k, column := range c.columns {
		parts[k] = table + "." + column + " = " + c.is[k]
	}
	return strings.Join(parts, " AND ")
}

// conditions are those of the query. An index on what most records are would be of no use.
// A query without any, or with patterns alone, goes through the records by their numbers.
func (i *Index) conditions(q *Query) (all []condition) {
	add := func(column string, kind byte, value string) {
		if value != "" && !strings.Contains(value, star) { // digests of names say nothing of their parts
			all = append(all, condition{columns: []string{column}, is: []string{"?"}, args: []any{i.digest(kind, value)}})
		}
	}
	add("principal", 'p', q.Principal)
	add("agent", 'a', q.Agent)
	add("skill", 's', q.Skill)
	add("task", 't', q.Task)
	add("context", 'c', q.Context)
	add("what", 'w', q.Method+q.Event)
	add("reason", 'r', q.Reason)
	add("issuer", 'i', q.Issuer)
	add("rule", 'u', q.Rule)
	add("approval", 'v', q.Approval)
	if q.Guard != "" || q.Finding != "" {
		all = append(all, condition{columns: []string{"found"}, is: []string{"1"}})
	}
	if n, ok := stages[q.Stage]; ok {
		all = append(all, condition{columns: []string{"stage"}, is: []string{"?"}, args: []any{n}})
	}
	if d, ok := decisions[q.Decision]; ok {
		all = append(all, condition{columns: []string{"decision"}, is: []string{"?"}, args: []any{d}})
	}
	// What is refused is of one type mostly, and has an index with it for all types.
	if q.Type == "event" || q.Type != "" && decisions[q.Decision] != 0 {
		all = append(all, condition{columns: []string{"type"}, is: []string{fmt.Sprint(types[q.Type])}})
	}
	return combined(all)
}

// pairs are the columns that have an index together.
//
// They are what people ask together: who was denied, whom an agent refused, what somebody did with
// a skill. Each costs some tens of bytes per record, so that not all pairs that there are have one.
var pairs = [...][2]string{
	{"decision", "principal"}, {"decision", "agent"}, {"decision", "skill"}, {"decision", "what"},
	{"decision", "type"}, {"decision", "rule"}, {"reason", "principal"}, {"reason", "agent"},
	{"principal", "agent"}, {"principal", "skill"}, {"principal", "what"}, {"agent", "skill"}, {"agent", "what"},
}

// combined has a condition for each pair that there is, in place of those for its parts. With three
// columns there may be several pairs that share one; rank leaves out what says nothing new.
func combined(all []condition) []condition {
	single := make(map[string]*condition, len(all))
	for k := range all {
		single[all[k].columns[0]] = &all[k]
	}
	var together []condition
	part := map[string]bool{}
	for _, pair := range pairs {
		a, b := single[pair[0]], single[pair[1]]
		if a == nil || b == nil {
			continue
		}
		together = append(together, condition{
			columns: pair[:], is: slices.Concat(a.is, b.is), args: slices.Concat(a.args, b.args),
		})
		part[pair[0]], part[pair[1]] = true, true
	}
	return append(together, slices.DeleteFunc(all, func(c condition) bool { return part[c.columns[0]] })...)
}

// enough is how far records are counted to find out which condition is true of the fewest.
// What SQLite's statistics know is what is so on average, and callers are not alike.
const enough = 50000

// rank sorts conditions, those that are true of few records first, without those that
// follow from the ones before. Counting stops at enough, which bounds what ranking costs; beyond
// it conditions are alike, and keep the order that they have here.
func (i *Index) rank(ctx context.Context, all []condition) ([]condition, error) {
	if len(all) < 2 {
		return all, nil
	}
	for k := range all {
		c := &all[k]
		statement := fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM records INDEXED BY %s WHERE %s LIMIT %d)", //nolint:gosec // columns and marks of this package
			c.index(), c.where("records"), enough)
		if err := i.db.QueryRowContext(ctx, statement, c.args...).Scan(&c.few); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b condition) int { return cmp.Compare(a.few, b.few) })
	var held []string
	return slices.DeleteFunc(all, func(c condition) bool {
		for _, column := range c.columns {
			if !slices.Contains(held, column) {
				held = append(held, c.columns...)
				return false
			}
		}
		return true
	}), nil
}

// hits finds where the records are. Rows come as they are asked for; SQLite finds no more than that.
func (i *Index) hits(ctx context.Context, q *Query) (*sql.Rows, error) {
	statement, args, err := i.plan(ctx, q)
	if err != nil {
		return nil, err
	}
	return i.db.QueryContext(ctx, statement, args...)
}

// plan is what SQLite is asked. It leaves nothing to SQLite's own planner, whose statistics would
// have to be gathered again and again for a log that grows.
//
// The numbers come from indexes alone: those of the rarest condition in their order, of
// which each is looked up in the indexes of the others. Only then records are read, which
// lie far apart. The limit, which is none, and the cross joins hold SQLite to that order of
// things, and to giving records in the order of their numbers as they come: it must not
// collect all of them to sort them. All but names and numbers that stand here are arguments.
// For "what alice was denied, newest first" it is, with the names of indexes shortened:
//
//	SELECT hit.seq, name, at, length
//	FROM (SELECT seq FROM records INDEXED BY by_decision_principal
//	      WHERE records.decision = ? AND records.principal = ? ORDER BY seq DESC LIMIT -1) AS hit
//	CROSS JOIN records AS found ON found.seq = hit.seq
//	CROSS JOIN segments ON segments.id = found.segment WHERE found.type IN (2, 3)
func (i *Index) plan(ctx context.Context, q *Query) (statement string, args []any, err error) {
	all, err := i.rank(ctx, i.conditions(q))
	if err != nil {
		return "", nil, err
	}
	by, where := "NOT INDEXED", []string{"TRUE"}
	for k := range all {
		c := &all[k]
		if k == 0 {
			by = "INDEXED BY " + c.index()
			where = append(where, c.where("records"))
		} else {
			where = append(where, fmt.Sprintf("EXISTS (SELECT 1 FROM records AS other INDEXED BY %s"+
				" WHERE %s AND other.seq = records.seq)", c.index(), c.where("other")))
		}
		args = append(args, c.args...)
	}
	within, bounds := i.span(q)
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

// told is what of the query only records themselves tell. Intents are left out unless they are asked
// for: each call has one, which would be every answer twice.
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
