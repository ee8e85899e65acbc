package statetest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// of is a Draw with a key of its own.
func of(k state.DrawKind, key string, limit int64) state.Draw {
	d := ExampleDraw(k)
	d.Key, d.Limit = key, limit
	return d
}

// kinds are all of them.
func kinds() []state.DrawKind { return []state.DrawKind{state.Rate, state.Quota, state.Hold} }

// allOrNothing: wherever the one stands that has not enough, the others stay as they are.
func allOrNothing(t *testing.T, l state.Limits) {
	for _, k := range kinds() {
		draws := []state.Draw{of(state.Rate, "r", 3), of(state.Quota, "q", 3), of(state.Hold, "h", 3)}
		for at := range 4 {
			none := of(k, fmt.Sprint("none", k, at), 0)
			got := draw(t, l, slices.Insert(slices.Clone(draws), at, none)...)
			for i, g := range got {
				want := int64(3)
				if i == at {
					want = 0
				}
				if g.OK != (i != at) || g.Left != want {
					t.Errorf("answer %d, with one of kind %d at %d that has nothing: %+v", i, k, at, g)
				}
			}
		}
	}
	for i, g := range draw(t, l, of(state.Rate, "r", 3), of(state.Quota, "q", 3), of(state.Hold, "h", 3)) {
		if !g.OK || g.Left != 2 {
			t.Errorf("answer %d, with enough for all: %+v", i, g)
		}
	}
}

func softDraws(t *testing.T, l state.Limits) {
	for _, k := range kinds() {
		key := func(s string) string { return fmt.Sprint(s, k) }
		none, some, hard := of(k, key("none"), 0), of(k, key("some"), 3), of(state.Quota, key("hard"), 3)
		none.Soft, some.Soft = true, true
		got := draw(t, l, none, hard, some)
		if got[0].OK || !got[1].OK || got[1].Left != 2 || !got[2].OK || got[2].Left != 2 {
			t.Errorf("kind %d: a soft draw that has nothing: %+v", k, got)
		}
		got = draw(t, l, none, some, of(state.Quota, key("nothing"), 0))
		want := int64(2) // as before
		if got[0].OK || !got[1].OK || got[1].Left != want || got[2].OK {
			t.Errorf("kind %d: soft draws beside one that is refused: %+v", k, got)
		}
	}
}

// limitsChange: what was used stays used, but nobody owes more than all.
func limitsChange(t *testing.T, l state.Limits) {
	for _, k := range kinds() {
		for i, tc := range []struct {
			limit int64
			ok    bool
			left  int64
		}{
			{5, true, 4}, {5, true, 3}, {5, true, 2}, {4, true, 0}, {4, false, 0}, {2, false, 0},
		} {
			d := of(k, fmt.Sprint("lower", k), tc.limit)
			d.Holder = fmt.Sprint(i)
			if got := draw(t, l, d)[0]; got.OK != tc.ok || got.Left != tc.left {
				t.Errorf("kind %d, draw %d: %+v, want OK %v, Left %d", k, i, got, tc.ok, tc.left)
			}
		}
		for i, limit := range []int64{1, 3, 5} {
			d := of(k, fmt.Sprint("higher", k), limit)
			d.Holder = fmt.Sprint(i)
			if got := draw(t, l, d)[0]; !got.OK || got.Left != limit-int64(i)-1 {
				t.Errorf("kind %d, draw %d of %d: %+v", k, i, limit, got)
			}
		}
	}
	slow := of(state.Rate, "faster", 1)
	draw(t, l, slow)
	fast := slow
	fast.Refill, fast.Period = 7, 14*time.Hour
	got := draw(t, l, fast)[0]
	if got.OK || got.Left != 0 {
		t.Errorf("a bucket that was empty before it became faster: %+v", got)
	}
	near(t, "Wait", got.Wait, 2)
}

func kindsChange(t *testing.T, l state.Limits) {
	for _, from := range kinds() {
		for _, to := range kinds() {
			key := fmt.Sprint(from, to)
			draw(t, l, of(from, key, 3))
			if got := draw(t, l, of(to, key, 3))[0]; from != to && (!got.OK || got.Left != 2) {
				t.Errorf("a bucket of kind %d that had been of kind %d: %+v", to, from, got)
			}
		}
	}
}

// bucketsApart: keys and holders are bytes, and all of them count.
func bucketsApart(t *testing.T, l state.Limits) {
	long := strings.Repeat("k", 1022)
	names := []string{
		"a", "b", "A", "a ", " a", "a\x00", "\x00a", "\x00", "a:", ":a", "{a}", "{a}b", "ü", "u\u0308", "\xff", "\xff\xfe",
		"%61", "a*", "'a'", "a\n", long + "a", long + "b",
	}
	for _, k := range kinds() {
		for _, name := range names {
			if got := draw(t, l, of(k, fmt.Sprint(k)+name, 1)); !got[0].OK {
				t.Errorf("kind %d: %q collides with another key", k, name)
			}
		}
	}
	for i, name := range names {
		d := of(state.Hold, "of all", 100)
		d.Holder = name
		if got := draw(t, l, d)[0]; got.Left != int64(99-i) {
			t.Errorf("the holder %q collides with another one: %+v", name, got)
		}
	}
}

func badDraws(t *testing.T, l state.Limits) {
	for name, change := range map[string]func(*state.Draw){
		"no kind":       func(d *state.Draw) { d.Kind = 0 },
		"unknown kind":  func(d *state.Draw) { d.Kind = state.Hold + 1 },
		"no key":        func(d *state.Draw) { d.Key = "" },
		"long key":      func(d *state.Draw) { d.Key = strings.Repeat("k", 1025) },
		"limit below 0": func(d *state.Draw) { d.Limit = -1 },
		"huge limit":    func(d *state.Draw) { d.Limit = 1 << 60 },
		"no cost":       func(d *state.Draw) { d.Cost = 0 },
		"cost below 0":  func(d *state.Draw) { d.Cost = -1 },
		"no refill":     func(d *state.Draw) { d.Refill = 0 },
		"no period":     func(d *state.Draw) { d.Period = 0 },
		"too slow":      func(d *state.Draw) { d.Limit, d.Period = 1<<40, 1000*time.Hour },
		"no holder":     func(d *state.Draw) { *d = placeOf("") },
		"long holder":   func(d *state.Draw) { *d = placeOf(strings.Repeat("h", 1025)) },
		"no TTL":        func(d *state.Draw) { *d = placeOf("a"); d.TTL = 0 },
	} {
		bad := of(state.Rate, "bad", 3)
		change(&bad)
		if _, err := l.Draw(t.Context(), []state.Draw{of(state.Quota, "good", 3), bad}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := draw(t, l, of(state.Quota, "good", 3))[0]; got.Left != 2 {
		t.Errorf("draws that came with bad ones were taken: %+v", got)
	}
}

func noDraws(t *testing.T, l state.Limits) {
	if got := draw(t, l); len(got) != 0 {
		t.Errorf("no draws: %+v", got)
	}
	release(t, l)
}

// crowd: of many who draw at the same moment exactly as many succeed as there is room for.
func crowd(t *testing.T, l state.Limits) {
	const callers, each, room = 8, 25, 37
	for _, k := range kinds() {
		taken := count(callers, each, func(caller, i int) bool {
			d := of(k, fmt.Sprint("crowd", k), room)
			d.Holder = fmt.Sprint(caller, " ", i)
			got, err := l.Draw(t.Context(), []state.Draw{d})
			return err == nil && got[0].OK
		})
		if taken != room {
			t.Errorf("kind %d: %d draws succeeded, want %d", k, taken, room)
		}
	}
}

// crowdedPlaces: while holders come and go, never more are in than there are places.
func crowdedPlaces(t *testing.T, l state.Limits) {
	const callers, each, places = 8, 50, 3
	var in, most atomic.Int64
	count(callers, each, func(caller, i int) bool {
		d := placeOf(fmt.Sprint(caller, " ", i))
		d.Limit = places
		got, err := l.Draw(t.Context(), []state.Draw{d})
		if err != nil || !got[0].OK {
			return false
		}
		now := in.Add(1)
		for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
		}
		in.Add(-1)
		return l.Release(t.Context(), []state.Draw{d}) == nil
	})
	if most.Load() > places {
		t.Errorf("%d holders were in at once, want at most %d", most.Load(), places)
	}
	if got := draw(t, l, placeOf("last"))[0]; !got.OK || got.Left != 2 {
		t.Errorf("when all have gone: %+v", got)
	}
}

// overlapping: callers draw on the same buckets in different orders. Nobody waits for
// ever, and buckets that are always drawn together stand alike.
func overlapping(t *testing.T, l state.Limits) {
	const callers, each, keys = 8, 50, 5
	set := func(caller int) []state.Draw {
		var draws []state.Draw
		for i := range keys {
			draws = append(draws, of(state.Quota, fmt.Sprint("key", (i*(1+caller%4)+caller)%keys), int64(100+i)))
			draws[i].Limit = 100
		}
		return draws
	}
	taken := count(callers, each, func(caller, _ int) bool {
		got, err := l.Draw(t.Context(), set(caller))
		if err != nil {
			return false
		}
		for _, g := range got {
			if g.Left != got[0].Left || g.OK != got[0].OK {
				t.Errorf("buckets that are drawn together stand apart: %+v", got)
			}
		}
		return got[0].OK
	})
	if taken != 100 {
		t.Errorf("%d draws succeeded, want 100", taken)
	}
}

// count has callers at once do something each, and says how often it succeeded.
func count(callers, each int, do func(caller, i int) bool) int64 {
	var n atomic.Int64
	together(callers, func(caller int) {
		for i := range each {
			if do(caller, i) {
				n.Add(1)
			}
		}
	})
	return n.Load()
}
