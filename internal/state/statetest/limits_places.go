package statetest

import (
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// placeOf is a Hold of a holder.
func placeOf(holder string) state.Draw {
	d := ExampleDraw(state.Hold)
	d.Holder = holder
	return d
}

func placesHeld(t *testing.T, l state.Limits) {
	other := placeOf("a")
	other.Key += "2"
	release(t, l, placeOf("a")) // of nobody
	for i, tc := range []struct {
		d    state.Draw
		free bool // the holder gives it back first
		ok   bool
		left int64
	}{
		{placeOf("a"), false, true, 2},
		{placeOf("b"), false, true, 1},
		{placeOf("a"), false, true, 1},
		{placeOf("c"), false, true, 0},
		{placeOf("d"), false, false, 0},
		{placeOf("b"), false, true, 0},
		{other, false, true, 2},
		{placeOf("e"), true, false, 0}, // gives back what it never had
		{placeOf("b"), true, true, 0},
		{placeOf("d"), false, false, 0},
		{other, true, true, 2},
	} {
		if tc.free {
			release(t, l, tc.d, tc.d)
		}
		want := state.Drawn{OK: tc.ok, Left: tc.left}
		if got := draw(t, l, tc.d)[0]; got != want {
			t.Errorf("draw %d: %+v, want %+v", i, got, want)
		}
	}
	release(t, l, placeOf("a"), placeOf("b"), other, placeOf("c"))
	if got := draw(t, l, placeOf("d"))[0]; !got.OK || got.Left != 2 {
		t.Errorf("after all places were given back: %+v", got)
	}
}

// placesRunOut: what nobody renews is free again, but never before its time.
func placesRunOut(t *testing.T, l state.Limits) {
	const ttl = 100 * time.Millisecond
	short, long := placeOf("a"), placeOf("b")
	short.TTL, short.Limit, long.Limit = ttl, 2, 2
	begin := time.Now()
	draw(t, l, short, long)
	next := placeOf("c")
	next.Limit = 2
	for !draw(t, l, next)[0].OK {
		if time.Since(begin) > time.Minute {
			t.Fatal("the place does not run out")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if passed := time.Since(begin); passed < ttl-time.Millisecond {
		t.Errorf("the place was free after %v already", passed)
	}
	next.Holder = "d"
	if got := draw(t, l, next)[0]; got.OK {
		t.Errorf("the place with much time left is free: %+v", got)
	}
}

// placesRenewed: the latest Draw of a holder counts, also a shorter one.
func placesRenewed(t *testing.T, l state.Limits) {
	const ttl = 50 * time.Millisecond
	first, second := placeOf("a"), placeOf("b")
	first.Limit, first.TTL, second.Limit = 1, ttl, 1
	draw(t, l, first)
	first.TTL = time.Hour
	draw(t, l, first)
	time.Sleep(2 * ttl)
	if got := draw(t, l, second)[0]; got.OK {
		t.Errorf("a place that was renewed is free: %+v", got)
	}
	first.TTL = ttl
	begin := time.Now()
	draw(t, l, first)
	for !draw(t, l, second)[0].OK {
		if time.Since(begin) > time.Minute {
			t.Fatal("a place that was renewed for a shorter time does not run out")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// placesForced: with a greater limit one may be over the usual one, and with 0 one keeps
// what one has.
func placesForced(t *testing.T, l state.Limits) {
	for i, tc := range []struct {
		holder string
		limit  int64
		ok     bool
		left   int64
	}{
		{"a", 1, true, 0},
		{"b", 1, false, 0},
		{"b", 1 << 50, true, 1<<50 - 2},
		{"c", 1, false, 0},
		{"c", 2, false, 0},
		{"b", 0, true, 0},
		{"c", 0, false, 0},
		{"c", 3, true, 0},
	} {
		d := placeOf(tc.holder)
		d.Limit = tc.limit
		want := state.Drawn{OK: tc.ok, Left: tc.left}
		if got := draw(t, l, d)[0]; got != want {
			t.Errorf("draw %d: %+v, want %+v", i, got, want)
		}
	}
}

// placesTogether: holders that come with one draw share what there is.
func placesTogether(t *testing.T, l state.Limits) {
	if got := draw(t, l, placeOf("a"), placeOf("b"), placeOf("c"), placeOf("d")); got[3].OK || !got[0].OK {
		t.Errorf("four of three places: %+v", got)
	}
	if got := draw(t, l, placeOf("a")); got[0].Left != 2 {
		t.Errorf("the refused draw took places: %+v", got)
	}
	soft := []state.Draw{placeOf("a"), placeOf("b"), placeOf("c"), placeOf("d"), placeOf("e")}
	for i := range soft {
		soft[i].Soft = true
	}
	taken := 0
	for _, got := range draw(t, l, soft...) {
		if got.OK {
			taken++
		}
		if got.Left != 0 {
			t.Errorf("after all places were taken: %+v", got)
		}
	}
	if taken != 3 {
		t.Errorf("%d holders have three places", taken)
	}
}
