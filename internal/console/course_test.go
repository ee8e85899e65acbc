package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/index"
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
	for at, want := range map[int]CourseStep{
		0: {Calls: 100, P50: 50, P95: 95, P99: 99}, 1: {Calls: 4, Denied: 2, Failed: 2, P50: 7, P95: 7, P99: 7}, 2: {}, 59: {Calls: 1},
	} {
		if diff := cmp.Diff(want, got.Steps[at]); diff != "" {
			t.Errorf("step %d: %s", at, diff)
		}
	}
	want := []Setback{{"POLICY", 2, true}, {"TIMEOUT", 1, false}, {"unknown", 1, false}}
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

// TestCourse: the log is asked for calls of the agent in the window, no more than
// admin.map.records are counted, which is said, and nothing else of them is told.
func TestCourse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Map.Records = 3 })
	w.ledger.calls = nil
	now := time.Now()
	for n := range 5 {
		w.ledger.calls = append(w.ledger.calls, audit.Entry{Seq: uint64(9 - n), Line: fmt.Appendf(nil, //nolint:gosec // small
			`{"type":"call","time":%q,"agent":"billing","decision":"deny","reason":"POLICY","cause":"canary-cause","duration_ms":1.5}`,
			now.Add(-time.Duration(n+1)*time.Minute).Format(time.RFC3339Nano))})
	}
	got := w.ask("GET", "/api/v1/agents/billing/course?window=1h", nil)
	if want := (index.Query{Type: "call", Agent: "billing", From: w.ledger.asked.From, Limit: 4}); w.ledger.asked != want {
		t.Errorf("%+v", w.ledger.asked)
	}
	var shown Course
	if err := json.Unmarshal([]byte(got.body), &shown); err != nil || got.status != http.StatusOK || strings.Contains(got.body, "canary") {
		t.Fatal(got, err)
	}
	if ago := now.Sub(shown.Since).Round(time.Second); !shown.More || shown.Counted != 3 || ago != 3*time.Minute || shown.Until.Sub(w.ledger.asked.From) != time.Hour {
		t.Errorf("since %v ago: %+v", ago, shown)
	}
	if got := w.ask("GET", "/api/v1/agents/billing/course?window=2h", nil); got.status != http.StatusBadRequest {
		t.Error(got)
	}
	w.away = ErrBusy
	if got := w.ask("GET", "/api/v1/agents/billing/course", nil); got.status != http.StatusServiceUnavailable {
		t.Error(got)
	}
}
