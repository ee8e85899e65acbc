package statetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// answer is what Tasks has to return of records, written the obvious way.
func answer(q state.Query, records iter.Seq[state.Record]) []state.Record {
	var list []state.Record
	for r := range records {
		asked := q.Everyone || q.Owner != "" && r.Owner == q.Owner || q.Tenant != "" && r.Tenant == q.Tenant
		inContext := q.Context == "" || r.Context == q.Context
		begins := q.After.Created.IsZero() && q.After.ID == ""
		behind := begins || newestFirst(q.After, r) < 0
		if r.Kind == state.Task && r.Agent == q.Agent && asked && inContext && behind {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, newestFirst)
	return list[:min(len(list), max(q.Limit, 0))]
}

func newestFirst(a, b state.Record) int {
	return cmp.Or(b.Created.Compare(a.Created), strings.Compare(b.ID, a.ID))
}

// numbered is one of many tasks; those of one minute were created together.
func numbered(i, minute int, owner, tenant string) state.Record {
	r := Example()
	r.ID, r.Owner, r.Tenant = fmt.Sprintf("task-%03d", i), owner, tenant
	r.Created = r.Created.Add(time.Duration(minute) * time.Minute)
	return r
}

// inOrder claims tasks of several owners in an order that is not theirs.
func inOrder(t *testing.T, l state.Ledger) {
	const n = 200
	for i := range n {
		// 77 has no factor in common with 200; every 4 tasks share a minute.
		k := i * 77 % n
		claim(t, l, numbered(k, k/4, fmt.Sprint("owner-", k%7), "acme"))
	}
	for _, limit := range []int{1, 3, n - 1, n, n + 1} {
		got := tasks(t, l, state.Query{Agent: "billing", Everyone: true, Limit: limit})
		if len(got) != min(limit, n) {
			t.Fatalf("%d of at most %d tasks", len(got), limit)
		}
		if !slices.IsSortedFunc(got, newestFirst) {
			t.Errorf("the list of %d is not in order", limit)
		}
		if last := got[0].ID; last != "task-199" {
			t.Errorf("the list of %d starts with %s, want the newest", limit, last)
		}
	}
	for _, limit := range []int{0, -1} {
		if got := tasks(t, l, state.Query{Agent: "billing", Everyone: true, Limit: limit}); len(got) != 0 {
			t.Errorf("a list of at most %d has %d tasks", limit, len(got))
		}
	}
}

// selects asks by owner, tenant, both, everyone and nobody, with and without a
// context, on an agent that others' tasks and other kinds stand on as well.
func selects(t *testing.T, l state.Ledger) {
	for i, r := range []state.Record{
		{Owner: "alice", Tenant: "acme", Context: "c1"},
		{Owner: "alice", Tenant: "acme", Context: "c2"},
		{Owner: "alice", Tenant: "umbrella", Context: "c1"}, // she has moved
		{Owner: "amy", Tenant: "acme", Context: "c1"},
		{Owner: "bob", Tenant: "umbrella"},
		{Owner: "carol"},
		{Owner: "acme", Tenant: "alice"},
		{Owner: ""},
	} {
		r.Agent, r.Kind, r.ID, r.Created = "billing", state.Task, fmt.Sprint(i), Example().Created
		claim(t, l, r)
		for _, k := range []state.Kind{state.Context, state.TaskAlias, state.ContextAlias} {
			r.Kind, r.Context = k, "c1"
			claim(t, l, r)
		}
		r.Agent, r.Kind, r.ID = "weather", state.Task, fmt.Sprint("w", i)
		claim(t, l, r)
	}
	for name, tc := range map[string]struct {
		q    state.Query
		want string
	}{
		"nobody":              {state.Query{}, ""},
		"owner":               {state.Query{Owner: "alice"}, "2 1 0"},
		"owner in a context":  {state.Query{Owner: "alice", Context: "c1"}, "2 0"},
		"tenant":              {state.Query{Tenant: "acme"}, "3 1 0"},
		"tenant in a context": {state.Query{Tenant: "acme", Context: "c1"}, "3 0"},
		"both":                {state.Query{Owner: "alice", Tenant: "acme"}, "3 2 1 0"},
		"both, apart":         {state.Query{Owner: "carol", Tenant: "acme"}, "5 3 1 0"},
		"everyone":            {state.Query{Everyone: true}, "7 6 5 4 3 2 1 0"},
		"everyone and more":   {state.Query{Everyone: true, Owner: "alice", Tenant: "acme"}, "7 6 5 4 3 2 1 0"},
		"context of nobody":   {state.Query{Context: "c1"}, ""},
		"everyone's context":  {state.Query{Everyone: true, Context: "c1"}, "3 2 0"},
		"unknown":             {state.Query{Owner: "dave", Tenant: "initech"}, ""},
	} {
		tc.q.Agent, tc.q.Limit = "billing", 100
		var ids []string
		for _, r := range tasks(t, l, tc.q) {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := tasks(t, l, state.Query{Agent: "absent", Everyone: true, Limit: 9}); len(got) != 0 {
		t.Errorf("an agent that nobody called has %d tasks", len(got))
	}
}

// listedAtOnce: whoever has claimed a task, or seen it in a list, finds it in every
// later list, while others claim theirs.
func listedAtOnce(t *testing.T, l state.Ledger) {
	const callers, each = 8, 40
	together(callers, func(caller int) {
		q := state.Query{Agent: "billing", Owner: fmt.Sprint("owner-", caller%2), Limit: callers * each}
		// Every other caller looks at the tasks of all.
		q.Everyone = caller%4 < 2
		seen := map[string]bool{}
		for i := range each {
			r := Example()
			r.ID, r.Owner, r.Created = fmt.Sprintf("task-%d-%d", caller, i), fmt.Sprint("owner-", caller%2), time.Time{}
			if _, err := l.Claim(t.Context(), r); err != nil {
				t.Errorf("claim: %v", err)
				return
			}
			seen[r.ID] = true
			list, err := l.Tasks(t.Context(), q)
			if err == nil {
				err = extends(list, seen)
			}
			if err == nil && !slices.IsSortedFunc(list, newestFirst) {
				err = errors.New("not in order")
			}
			if err != nil {
				t.Errorf("list %d of caller %d: %v", i, caller, err)
				return
			}
		}
	})
	if list := tasks(t, l, state.Query{Agent: "billing", Everyone: true, Limit: 1000}); len(list) != callers*each {
		t.Errorf("%d tasks are listed in the end, want %d", len(list), callers*each)
	}
}

// extends adds a list to what was seen, all of which it must hold.
func extends(list []state.Record, seen map[string]bool) error {
	now := map[string]bool{}
	for _, r := range list {
		if now[r.ID] {
			return fmt.Errorf("%s is there twice", r.ID)
		}
		now[r.ID] = true
	}
	for id := range seen {
		if !now[id] {
			return fmt.Errorf("%s is not there", id)
		}
	}
	maps.Copy(seen, now)
	return nil
}

func tasks(t reporter, l state.Ledger, q state.Query) []state.Record {
	t.Helper()
	got, err := l.Tasks(context.Background(), q)
	if err != nil {
		t.Fatalf("Tasks(%+v): %v", q, err)
	}
	return got
}
