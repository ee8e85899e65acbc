package statetest

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Limits runs the suite for stores of what callers use. Calls of open are as those for
// Ledger. Rounding to microseconds is allowed, against the caller.
func Limits(t *testing.T, open func(testing.TB) state.Limits) {
	t.Helper()
	for name, run := range map[string]func(*testing.T, state.Limits){
		"a rate is a bucket":            rateBucket,
		"a rate rounds nothing away":    unevenRates,
		"a rate refills evenly":         refills,
		"a rate admits no more":         rateBound,
		"a quota is a count":            quotaCount,
		"a quota begins anew":           quotaAnew,
		"places are held":               placesHeld,
		"places run out":                placesRunOut,
		"places are renewed":            placesRenewed,
		"a place more than it has":      placesForced,
		"all or nothing":                allOrNothing,
		"soft draws hinder nobody":      softDraws,
		"several places in one draw":    placesTogether,
		"limits may change":             limitsChange,
		"kinds may change":              kindsChange,
		"buckets do not collide":        bucketsApart,
		"bad draws take nothing":        badDraws,
		"nothing is drawn":              noDraws,
		"no more than there is room":    crowd,
		"no more places than there are": crowdedPlaces,
		"overlapping draws all end":     overlapping,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, open(t))
		})
	}
	t.Run("behaves like a few numbers", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) { limitsModel(rt, open(t)) })
	})
}

// ExampleDraw is a Draw of each kind with every field of it set. None of them changes
// by itself while a test runs.
func ExampleDraw(k state.DrawKind) state.Draw {
	d := state.Draw{Key: "per-caller/14:https://issuer5:alice", Kind: k, Limit: 3}
	switch k {
	case state.Rate:
		d.Cost, d.Refill, d.Period = 1, 1, 1000*time.Hour
	case state.Quota:
		d.Cost, d.Until = 1, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	case state.Hold:
		d.Holder, d.TTL = "0f8fad5b-d9cb-469f-a165-70867728950e", 1000*time.Hour
	}
	return d
}

// rateBucket: costs, and what is left, how long to wait, and when all is there again.
func rateBucket(t *testing.T, l state.Limits) {
	d := ExampleDraw(state.Rate)
	d.Limit, d.Refill, d.Period = 10, 5, 500*time.Hour // 100 h each
	for i, tc := range []struct {
		cost        int64
		ok          bool
		left        int64
		wait, reset int // hours
	}{
		{4, true, 6, 0, 400},
		{6, true, 0, 0, 1000},
		{1, false, 0, 100, 1000},
		{10, false, 0, 1000, 1000},
		{11, false, 0, 0, 1000}, // never
	} {
		d.Cost = tc.cost
		got := draw(t, l, d)[0]
		if got.OK != tc.ok || got.Left != tc.left {
			t.Errorf("draw %d of %d: %+v, want OK %v, Left %d", i, tc.cost, got, tc.ok, tc.left)
		}
		near(t, "Wait", got.Wait, tc.wait)
		near(t, "Reset", got.Reset, tc.reset)
	}
}

// near allows for the time that a test takes.
func near(t *testing.T, what string, got time.Duration, hours int) {
	t.Helper()
	want := time.Duration(hours) * time.Hour
	if got > want+time.Second || got < want-time.Hour || got < 0 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// unevenRates: all of a bucket can be had one by one and at once, however the period
// divides, and nothing more.
func unevenRates(t *testing.T, l state.Limits) {
	for i, tc := range []struct {
		limit, refill int64
		period        time.Duration
	}{
		{7, 7, 1000 * time.Hour},
		{7, 3, 1000 * time.Hour},
		{3, 7, 1000*time.Hour + 1},
		{1, 1, 1000 * time.Hour},
		{100, 97, 1009 * time.Hour},
	} {
		d := ExampleDraw(state.Rate)
		d.Key, d.Limit, d.Refill, d.Period = d.Key+string(rune('a'+i)), tc.limit, tc.refill, tc.period
		for n := range tc.limit {
			if got := draw(t, l, d)[0]; !got.OK || got.Left != tc.limit-n-1 {
				t.Errorf("%+v: unit %d: %+v", tc, n+1, got)
			}
		}
		if got := draw(t, l, d)[0]; got.OK {
			t.Errorf("%+v: one more than the limit: %+v", tc, got)
		}
		d.Key, d.Cost = d.Key+"all", tc.limit
		if got := draw(t, l, d)[0]; !got.OK || got.Left != 0 {
			t.Errorf("%+v: all at once: %+v", tc, got)
		}
	}
}

// refills: Wait is long enough, and Reset as well.
func refills(t *testing.T, l state.Limits) {
	d := ExampleDraw(state.Rate)
	d.Limit, d.Refill, d.Period = 2, 3, 60*time.Millisecond
	for range 6 {
		got := draw(t, l, d)[0]
		for !got.OK {
			time.Sleep(got.Wait)
			if got = draw(t, l, d)[0]; !got.OK {
				t.Fatalf("after having waited: %+v", got)
			}
		}
	}
	d.Cost = 2
	for range 2 {
		time.Sleep(draw(t, l, d)[0].Reset)
		if got := draw(t, l, d)[0]; !got.OK || got.Left != 0 {
			t.Errorf("when all should be there again: %+v", got)
		}
	}
}

// rateBound: never more than the limit and what came back meanwhile, however many ask.
func rateBound(t *testing.T, l state.Limits) {
	const callers, each = 4, 100
	d := ExampleDraw(state.Rate)
	d.Limit, d.Refill, d.Period = 20, 1, time.Millisecond
	begin := time.Now()
	taken := count(callers, each, func(int, int) bool {
		got, err := l.Draw(t.Context(), []state.Draw{d})
		return err == nil && got[0].OK
	})
	// The store's clock may be read a moment later than ours.
	most := d.Limit + int64(time.Since(begin)/d.Period) + 1
	if taken > most || taken < min(d.Limit, callers*each) {
		t.Errorf("%d draws succeeded, want %d to %d", taken, d.Limit, most)
	}
}

func quotaCount(t *testing.T, l state.Limits) {
	d := ExampleDraw(state.Quota)
	d.Limit, d.Until = 10, time.Now().Add(1000*time.Hour)
	for i, tc := range []struct {
		cost int64
		ok   bool
		left int64
		wait int // hours
	}{
		{4, true, 6, 0}, {7, false, 6, 1000}, {6, true, 0, 0}, {1, false, 0, 1000}, {11, false, 0, 0},
	} {
		d.Cost = tc.cost
		got := draw(t, l, d)[0]
		if got.OK != tc.ok || got.Left != tc.left {
			t.Errorf("draw %d of %d: %+v, want OK %v, Left %d", i, tc.cost, got, tc.ok, tc.left)
		}
		near(t, "Wait", got.Wait, tc.wait)
		near(t, "Reset", got.Reset, 1000)
	}
}

// quotaAnew: spans are told apart by their ends, as the callers' clocks have them.
func quotaAnew(t *testing.T, l state.Limits) {
	d := ExampleDraw(state.Quota)
	today := d.Until
	for i, tc := range []struct {
		days int // after today
		left int64
	}{
		{0, 2}, {0, 1}, {1, 2}, {1, 1}, {0, 0}, {3, 2}, {1, 1}, {3, 0},
	} {
		d.Until = today.AddDate(0, 0, tc.days)
		if got := draw(t, l, d)[0]; !got.OK || got.Left != tc.left {
			t.Errorf("draw %d, of day %d: %+v, want Left %d", i, tc.days, got, tc.left)
		}
	}
	if got := draw(t, l, d)[0]; got.OK {
		t.Errorf("one more than the limit: %+v", got)
	}
	// A clock that is behind does not begin spans again and again.
	d.Key, d.Until = d.Key+"2", time.Now().Add(-time.Second)
	for n := range 4 {
		if got := draw(t, l, d)[0]; got.OK != (n < 3) || got.Reset != 0 {
			t.Errorf("draw %d of a span that is just over: %+v", n, got)
		}
	}
}

func draw(t reporter, l state.Limits, draws ...state.Draw) []state.Drawn {
	t.Helper()
	got, err := l.Draw(context.Background(), draws)
	if err != nil {
		t.Fatalf("Draw(%+v): %v", draws, err)
	}
	if len(got) != len(draws) {
		t.Fatalf("%d answers to %d draws", len(got), len(draws))
	}
	return got
}

func release(t reporter, l state.Limits, holds ...state.Draw) {
	t.Helper()
	if err := l.Release(context.Background(), holds); err != nil {
		t.Fatalf("Release(%+v): %v", holds, err)
	}
}
