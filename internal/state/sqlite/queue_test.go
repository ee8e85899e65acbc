package sqlite

import (
	"strings"
	"testing"
)

// No statement of a queue looks at all items, or sorts them.
func TestQueueStatementsSearch(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for _, statement := range []string{
		pushItem, leadItem, forgetItems, endLeases, takeItems, anyItem, doneItem, againItem, buryItem,
		crowded, forgetOldest,
		deadLine, reviveItem, removeItem, removeLine, hasItem, listWaiting, listDead, queueDepth,
	} {
		plan := explain(t, s, statement)
		if len(plan) == 0 {
			t.Errorf("%s\n\thas no plan", statement)
		}
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN ") && step != "SCAN CONSTANT ROW" || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s\n\t%s", statement, step)
			}
		}
	}
}

// explain says how a statement finds what it is about.
func explain(t *testing.T, s *Store, statement string) []string {
	t.Helper()
	var values []any
	for strings.Contains(statement, "?"+string(rune('1'+len(values)))) {
		values = append(values, nil)
	}
	rows, err := s.readers.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+statement, values...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var (
			id, parent, unused int
			step               string
		)
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan
}
