// Package statetest is what every driver of internal/state has to pass. A driver's
// own tests call Store with a way to open an empty store.
//
// It owns the meaning of the interfaces, as tests; it does not own what only one
// driver has (bounds, retention, files). It is imported by test files only, and
// imports internal/state, testing and rapid.
package statetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Ledger runs the suite. Each call of open must return a store that is empty,
// has room for 10,000 records, keeps them for an hour at least, and is closed by
// t's cleanup.
func Ledger(t *testing.T, open func(testing.TB) state.Ledger) {
	t.Helper()
	for name, run := range map[string]func(*testing.T, state.Ledger){
		"absent until claimed":      absent,
		"every field comes back":    fields,
		"a claim is never replaced": insertOnly,
		"keys do not collide":       separate,
		"strings are bytes":         bytesSurvive,
		"one winner":                oneWinner,
		"a seen record stays":       monotonic,
		"a list is in order":        inOrder,
		"a list is of whom it says": selects,
		"claimed is listed":         listedAtOnce,
		"several at once":           severalAtOnce,
		"several, one winner each":  severalWinners,
		"pages in order":            pages,
		"pages while others claim":  pagesBesideClaims,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, open(t))
		})
	}
	t.Run("behaves like a map", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) { ledgerModel(rt, open(t)) })
	})
}

// Example is a Record with every field set.
func Example() state.Record {
	return state.Record{
		Agent: "billing", Kind: state.Task, ID: "0f8fad5b-d9cb-469f-a165-70867728950e",
		Owner: "14:https://issuer5:alice", Tenant: "acme", Skill: "invoices",
		Context: "7c9e6679-7425-40de-944b-e07fc1f90ae7", Endpoint: "http://10.0.0.7:9001",
		Version: "1.0", Extensions: []string{"https://example.com/ext/a/v1", "https://example.com/ext/b/v1"},
		Created: time.Date(2026, 3, 12, 9, 30, 0, 123456000, time.UTC),
		Trace:   "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36\x00\xf0\x67\xaa\x0b\xa9\x02\xb7",
	}
}

func absent(t *testing.T, l state.Ledger) {
	r := Example()
	if got, ok := lookup(t, l, r); ok {
		t.Fatalf("an empty store holds %+v", got)
	}
	claim(t, l, r)
	if _, ok := lookup(t, l, r); !ok {
		t.Fatal("a claimed record is not found")
	}
}

func fields(t *testing.T, l state.Ledger) {
	r := Example()
	if diff := cmp.Diff(r, claim(t, l, r)); diff != "" {
		t.Errorf("Claim changed the record (-want +got):\n%s", diff)
	}
	got, _ := lookup(t, l, r)
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("Lookup changed the record (-want +got):\n%s", diff)
	}
	bare := state.Record{Agent: "billing", Kind: state.Context, ID: "c", Owner: "o", Extensions: []string{}}
	before := time.Now().Add(-time.Second)
	got = claim(t, l, bare)
	if got.Created.Before(before) || got.Created.Location() != time.UTC {
		t.Errorf("Created was filled in as %v, want now in UTC", got.Created)
	}
	if got.Extensions != nil {
		t.Errorf("no extensions came back as %#v, want nil", got.Extensions)
	}
}

func insertOnly(t *testing.T, l state.Ledger) {
	first := Example()
	claim(t, l, first)
	second := first
	second.Owner, second.Tenant, second.Skill, second.Context = "5:other3:bob", "umbrella", "refunds", "c2"
	second.Endpoint, second.Version, second.Extensions = "http://10.0.0.8:9001", "0.3", nil
	second.Trace = ""
	if diff := cmp.Diff(first, claim(t, l, second)); diff != "" {
		t.Errorf("the second Claim does not return the first record (-want +got):\n%s", diff)
	}
	got, _ := lookup(t, l, first)
	if diff := cmp.Diff(first, got); diff != "" {
		t.Errorf("the second Claim changed the record (-want +got):\n%s", diff)
	}
}

// separate holds pairs that careless concatenation would make the same key.
func separate(t *testing.T, l state.Ledger) {
	keys := []state.Record{
		{Agent: "a", Kind: state.Task, ID: "1"},
		{Agent: "a", Kind: state.Context, ID: "1"},
		{Agent: "a", Kind: state.TaskAlias, ID: "1"},
		{Agent: "a", Kind: state.ContextAlias, ID: "1"},
		{Agent: "b", Kind: state.Task, ID: "1"},
		{Agent: "a1", Kind: state.Task, ID: ""},
		{Agent: "", Kind: state.Task, ID: "a1"},
		{Agent: "a", Kind: state.Task, ID: "\x001"},
		{Agent: "a\x00", Kind: state.Task, ID: "1"},
		{Agent: "a", Kind: state.Task, ID: "1 "},
		{Agent: "A", Kind: state.Task, ID: "1"},
		{Agent: "a:1", Kind: state.Task, ID: "2"},
		{Agent: "a", Kind: state.Task, ID: "1:2"},
	}
	for i, k := range keys {
		k.Owner = fmt.Sprint(i)
		if got := claim(t, l, k); got.Owner != k.Owner {
			t.Errorf("key %d (%q, %q) collides with key %s", i, k.Agent, k.ID, got.Owner)
		}
	}
}

// bytesSurvive: ids are the agent's bytes, whatever they are; also long ones.
func bytesSurvive(t *testing.T, l state.Ledger) {
	long := make([]byte, 4000)
	for i := range long {
		long[i] = byte(i)
	}
	r := Example()
	r.ID, r.Context, r.Skill = string(long), "ü\x00'\"\\%_", "\xff"
	r.Extensions, r.Trace = []string{"", "a\nb", "a,b", string(long)}, string(long[:300])
	claim(t, l, r)
	got, ok := lookup(t, l, r)
	if diff := cmp.Diff(r, got); !ok || diff != "" {
		t.Errorf("found %v (-want +got):\n%s", ok, diff)
	}
}

// oneWinner is the promise ownership stands on: of many callers who claim an id
// at the same moment all are told the same owner, and it is one of them.
func oneWinner(t *testing.T, l state.Ledger) {
	const rounds, callers = 50, 16
	for round := range rounds {
		got := make([]state.Record, callers)
		together(callers, func(caller int) {
			r := Example()
			r.ID, r.Owner = fmt.Sprint("task-", round), fmt.Sprint("caller-", caller)
			got[caller], _ = l.Claim(t.Context(), r)
		})
		stands, ok := lookup(t, l, got[0])
		if !ok {
			t.Fatalf("round %d: nobody owns the id", round)
		}
		for caller, r := range got {
			if diff := cmp.Diff(stands, r); diff != "" {
				t.Fatalf("round %d: caller %d was told otherwise (-stands +told):\n%s", round, caller, diff)
			}
		}
	}
}

// monotonic: while writers race, a reader that has seen a record never again
// misses it or sees another.
func monotonic(t *testing.T, l state.Ledger) {
	const rounds, writers, readers = 50, 4, 4
	for round := range rounds {
		id := fmt.Sprint("task-", round)
		var errs [readers]error
		together(writers+readers, func(i int) {
			if i < writers {
				r := Example()
				r.ID, r.Owner = id, fmt.Sprint("writer-", i)
				_, _ = l.Claim(t.Context(), r)
				return
			}
			errs[i-writers] = watch(t, l, id)
		})
		for _, err := range errs {
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
	}
}

// watch reads an id until it was seen a few times.
func watch(t *testing.T, l state.Ledger, id string) error {
	owner := ""
	for seen := 0; seen < 20; {
		r, ok, err := l.Lookup(t.Context(), Example().Agent, state.Task, id)
		switch {
		case err != nil:
			return err
		case !ok && owner != "":
			return fmt.Errorf("%s was %s's and is gone", id, owner)
		case ok && owner != "" && r.Owner != owner:
			return fmt.Errorf("%s was %s's and is %s's", id, owner, r.Owner)
		case ok:
			owner = r.Owner
			seen++
		}
	}
	return nil
}

// reporter is what *testing.T and *rapid.T share.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

func claim(t reporter, l state.Ledger, r state.Record) state.Record {
	t.Helper()
	got, err := l.Claim(context.Background(), r)
	if err != nil {
		t.Fatalf("Claim(%q, %d, %q): %v", r.Agent, r.Kind, r.ID, err)
	}
	return got
}

func lookup(t reporter, l state.Ledger, r state.Record) (state.Record, bool) {
	t.Helper()
	got, ok, err := l.Lookup(context.Background(), r.Agent, r.Kind, r.ID)
	if err != nil {
		t.Fatalf("Lookup(%q, %d, %q): %v", r.Agent, r.Kind, r.ID, err)
	}
	return got, ok
}

// together starts n goroutines at the same moment and waits for them.
func together(n int, run func(int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			run(i)
		})
	}
	close(start)
	wg.Wait()
}
