package statetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

func itemBytes(t *testing.T, q state.Queue) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	long := bytes.Repeat(all, 4)
	names := []string{string(all), "ü\x00'\"\\%_", "\xff", "\n", "{a}", "7", "7.0", "1e3"}
	var want []state.Item
	for i, name := range names {
		it := ExampleItem(name, name)
		it.Data, it.Due = bytes.Repeat(all, i), noon().Add(time.Duration(i)*time.Second)
		want = append(want, it)
	}
	want[0].Line = string(long)
	want[1].Data = bytes.Repeat(long, 1024)
	for _, it := range want {
		sent := bytes.Clone(it.Data)
		given := it
		given.Data = sent
		push(t, q, given)
		clear(sent) // callers may do with it what they like
	}
	list := items(t, q, false, "", 99)
	for i := range list {
		clear(list[i].Data)
	}
	got := take(t, q, "h", noon().Add(time.Hour), 99)
	if diff := cmp.Diff(want, got, emptyIsNil()); diff != "" {
		t.Errorf("Take (-want +got):\n%.2000s", diff)
	}
	for i := range got {
		clear(got[i].Data)
		what := "ü\x00\xff" + got[i].ID
		settled(t, q.Again(t.Context(), "q", "h", got[i].ID, want[i].Due, what), nil)
		want[i].Error, want[i].Attempts = what, 1
	}
	if diff := cmp.Diff(want, take(t, q, "h", noon().Add(time.Hour), 99), emptyIsNil()); diff != "" {
		t.Errorf("Take after a failure (-want +got):\n%.2000s", diff)
	}
}

// emptyIsNil does not tell no data from none.
func emptyIsNil() cmp.Option { return cmp.Comparer(bytes.Equal) }

func queuesApart(t *testing.T, q state.Queue) {
	for _, name := range []string{"a", "b", "a:b", "", "{a}"} {
		for _, line := range []string{"a", "b", "a:b", "A"} {
			it := ExampleItem("1"+line, line)
			if ok, err := q.Push(t.Context(), name, it, 4); !ok || err != nil {
				t.Errorf("in queue %q, line %q: %v, %v", name, line, ok, err)
			}
		}
	}
	if n, err := q.RemoveLine(t.Context(), "a", "a"); n != 1 || err != nil {
		t.Errorf("%d items were removed, %v", n, err)
	}
	for name, want := range map[string]int{"a": 3, "b": 4, "a:b": 4, "": 4, "{a}": 4, "c": 0} {
		got, err := q.Take(t.Context(), name, "h", noon(), 9, time.Minute)
		if err != nil || len(got) != want {
			t.Errorf("queue %q gave %d items, %v; want %d", name, len(got), err, want)
		}
	}
}

func itemsRemoved(t *testing.T, q state.Queue) {
	remove := func(id string, want bool) {
		t.Helper()
		if ok, err := q.Remove(t.Context(), "q", id); ok != want || err != nil {
			t.Errorf("removed %v, %v; want %v", ok, err, want)
		}
	}
	removeLine := func(line string, want int) {
		t.Helper()
		if n, err := q.RemoveLine(t.Context(), "q", line); n != want || err != nil {
			t.Errorf("%d removed, %v; want %d", n, err, want)
		}
	}
	for i := range 8 {
		push(t, q, ExampleItem(fmt.Sprint(i), "a"))
	}
	push(t, q, ExampleItem("x", "b"))
	remove("1", true)
	remove("1", false)
	remove("", false)
	removeLine("", 0)
	removeLine("c", 0)
	takes(t, q, noon(), "0", "x")
	remove("0", true)
	settled(t, q.Done(t.Context(), "q", "h", "0"), state.ErrTaken)
	takes(t, q, noon(), "2") // nobody is in its way
	settled(t, q.Bury(t.Context(), "q", "h", "2", "", noon(), state.Keep{For: time.Hour}), nil)
	remove("2", true)
	takes(t, q, noon(), "3")
	settled(t, q.Bury(t.Context(), "q", "h", "3", "", noon(), state.Keep{For: time.Hour}), nil)
	takes(t, q, noon(), "4")
	removeLine("a", 5)
	removeLine("a", 0)
	settled(t, q.Done(t.Context(), "q", "h", "4"), state.ErrTaken)
	takes(t, q, noon())
	depth(t, q, noon(), state.Depth{Waiting: 1, Oldest: noon()})
	settled(t, q.Done(t.Context(), "q", "h", "x"), nil)
	push(t, q, ExampleItem("4", "a"))
	takes(t, q, noon(), "4")
}

func itemsListed(t *testing.T, q state.Queue) {
	const n = 60
	var waiting, dead []string
	for i := range n {
		push(t, q, ExampleItem(fmt.Sprintf("id-%02d", i*7%n), "a"))
	}
	for i := range n {
		id := fmt.Sprintf("id-%02d", i*7%n)
		if i%3 == 0 {
			takes(t, q, noon(), id)
			settled(t, q.Bury(t.Context(), "q", "h", id, "", noon(), state.Keep{For: time.Hour}), nil)
			dead = append(dead, id)
			continue
		}
		takes(t, q, noon(), id)
		settled(t, q.Done(t.Context(), "q", "h", id), nil)
		later := ExampleItem(id, "b")
		later.Due = noon().Add(time.Hour)
		push(t, q, later)
		waiting = append(waiting, id)
	}
	slices.Sort(waiting)
	slices.Sort(dead)
	for _, size := range []int{1, 7, n} {
		for _, which := range []bool{false, true} {
			want := map[bool][]string{false: waiting, true: dead}[which]
			var got []string
			for after := ""; ; after = got[len(got)-1] {
				page := items(t, q, which, after, size)
				got = append(got, ids(page)...)
				if len(page) < size {
					break
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("dead %v, pages of %d (-want +got):\n%s", which, size, diff)
			}
		}
	}
	for _, limit := range []int{0, -1} {
		if got := items(t, q, false, "", limit); len(got) != 0 {
			t.Errorf("a page of %d has %d", limit, len(got))
		}
	}
}

func itemTimes(t *testing.T, q state.Queue) {
	zone := time.FixedZone("", 3600)
	for id, pair := range map[string][2]time.Time{
		"none":   {{}, {}},
		"nanos":  {noon().Add(999).In(zone), noon()},
		"before": {time.Unix(-5, 0), {}},
		"after":  {time.Unix(1<<40, 0), time.UnixMicro(1<<53 - 1).UTC()},
	} {
		it := ExampleItem(id, id)
		it.Pushed, it.Due = pair[0], pair[0]
		push(t, q, it)
		list, err := q.Items(t.Context(), "q", false, "", 9)
		at := slices.IndexFunc(list, func(it state.Item) bool { return it.ID == id })
		if err != nil || at < 0 || list[at].Pushed != pair[1] || list[at].Due != pair[1] {
			t.Errorf("%s: %+v, %v; want %v", id, list, err, pair[1])
		}
	}
	if got := take(t, q, "h", time.Unix(0, 0), 9); len(got) != 2 {
		t.Errorf("without a time are %q", ids(got))
	}
	for _, id := range []string{"none", "before"} {
		settled(t, q.Done(t.Context(), "q", "h", id), nil)
	}
	takes(t, q, noon().Add(-time.Microsecond))
	if got := take(t, q, "h", noon(), 9); len(got) != 1 || got[0].ID != "nanos" {
		t.Errorf("due within the microsecond: %+v", got)
	}
}

func failuresCut(t *testing.T, q state.Queue) {
	for i, failure := range []string{
		"", strings.Repeat("x", 512), strings.Repeat("x", 9999), "x" + strings.Repeat("ü", 300), strings.Repeat("\xbf", 600),
	} {
		id := fmt.Sprint(i)
		push(t, q, ExampleItem(id, id))
		takes(t, q, noon(), id)
		settled(t, q.Again(t.Context(), "q", "h", id, noon(), failure), nil)
		got := take(t, q, "h", noon(), 1)[0].Error
		if !strings.HasPrefix(failure, got) || len(got) < min(len(failure), 508) || len(got) > 512 ||
			utf8.ValidString(failure) != utf8.ValidString(got) {
			t.Errorf("of %d bytes %d are kept: %q", len(failure), len(got), got)
		}
		settled(t, q.Bury(t.Context(), "q", "h", id, failure, noon(), state.Keep{For: time.Hour}), nil)
		if dead := items(t, q, true, "", 99); dead[i].Error != got {
			t.Errorf("of a dead one %q is kept", dead[i].Error)
		}
	}
}

// manyHolders: while pushers push, holders take and finish, and some keep what they have
// taken until its lease has ended and others take it. Every item is done, once, and none
// before those that were pushed before it in its line.
func manyHolders(t *testing.T, q state.Queue) {
	const pushers, holders, lines, all = 2, 8, 50, 500
	var mu sync.Mutex
	finishing, done := map[string]bool{}, map[string]bool{} // by id
	check := func(it state.Item) {
		mu.Lock()
		defer mu.Unlock()
		var line, number int
		if _, err := fmt.Sscanf(it.ID, "%d/%d", &line, &number); err != nil {
			t.Errorf("item %q: %v", it.ID, err)
		}
		if number > 0 && !finishing[fmt.Sprintf("%d/%d", line, number-1)] {
			t.Errorf("item %s was taken too early", it.ID)
		}
	}
	finish := func(holder string, it state.Item) {
		mu.Lock()
		finishing[it.ID] = true
		mu.Unlock()
		err := q.Done(t.Context(), "q", holder, it.ID)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && done[it.ID] {
			t.Errorf("item %s was done twice", it.ID)
		}
		if err == nil {
			done[it.ID] = true
		} else {
			settled(t, err, state.ErrTaken)
		}
	}
	missing := func() int {
		mu.Lock()
		defer mu.Unlock()
		return all - len(done)
	}
	together(pushers+holders, func(n int) {
		if n < pushers {
			for i := range all / pushers {
				line := i%(lines/pushers)*pushers + n
				push(t, q, ExampleItem(fmt.Sprintf("%d/%d", line, i/(lines/pushers)), fmt.Sprint("line-", line)))
			}
			return
		}
		holder := fmt.Sprint("holder-", n)
		for round := 0; missing() > 0 && !t.Failed(); round++ {
			lease := time.Hour
			if round%4 == n%4 {
				lease = 0 // it has ended for whoever comes
			}
			got, err := q.Take(t.Context(), "q", holder, noon(), 5, lease)
			if err != nil {
				t.Errorf("Take: %v", err)
			}
			for _, it := range got {
				check(it)
				if lease == 0 && round%3 == 0 {
					continue // and is not settled by us
				}
				finish(holder, it)
			}
		}
	})
	depth(t, q, noon(), state.Depth{})
}
