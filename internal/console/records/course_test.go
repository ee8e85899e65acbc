package records

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLapse: calls are in the step in which they ended, as what became of them; only what
// the agent answered at once has a time.
func TestLapse(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 12, 9, 0, 0, 0, time.UTC)
	l := newLapse(begin, begin.Add(time.Hour)) // a minute is a step
	call := func(after time.Duration, ms float64, m mapped) {
		m.Time = begin.Add(after)
		l.add(&timed{mapped: m, Duration: ms, Upstream: ms / 2})
	}
	for n := range 100 {
		call(30*time.Second, float64(100-n), mapped{Decision: "allow"})
	}
	call(61*time.Second, 7, mapped{Decision: "allow", Reason: "TIMEOUT"})
	call(62*time.Second, 0, mapped{Decision: "deny", Reason: "POLICY"})
	call(62*time.Second, 0, mapped{Decision: "deny", Reason: "POLICY"})
	call(63*time.Second, 0, mapped{Decision: "error"})
	l.add(&timed{mapped: mapped{Time: begin.Add(59 * time.Minute), Decision: "allow"}, Duration: 1e6, Upstream: 1e6, Streamed: true})
	call(time.Hour, 1, mapped{Decision: "allow"})    // it ended since
	call(-time.Second, 1, mapped{Decision: "allow"}) // before

	got := l.course()
	if got.Counted != 105 || got.Every != 60 || len(got.Steps) != courseSteps {
		t.Errorf("%d calls, every %v, %d steps", got.Counted, got.Every, len(got.Steps))
	}
	for at, want := range map[int]courseStep{
		0: {Calls: 100, P50: 50, P95: 95, P99: 99}, 1: {Calls: 4, Denied: 2, Failed: 2, P50: 7, P95: 7, P99: 7}, 2: {}, 59: {Calls: 1},
	} {
		if diff := cmp.Diff(want, got.Steps[at]); diff != "" {
			t.Errorf("step %d: %s", at, diff)
		}
	}
	want := []setback{{"POLICY", 2, true}, {"TIMEOUT", 1, false}, {"unknown", 1, false}}
	if diff := cmp.Diff(want, got.Reasons); diff != "" {
		t.Error(diff)
	}
}

// TestLapseBounds: however many reasons there are, few are told apart, and none is lost.
func TestLapseBounds(t *testing.T) {
	t.Parallel()
	begin := time.Unix(1e9, 0)
	l := newLapse(begin, begin.Add(time.Minute))
	for n := range 1000 {
		l.add(&timed{mapped: mapped{Time: begin, Decision: "error", Reason: fmt.Sprint("R", n)}})
	}
	sum := 0
	got := l.course().Reasons
	for _, r := range got {
		sum += r.Calls
	}
	if len(got) != mostReasons+1 || sum != 1000 || got[0].Reason != "other" {
		t.Errorf("%d reasons of %d calls, first %+v", len(got), sum, got[0])
	}
}
