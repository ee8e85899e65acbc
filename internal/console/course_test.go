package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
)

// TestCourse: the log is asked for calls of the agent in the window, no more than
// admin.map.records are counted, which is said, and nothing else of them is told.
func TestCourse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Map.Records = 3 })
	w.ledger.calls = nil
	now := time.Now()
	for n := range 5 {
		w.ledger.calls = append(w.ledger.calls, reader.Entry{Seq: uint64(9 - n), Line: fmt.Appendf(nil, //nolint:gosec // small
			`{"type":"call","time":%q,"agent":"billing","decision":"deny","reason":"POLICY","cause":"canary-cause","duration_ms":1.5}`,
			now.Add(-time.Duration(n+1)*time.Minute).Format(time.RFC3339Nano))})
	}
	got := w.ask("GET", "/api/v1/agents/billing/course?window=1h", nil)
	if want := (index.Query{Type: "call", Agent: "billing", From: w.ledger.asked.From, Limit: 4}); w.ledger.asked != want {
		t.Errorf("%+v", w.ledger.asked)
	}
	var shown records.Course
	if err := json.Unmarshal([]byte(got.body), &shown); err != nil || got.status != http.StatusOK || strings.Contains(got.body, "canary") {
		t.Fatal(got, err)
	}
	if ago := now.Sub(shown.Since).Round(time.Second); !shown.More || shown.Counted != 3 || ago != 3*time.Minute || shown.Until.Sub(w.ledger.asked.From) != time.Hour {
		t.Errorf("since %v ago: %+v", ago, shown)
	}
	if got := w.ask("GET", "/api/v1/agents/billing/course?window=2h", nil); got.status != http.StatusBadRequest {
		t.Error(got)
	}
	w.away = records.ErrBusy
	if got := w.ask("GET", "/api/v1/agents/billing/course", nil); got.status != http.StatusServiceUnavailable {
		t.Error(got)
	}
}
