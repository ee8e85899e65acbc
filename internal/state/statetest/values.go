package statetest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Values runs the suite for stores of values. Calls of open are as those for Ledger.
func Values(t *testing.T, open func(testing.TB) state.Values) {
	t.Helper()
	for name, run := range map[string]func(*testing.T, state.Values){
		"put, add, get, delete":       oneValue,
		"values do not collide":       valuesApart,
		"keys and data are bytes":     valueBytes,
		"data is nobody's afterwards": valueCopies,
		"gone when their time comes":  valuesExpire,
		"one adds":                    oneAdds,
		"deleted for good":            staysDeleted,
		"listed by key":               valuesListed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, open(t))
		})
	}
	t.Run("behaves like a map of values", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) { valueModel(rt, open(t)) })
	})
}

func oneValue(t *testing.T, v state.Values) {
	holds := func(want string) {
		t.Helper()
		if got, ok := value(t, v, "s", "k"); ok != (want != "") || got != want {
			t.Errorf("the key holds %q, %v; want %q", got, ok, want)
		}
	}
	holds("")
	remove(t, v, "s", "k") // what is not there
	put(t, v, "s", "k", "1", 0)
	holds("1")
	put(t, v, "s", "k", "2", time.Hour)
	holds("2")
	if add(t, v, "s", "k", "3", 0) {
		t.Error("a value was added where one is")
	}
	holds("2")
	remove(t, v, "s", "k")
	holds("")
	if !add(t, v, "s", "k", "4", time.Hour) {
		t.Error("no value was added where none is")
	}
	holds("4")
}

// valuesApart holds pairs that careless concatenation would make the same key.
func valuesApart(t *testing.T, v state.Values) {
	keys := [][2]string{
		{"a", "1"}, {"b", "1"}, {"a", "2"}, {"a1", ""}, {"", "a1"}, {"a\x00", "1"}, {"a", "\x001"},
		{"A", "1"}, {"a", "1 "}, {"a:1", "2"}, {"a", "1:2"}, {"a", "1%"}, {"a", "1_"}, {"a", "01"},
	}
	for i, k := range keys {
		if !add(t, v, k[0], k[1], fmt.Sprint(i), 0) {
			t.Errorf("value %d (%q) collides with another", i, k)
		}
	}
	for i, k := range keys {
		if got, ok := value(t, v, k[0], k[1]); !ok || got != fmt.Sprint(i) {
			t.Errorf("value %d (%q) is %q now", i, k, got)
		}
	}
}

func valueBytes(t *testing.T, v state.Values) {
	long := make([]byte, 1024)
	for i := range long {
		long[i] = byte(i)
	}
	data := slices.Repeat(long, 64)
	for _, key := range []string{string(long), "ü\x00'\"\\%_", "\xff", "\n", "{a}"} {
		put(t, v, "s", key, string(data), 0)
		if got, ok := value(t, v, "s", key); !ok || got != string(data) {
			t.Errorf("under %.20q: %d bytes, %v", key, len(got), ok)
		}
		put(t, v, "s", key, "", 0)
		if got, ok := value(t, v, "s", key); !ok || got != "" {
			t.Errorf("no data under %.20q: %q, %v", key, got, ok)
		}
	}
	if list, err := v.List(t.Context(), "s", "", 9); err != nil || len(list) != 5 || list[4].Key != "\xff" {
		t.Errorf("List: %v, %v", list, err)
	}
}

// valueCopies: callers may do with their bytes what they like.
func valueCopies(t *testing.T, v state.Values) {
	data := []byte("data")
	if err := v.Put(t.Context(), "s", "put", data, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Add(t.Context(), "s", "add", data, 0); err != nil {
		t.Fatal(err)
	}
	data[0] = 'X'
	got, _, _ := v.Get(t.Context(), "s", "put")
	got[0] = 'X'
	list, _ := v.List(t.Context(), "s", "", 9)
	for _, e := range list {
		e.Data[0] = 'X'
	}
	for _, key := range []string{"put", "add"} {
		if got, _ := value(t, v, "s", key); got != "data" {
			t.Errorf("%s holds %q", key, got)
		}
	}
}

// valuesExpire waits for a short time to live; drivers may keep it to the
// millisecond.
func valuesExpire(t *testing.T, v state.Values) {
	put(t, v, "s", "long", "l", time.Hour)
	put(t, v, "s", "ever", "e", time.Hour)
	put(t, v, "s", "ever", "e", 0) // the last says for how long
	put(t, v, "s", "past", "p", 0)
	put(t, v, "s", "past", "p", -time.Second)
	put(t, v, "s", "short", "s", 20*time.Millisecond)
	put(t, v, "s", "longer", "s", 20*time.Millisecond)
	put(t, v, "s", "longer", "s", time.Hour)
	for {
		if _, ok := value(t, v, "s", "short"); !ok {
			break
		}
		runtime.Gosched()
	}
	list, err := v.List(t.Context(), "s", "", 9)
	var keys []string
	for _, e := range list {
		keys = append(keys, e.Key)
		if left := time.Until(e.Expires); e.Key != "ever" && (left < 50*time.Minute || left > time.Hour+time.Minute) {
			t.Errorf("%s expires in %v, want about an hour", e.Key, left)
		}
		if e.Key == "ever" && !e.Expires.IsZero() {
			t.Errorf("what never expires is said to at %v", e.Expires)
		}
	}
	if diff := cmp.Diff([]string{"ever", "long", "longer"}, keys); err != nil || diff != "" {
		t.Errorf("List: %v (-want +got):\n%s", err, diff)
	}
	if _, ok := value(t, v, "s", "past"); ok {
		t.Error("what ran out before it was stored is there")
	}
	for _, key := range []string{"short", "past"} {
		if !add(t, v, "s", key, "again", 0) {
			t.Errorf("what ran out of %s is in the way", key)
		}
		if got, _ := value(t, v, "s", key); got != "again" {
			t.Errorf("%s holds %q", key, got)
		}
	}
}

// staysDeleted: of those who change a value while somebody deletes it, none brings it back.
func staysDeleted(t *testing.T, v state.Values) {
	for n := range 20 {
		key := fmt.Sprint(n)
		put(t, v, "s", key, "", 0)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for range 4 {
					replace(t, v, "s", key, fmt.Sprint(i), time.Hour)
				}
			})
		}
		remove(t, v, "s", key)
		all.Wait()
		if got, there := value(t, v, "s", key); there {
			t.Fatalf("%q is there after it was deleted", got)
		}
	}
}

// oneAdds: of many who add the same key at the same moment one succeeds, and what it
// brought is there. This is what keeps a proof from being used twice.
func oneAdds(t *testing.T, v state.Values) {
	const rounds, callers = 50, 16
	for round := range rounds {
		key := fmt.Sprint("proof-", round)
		var added atomic.Int64
		var winner atomic.Pointer[string]
		together(callers, func(caller int) {
			mine := fmt.Sprint("caller-", caller)
			ok, err := v.Add(t.Context(), "proofs", key, []byte(mine), time.Hour)
			if err != nil {
				t.Errorf("round %d: %v", round, err)
			}
			if ok {
				added.Add(1)
				winner.Store(&mine)
			}
		})
		if added.Load() != 1 {
			t.Fatalf("round %d: %d callers added the key", round, added.Load())
		}
		if got, _ := value(t, v, "proofs", key); got != *winner.Load() {
			t.Fatalf("round %d: %q stands, but %q was added", round, got, *winner.Load())
		}
	}
}

func valuesListed(t *testing.T, v state.Values) {
	const n = 50
	var want []state.Value
	for i := range n {
		k := i * 7 % n
		put(t, v, "s", fmt.Sprintf("key-%02d", k), fmt.Sprint(k), 0)
		put(t, v, "other", fmt.Sprintf("key-%02d-", k), "x", 0)
		want = append(want, state.Value{Key: fmt.Sprintf("key-%02d", i), Data: fmt.Append(nil, i)})
	}
	for _, size := range []int{1, 7, n - 1, n, n + 1} {
		var got []state.Value
		for after := ""; ; after = got[len(got)-1].Key {
			page, err := v.List(t.Context(), "s", after, size)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, page...)
			if len(page) < size {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
	for name, list := range map[string]func() ([]state.Value, error){
		"none of them":     func() ([]state.Value, error) { return v.List(t.Context(), "s", "", 0) },
		"less than none":   func() ([]state.Value, error) { return v.List(t.Context(), "s", "", -1) },
		"an unknown space": func() ([]state.Value, error) { return v.List(t.Context(), "t", "", 9) },
		"behind the last":  func() ([]state.Value, error) { return v.List(t.Context(), "s", "key-49", 9) },
	} {
		if got, err := list(); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := v.List(t.Context(), "s", "key-0355", 1); err != nil || len(got) != 1 || got[0].Key != "key-04" {
		t.Errorf("behind a key that is not there: %v, %v", got, err)
	}
}

func put(t reporter, v state.Values, space, key, data string, ttl time.Duration) {
	t.Helper()
	if err := v.Put(context.Background(), space, key, []byte(data), ttl); err != nil {
		t.Fatalf("Put(%q, %q): %v", space, key, err)
	}
}

func add(t reporter, v state.Values, space, key, data string, ttl time.Duration) bool {
	t.Helper()
	ok, err := v.Add(context.Background(), space, key, []byte(data), ttl)
	if err != nil {
		t.Fatalf("Add(%q, %q): %v", space, key, err)
	}
	return ok
}

func replace(t reporter, v state.Values, space, key, data string, ttl time.Duration) bool {
	t.Helper()
	replaced, err := v.Replace(context.Background(), space, key, []byte(data), ttl)
	if err != nil {
		t.Fatalf("Replace(%q, %q): %v", space, key, err)
	}
	return replaced
}

func value(t reporter, v state.Values, space, key string) (string, bool) {
	t.Helper()
	data, ok, err := v.Get(context.Background(), space, key)
	if err != nil {
		t.Fatalf("Get(%q, %q): %v", space, key, err)
	}
	return string(data), ok
}

func remove(t reporter, v state.Values, space, key string) {
	t.Helper()
	if err := v.Delete(context.Background(), space, key); err != nil {
		t.Fatalf("Delete(%q, %q): %v", space, key, err)
	}
}
