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

// callsOf are records of calls, the newest first.
func callsOf(n int) []reader.Entry {
	list := []reader.Entry{}
	for i := range n {
		list = append(list, reader.Entry{Seq: uint64(n - i), Line: fmt.Appendf(nil, //nolint:gosec // small
			`{"seq":%d,"type":"call","time":"2026-01-01T00:00:%02dZ","principal":"alice","agent":"billing","decision":"allow","cause":"canary-cause","path":"/canary"}`, n-i, n-i)})
	}
	return list
}

// TestMap: the log is asked for calls of the window, no more than admin.map.records are
// counted, which is said, and nothing of them is told but names and counts.
func TestMap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Map.Records = 3 })
	w.ledger.calls = callsOf(9)
	before := time.Now()
	got := w.ask("GET", "/api/v1/map?window=1h&caller=alice&agent=billing&q=Bill&top=1", nil)
	from := w.ledger.asked.From
	if want := (index.Query{Type: "call", Principal: "alice", Agent: "billing", From: from, Limit: 4}); w.ledger.asked != want {
		t.Errorf("%+v", w.ledger.asked)
	}
	if ago := before.Sub(from); ago < 59*time.Minute || ago > time.Hour {
		t.Errorf("since %v", from)
	}
	var shown records.Traffic
	if err := json.Unmarshal([]byte(got.body), &shown); err != nil || got.status != http.StatusOK || strings.Contains(got.body, "canary") {
		t.Fatal(got, err)
	}
	if !shown.More || shown.Counted != 3 || shown.Since.Second() != 7 || len(shown.Nodes) != 3 || len(shown.Links) != 2 {
		t.Errorf("%+v", shown)
	}
	w.ledger.calls = callsOf(2)
	if got := w.ask("GET", "/api/v1/map", nil); !strings.Contains(got.body, `"counted":2,"more":false`) {
		t.Error(got)
	}
	w.ledger.calls = callsOf(0)
	if got := w.ask("GET", "/api/v1/map?q=nothing", nil); !strings.Contains(got.body, `"counted":0,"more":false,"nodes":[],"links":[]`) {
		t.Error(got)
	}
}

// TestMapRefused: a window that there is not is an error, as is what takes too long.
func TestMapRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, query := range []string{"window=2h", "top=0", "top=51", "extension=x"} {
		if got := w.ask("GET", "/api/v1/map?"+query, nil); got.status != http.StatusBadRequest || !strings.Contains(got.body, "INVALID_PARAMETER") {
			t.Errorf("%s: %s", query, got)
		}
	}
	w.away = records.ErrBusy
	if got := w.ask("GET", "/api/v1/map", nil); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Error(got)
	}
	c := Config{Address: "127.0.0.1:0", Map: Map{Records: mostMapRecords + 1}}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "map.records: want a number from 1 to 100000") {
		t.Error(err)
	}
}
