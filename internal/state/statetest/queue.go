package statetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Queue runs the suite for queues. Calls of open are as those for Ledger.
func Queue(t *testing.T, open func(testing.TB) state.Queue) {
	t.Helper()
	for name, run := range map[string]func(*testing.T, state.Queue){
		"pushed, taken, done":           oneItem,
		"tried again until it is dead":  oneFailure,
		"dead items are forgotten":      deadForgotten,
		"only its holder settles it":    onlyHolder,
		"a line in order":               lineOrder,
		"due longest first":             dueFirst,
		"a full queue":                  queueFull,
		"shared among owners":           queueShared,
		"dead of several owners":        deadShared,
		"what means nothing is refused": itemsChecked,
		"ids, lines and data are bytes": itemBytes,
		"lines and queues do not mix":   queuesApart,
		"removed":                       itemsRemoved,
		"listed by id":                  itemsListed,
		"kept to the microsecond":       itemTimes,
		"what a try came to is cut":     failuresCut,
		"many holders":                  manyHolders,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, open(t))
		})
	}
	t.Run("behaves like a list", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) { queueModel(rt, open(t)) })
	})
}

// noon is when tests of queues happen.
func noon() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 123456000, time.UTC) }

// ExampleItem is one that is due at noon.
func ExampleItem(id, line string) state.Item {
	return state.Item{ID: id, Line: line, Data: []byte("data of " + id), Pushed: noon(), Due: noon()}
}

func oneItem(t *testing.T, q state.Queue) {
	it := ExampleItem("1", "a")
	it.Pushed, it.Due = noon().Add(-time.Hour), noon()
	if got := take(t, q, "h", noon(), 9); len(got) != 0 {
		t.Errorf("an empty queue gave %+v", got)
	}
	if !push(t, q, it) || push(t, q, state.Item{ID: "1", Line: "b", Due: noon()}) {
		t.Error("an item is pushed once")
	}
	want := state.Depth{Waiting: 1, Oldest: it.Pushed}
	depth(t, q, noon(), want)
	if got := take(t, q, "h", noon().Add(-time.Microsecond), 9); len(got) != 0 {
		t.Errorf("taken before it is due: %+v", got)
	}
	for _, n := range []int{0, -1} {
		if got := take(t, q, "h", noon(), n); len(got) != 0 {
			t.Errorf("%d items are %+v", n, got)
		}
	}
	if diff := cmp.Diff([]state.Item{it}, take(t, q, "h", noon(), 9)); diff != "" {
		t.Errorf("Take (-want +got):\n%s", diff)
	}
	depth(t, q, noon(), want)
	settled(t, q.Done(t.Context(), "q", "h", "1"), nil)
	settled(t, q.Done(t.Context(), "q", "h", "1"), state.ErrTaken)
	depth(t, q, noon(), state.Depth{})
	if !push(t, q, it) {
		t.Error("what is done is in the way")
	}
}

func oneFailure(t *testing.T, q state.Queue) {
	it := ExampleItem("1", "a")
	push(t, q, it)
	push(t, q, ExampleItem("2", "a"))
	later := noon().Add(time.Minute)
	takes(t, q, noon(), "1")
	settled(t, q.Again(t.Context(), "q", "h", "1", later, "refused"), nil)
	settled(t, q.Again(t.Context(), "q", "h", "1", later, "refused"), state.ErrTaken)
	takes(t, q, later.Add(-time.Microsecond))
	it.Due, it.Attempts, it.Error = later, 1, "refused"
	if diff := cmp.Diff([]state.Item{it}, take(t, q, "h", later, 9)); diff != "" {
		t.Errorf("Take of what failed (-want +got):\n%s", diff)
	}
	settled(t, q.Bury(t.Context(), "q", "h", "1", "gone", later, state.Keep{For: time.Hour}), nil)
	settled(t, q.Bury(t.Context(), "q", "h", "1", "gone", later, state.Keep{For: time.Hour}), state.ErrTaken)
	it.Attempts, it.Error, it.Dead = 2, "gone", true
	if diff := cmp.Diff([]state.Item{it}, items(t, q, true, "", 9)); diff != "" {
		t.Errorf("the dead (-want +got):\n%s", diff)
	}
	depth(t, q, later, state.Depth{Waiting: 1, Dead: 1, Oldest: noon()})
	if push(t, q, it) {
		t.Error("a dead item was pushed")
	}
	if !revive(t, q, "1", later) || revive(t, q, "1", later) || revive(t, q, "2", later) || revive(t, q, "3", later) {
		t.Error("the dead are revived, once, and nobody else")
	}
	takes(t, q, later, "2")
	settled(t, q.Done(t.Context(), "q", "h", "2"), nil)
	it.Attempts, it.Error, it.Dead = 0, "", false
	if diff := cmp.Diff([]state.Item{it}, take(t, q, "h", later, 9)); diff != "" {
		t.Errorf("Take of what was revived (-want +got):\n%s", diff)
	}
}

func deadForgotten(t *testing.T, q state.Queue) {
	const n = 200
	for i := range n {
		push(t, q, ExampleItem(fmt.Sprint(i), fmt.Sprint(i)))
	}
	for _, it := range take(t, q, "h", noon(), n) {
		settled(t, q.Bury(t.Context(), "q", "h", it.ID, "", noon(), state.Keep{For: time.Hour}), nil)
	}
	end := noon().Add(time.Hour)
	depth(t, q, end.Add(-time.Microsecond), state.Depth{Dead: n})
	if !revive(t, q, "7", end.Add(-time.Microsecond)) || revive(t, q, "8", end) {
		t.Error("an item is dead for as long as was said")
	}
	depth(t, q, end, state.Depth{Waiting: 1, Oldest: noon()})
	takes(t, q, end, "7")
	for range n {
		takes(t, q, end)
	}
	if got := items(t, q, true, "", n); len(got) != 0 {
		t.Errorf("%d are dead still", len(got))
	}
	if !push(t, q, ExampleItem("8", "8")) {
		t.Error("who was forgotten is in the way")
	}
}

func onlyHolder(t *testing.T, q state.Queue) {
	push(t, q, ExampleItem("1", "a"))
	for _, holder := range []string{"h", ""} {
		settled(t, q.Done(t.Context(), "q", holder, "1"), state.ErrTaken)
	}
	takes(t, q, noon(), "1")
	for _, holder := range []string{"other", ""} {
		settled(t, q.Done(t.Context(), "q", holder, "1"), state.ErrTaken)
		settled(t, q.Again(t.Context(), "q", holder, "1", noon(), ""), state.ErrTaken)
		settled(t, q.Bury(t.Context(), "q", holder, "1", "", noon(), state.Keep{For: time.Hour}), state.ErrTaken)
	}
	end := noon().Add(time.Minute) // of the lease
	if got := take(t, q, "other", end.Add(-time.Microsecond), 9); len(got) != 0 {
		t.Errorf("%+v is taken from its holder", got)
	}
	if got := take(t, q, "other", end, 9); len(got) != 1 || got[0].Attempts != 0 {
		t.Errorf("after the lease: %+v", got)
	}
	settled(t, q.Done(t.Context(), "q", "h", "1"), state.ErrTaken)
	settled(t, q.Again(t.Context(), "q", "h", "1", noon(), ""), state.ErrTaken)
	settled(t, q.Bury(t.Context(), "q", "h", "1", "", noon(), state.Keep{For: time.Hour}), state.ErrTaken)
	// A lease ends for those who come, not for the holder.
	push(t, q, ExampleItem("2", "b"))
	settled(t, q.Done(t.Context(), "q", "other", "1"), nil)
	takes(t, q, noon(), "2")
	takes(t, q, noon().Add(-time.Second)) // a clock that is behind
	if got := take(t, q, "other", end, 0); len(got) != 0 {
		t.Errorf("none is %+v", got)
	}
	settled(t, q.Done(t.Context(), "q", "h", "2"), nil)
}

func lineOrder(t *testing.T, q state.Queue) {
	const n = 12
	for i := range n {
		it := ExampleItem(fmt.Sprint(n-i), "a") // not the order of ids, nor of times
		it.Pushed, it.Due = noon().Add(-time.Duration(i)*time.Second), noon().Add(-time.Duration(i)*time.Minute)
		push(t, q, it)
	}
	takes(t, q, noon().Add(-time.Second)) // the first is not due, though others are
	for i := range n {
		id := fmt.Sprint(n - i)
		takes(t, q, noon(), id)
		takes(t, q, noon()) // none of its line
		if i%3 == 1 {
			settled(t, q.Again(t.Context(), "q", "h", id, noon(), ""), nil)
			takes(t, q, noon(), id)
		}
		if i%3 == 2 {
			settled(t, q.Bury(t.Context(), "q", "h", id, "", noon(), state.Keep{For: time.Hour}), nil)
			continue
		}
		settled(t, q.Done(t.Context(), "q", "h", id), nil)
	}
}

func dueFirst(t *testing.T, q state.Queue) {
	const n = 20
	var want []string
	for i := range n {
		it := ExampleItem(fmt.Sprint("item-", i), fmt.Sprint("line-", i))
		it.Due = noon().Add(-time.Duration(i*7%n) * time.Second)
		push(t, q, it)
		want = append(want, fmt.Sprint("item-", (n-1-i)*3%n)) // 7*3 is 1 of 20
	}
	takes(t, q, noon(), want...)
	end := noon().Add(time.Minute)
	if got := take(t, q, "h", end, 7); !cmp.Equal(want[:7], ids(got)) {
		t.Errorf("after the leases: %v, want %v", ids(got), want[:7])
	}
	takes(t, q, end, want[7:]...)
}

func queueFull(t *testing.T, q state.Queue) {
	full := func(id string, want error) {
		t.Helper()
		if ok, err := q.Push(t.Context(), "q", ExampleItem(id, id), 3); ok || !errors.Is(err, want) {
			t.Errorf("pushed %v, %v; want %v", ok, err, want)
		}
	}
	for _, id := range []string{"1", "2", "3"} {
		push(t, q, ExampleItem(id, id))
	}
	full("4", state.ErrFull)
	full("3", nil) // it is there
	takes(t, q, noon(), "1", "2", "3")
	settled(t, q.Bury(t.Context(), "q", "h", "1", "", noon(), state.Keep{For: time.Hour}), nil)
	if ok, err := q.Push(t.Context(), "q", ExampleItem("6", "6"), 3); !ok || err != nil {
		t.Errorf("the dead take room: %v, %v", ok, err)
	}
	full("4", state.ErrFull)
	settled(t, q.Done(t.Context(), "q", "h", "2"), nil)
	if ok, err := q.Push(t.Context(), "q", ExampleItem("4", "4"), 3); !ok || err != nil {
		t.Errorf("there is room: %v, %v", ok, err)
	}
	full("5", state.ErrFull)
	if !push(t, q, ExampleItem("5", "5")) {
		t.Error("a queue without a limit is full")
	}
}

// queueShared: an owner may have as many items waiting as there is room for others.
func queueShared(t *testing.T, q state.Queue) {
	const most = 8
	n := 0
	fill := func(owner string) (pushed int) {
		t.Helper()
		for {
			n++
			ok, err := q.Push(t.Context(), "q", ExampleItem(fmt.Sprint(n), fmt.Sprintf("%s/%d", owner, n%3)), most)
			switch {
			case errors.Is(err, state.ErrFull):
				return pushed
			case !ok || err != nil:
				t.Fatalf("pushed %v, %v", ok, err)
			}
			pushed++
		}
	}
	for i, want := range []int{4, 2, 1, 1, 0} {
		if got := fill(fmt.Sprint("owner", i)); got != want {
			t.Errorf("owner %d has %d waiting, want %d", i, got, want)
		}
	}
	for i := range 3 {
		if _, err := q.RemoveLine(t.Context(), "q", fmt.Sprint("owner0/", i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := fill("owner0") + fill("owner1"); got != 2 {
		t.Errorf("%d take what became free, want 2", got)
	}
}

// deadShared: of an owner's dead there are as many as there is room for others', and those
// stay that are kept longest.
func deadShared(t *testing.T, q state.Queue) {
	const most = 8
	bury := func(owner string, n int) {
		t.Helper()
		for i := range n {
			id := fmt.Sprint(owner, i)
			push(t, q, ExampleItem(id, owner+"/"+id))
			takes(t, q, noon(), id)
			keep := state.Keep{For: time.Duration(i+1) * time.Hour, Most: most}
			settled(t, q.Bury(t.Context(), "q", "h", id, "", noon(), keep), nil)
		}
	}
	bury("a", 9)
	bury("b", 1)
	bury("c", 9)
	if got, want := ids(items(t, q, true, "", 99)), []string{"a5", "a6", "a7", "a8", "b0", "c7", "c8"}; !slices.Equal(got, want) {
		t.Errorf("dead are %v, want %v", got, want)
	}
	depth(t, q, noon(), state.Depth{Dead: 7})
	if !revive(t, q, "a8", noon()) {
		t.Error("one that is kept is not revived")
	}
	takes(t, q, noon(), "a8")
}

func itemsChecked(t *testing.T, q state.Queue) {
	for name, it := range map[string]state.Item{
		"no id":    {Line: "a"},
		"no line":  {ID: "1"},
		"id":       {ID: strings.Repeat("x", 257), Line: "a"},
		"the line": {ID: "1", Line: strings.Repeat("x", 1025)},
	} {
		if ok, err := q.Push(t.Context(), "q", it, 0); ok || err == nil || errors.Is(err, state.ErrFull) {
			t.Errorf("%s: pushed %v, %v", name, ok, err)
		}
	}
	push(t, q, ExampleItem("1", "a"))
	for _, holder := range []string{"", strings.Repeat("x", 257)} {
		if got, err := q.Take(t.Context(), "q", holder, noon(), 9, time.Minute); got != nil || err == nil {
			t.Errorf("a holder of %d bytes took %+v, %v", len(holder), got, err)
		}
	}
	depth(t, q, noon(), state.Depth{Waiting: 1, Oldest: noon()})
}

func push(t reporter, q state.Queue, it state.Item) bool {
	t.Helper()
	ok, err := q.Push(context.Background(), "q", it, 0)
	if err != nil {
		t.Fatalf("Push(%q): %v", it.ID, err)
	}
	return ok
}

// take leases for a minute.
func take(t reporter, q state.Queue, holder string, now time.Time, n int) []state.Item {
	t.Helper()
	got, err := q.Take(context.Background(), "q", holder, now, n, time.Minute)
	if err != nil {
		t.Fatalf("Take: %v", err)
	}
	return got
}

// takes says what a holder named h must get.
func takes(t reporter, q state.Queue, now time.Time, want ...string) {
	t.Helper()
	if got := ids(take(t, q, "h", now, 99)); !cmp.Equal(want, got) {
		t.Fatalf("taken is %q, want %q", got, want)
	}
}

func ids(list []state.Item) []string {
	var all []string
	for _, it := range list {
		all = append(all, it.ID)
	}
	return all
}

func settled(t reporter, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("the item was settled with %v, want %v", err, want)
	}
}

func revive(t reporter, q state.Queue, id string, now time.Time) bool {
	t.Helper()
	ok, err := q.Revive(context.Background(), "q", id, now)
	if err != nil {
		t.Fatalf("Revive(%q): %v", id, err)
	}
	return ok
}

func items(t reporter, q state.Queue, dead bool, after string, limit int) []state.Item {
	t.Helper()
	list, err := q.Items(context.Background(), "q", dead, after, limit)
	if err != nil {
		t.Fatalf("Items: %v", err)
	}
	return list
}

func depth(t reporter, q state.Queue, now time.Time, want state.Depth) {
	t.Helper()
	got, err := q.Depth(context.Background(), "q", now)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("Depth: %v (-want +got):\n%s", err, diff)
	}
}
