package statetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// pages: going on behind the last of each page gives the whole list, for every size
// of page, whoever asks; also behind a task that is not there or not asked for.
func pages(t *testing.T, l state.Ledger) {
	const n = 60
	for i := range n {
		// Every 4 tasks share a minute, so that pages end between equal ones.
		claim(t, l, numbered(i, i/4, fmt.Sprint("owner-", i%3), fmt.Sprint("tenant-", i%2)))
	}
	for _, q := range []state.Query{
		{Everyone: true}, {Owner: "owner-1"}, {Tenant: "tenant-1"}, {Owner: "owner-1", Tenant: "tenant-1"},
		{Owner: "nobody"},
	} {
		q.Agent, q.Limit = "billing", n
		all := tasks(t, l, q)
		if count := counted(t, l, q); count != len(all) {
			t.Errorf("Count(%+v) is %d of %d", q, count, len(all))
		}
		for _, size := range []int{1, 3, 4, n - 1, n, n + 1} {
			q.Limit = size
			if diff := cmp.Diff(all, walk(t, l, q)); diff != "" {
				t.Errorf("pages of %d for %+v differ from the list (-list +pages):\n%s", size, q, diff)
			}
		}
	}
	between := state.Record{ID: "task-0300", Created: numbered(30, 7, "", "").Created} // 28 to 31 are of that minute
	got := tasks(t, l, state.Query{Agent: "billing", Everyone: true, Limit: 2, After: between})
	if len(got) != 2 || got[0].ID != "task-030" || got[1].ID != "task-029" {
		t.Errorf("behind a task that is not there: %+v", got)
	}
	foreign := state.Record{ID: "task-030", Created: between.Created} // owner-0's
	got = tasks(t, l, state.Query{Agent: "billing", Owner: "owner-1", Limit: 1, After: foreign})
	if len(got) != 1 || got[0].ID != "task-028" {
		t.Errorf("behind a task of another owner: %+v", got)
	}
	moved := state.Record{ID: "task-030", Created: numbered(0, 1, "", "").Created} // 4 to 7 are of that minute
	got = tasks(t, l, state.Query{Agent: "billing", Everyone: true, Limit: 1, After: moved})
	if len(got) != 1 || got[0].ID != "task-007" {
		t.Errorf("behind an id that had another time: %+v", got)
	}
}

// pagesBesideClaims: while others claim newer and older tasks, pages show every task
// that was there when the first was asked for, and none twice.
func pagesBesideClaims(t *testing.T, l state.Ledger) {
	const n, claimers, readers = 120, 3, 3
	for i := range n {
		claim(t, l, numbered(i, i, fmt.Sprint("owner-", i%5), "acme"))
	}
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	for c := range claimers {
		others.Go(func() {
			for i := 0; i < 2000 && ctx.Err() == nil; i++ {
				r := numbered(i, i*7%n, fmt.Sprint("owner-", i%7), "acme")
				r.ID = fmt.Sprintf("beside-%d-%d", c, i)
				if i%2 == 0 {
					r.Created = time.Time{}
				}
				_, _ = l.Claim(context.WithoutCancel(ctx), r)
			}
		})
	}
	lists := make([][]state.Record, readers)
	together(readers, func(i int) {
		q := state.Query{Agent: "billing", Everyone: true, Limit: 7}
		if i == 0 {
			q = state.Query{Agent: "billing", Tenant: "acme", Owner: "owner-1", Limit: 7}
		}
		lists[i] = walk(t, l, q)
	})
	stop()
	others.Wait()
	for _, list := range lists {
		if !slices.IsSortedFunc(list, newestFirst) {
			t.Error("the pages are not in order")
		}
		seen := map[string]int{}
		for _, r := range list {
			seen[r.ID]++
		}
		for i := range n {
			if id := numbered(i, 0, "", "").ID; seen[id] != 1 {
				t.Errorf("%s is %d times on the pages", id, seen[id])
			}
			delete(seen, numbered(i, 0, "", "").ID)
		}
		for id, times := range seen {
			if times != 1 {
				t.Errorf("%s, claimed meanwhile, is %d times on the pages", id, times)
			}
		}
	}
}

// walk turns all pages of q. It stops after very many, as some test ought to fail
// rather than hang.
func walk(t *testing.T, l state.Ledger, q state.Query) []state.Record {
	t.Helper()
	var all []state.Record
	for range 10_000 {
		page, err := l.Tasks(context.Background(), q)
		if err != nil {
			t.Errorf("Tasks(%+v): %v", q, err)
			return all
		}
		all = append(all, page...)
		if len(page) < q.Limit {
			return all
		}
		q.After = page[len(page)-1]
	}
	t.Errorf("pages of %+v have no end", q)
	return all
}

func counted(t reporter, l state.Ledger, q state.Query) int {
	t.Helper()
	n, err := l.Count(context.Background(), q)
	if err != nil {
		t.Fatalf("Count(%+v): %v", q, err)
	}
	return n
}
