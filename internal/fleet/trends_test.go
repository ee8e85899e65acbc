package fleet

import (
	"testing"
	"time"
)

// TestTrends: calls are told by when they came as far as somebody looked, and whoever has
// none for a while is forgotten.
func TestTrends(t *testing.T) {
	t.Parallel()
	begun := time.Unix(1000, 0)
	tr := trends{at: begun, steps: map[string]*[trendSteps]float64{}}
	at := func(steps int, total map[string]int64) map[string][]float64 {
		got := tr.read(begun.Add(time.Duration(steps)*trendEvery+time.Second), total)
		if got.Every != 10 || !got.Until.Equal(begun.Add(time.Duration(steps)*trendEvery)) {
			t.Errorf("%+v", got)
		}
		return got.Agents
	}
	last := func(of []float64, n int) []float64 { return of[len(of)-n:] }
	equal := func(what string, got []float64, want ...float64) {
		t.Helper()
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", what, got, want)
				return
			}
		}
	}
	if got := at(0, map[string]int64{"a": 1}); len(got) != 0 {
		t.Errorf("before the first step: %v", got)
	}
	equal("two steps that nobody saw", last(at(2, map[string]int64{"a": 6})["a"], 3), 0, 3, 3)
	got := at(3, map[string]int64{"a": 6, "b": 2})
	equal("a rests", last(got["a"], 4), 0, 3, 3, 0)
	equal("b begins", last(got["b"], 2), 0, 2)
	equal("within a step nothing changes", last(at(3, map[string]int64{"a": 90, "b": 2})["a"], 2), 3, 0)
	got = at(33, map[string]int64{"a": 66, "b": 2})
	equal("a long time", got["a"], 2, 2)
	if got["b"] != nil || len(got["a"]) != trendSteps {
		t.Errorf("after a long time: %v", got)
	}
	equal("a longer one", at(100, map[string]int64{"a": 133})["a"], 1, 1)
	if got := at(200, map[string]int64{"a": 133}); len(got) != 0 {
		t.Errorf("nothing comes any more: %v", got)
	}
}

// TestPace: what agents took to answer is the mean over what is drawn, and a sum that begins anew is no time.
func TestPace(t *testing.T) {
	t.Parallel()
	begun := time.Unix(1000, 0)
	p := pace{newTrends(begun), newTrends(begun)}
	at := func(steps int, micros, answers int64) map[string]float64 {
		return p.read(begun.Add(time.Duration(steps)*trendEvery+time.Second), map[string]int64{"a": micros}, map[string]int64{"a": answers})
	}
	if got := at(1, 3_000_000, 2); got["a"] != 1.5 {
		t.Errorf("two answers in three seconds: %v", got)
	}
	if got := at(2, 3_500_000, 7); got["a"] != 0.5 {
		t.Errorf("five more in half a second: %v", got)
	}
	if got := at(3, 1_000_000, 1); got["a"] != 0.5 {
		t.Errorf("sums that begin anew: %v", got)
	}
	if got := at(100, 1_000_000, 1); len(got) != 0 {
		t.Errorf("nothing answers any more: %v", got)
	}
}
