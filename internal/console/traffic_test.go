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

// TestTally: every call is counted once for who made it, the agent, and each extension, as
// what became of it.
func TestTally(t *testing.T) {
	t.Parallel()
	tally := newTally("")
	for _, m := range []mapped{
		{Principal: "alice", Agent: "billing", Decision: "allow", Requested: []string{"urn:a", "urn:b"}, Refused: []string{"urn:b"}},
		{Principal: "alice", Agent: "billing", Decision: "allow", Reason: "TIMEOUT", Requested: []string{"urn:a"}, Injected: []string{"urn:a"}},
		{Principal: "bob", Agent: "billing", Decision: "deny"},
		{Decision: "error", Reason: "UNAUTHENTICATED"},
	} {
		tally.add(&m)
	}
	nodes, links := tally.drawn(10)
	wantNodes := []TrafficNode{
		{ID: "caller-0", Kind: "caller", Name: "alice", Calls: 2, Failed: 1},
		{ID: "caller-1", Kind: "caller", Calls: 1, Failed: 1},
		{ID: "caller-2", Kind: "caller", Name: "bob", Calls: 1, Denied: 1},
		{ID: "agent-0", Kind: "agent", Name: "billing", Calls: 3, Denied: 1, Failed: 1},
		{ID: "agent-1", Kind: "agent", Calls: 1, Failed: 1},
		{ID: "extension-0", Kind: "extension", Calls: 2, Denied: 1, Failed: 1},
		{ID: "extension-1", Kind: "extension", Name: "urn:a", Calls: 2, Failed: 1},
		{ID: "extension-2", Kind: "extension", Name: "urn:b", Calls: 1, Denied: 1},
	}
	if diff := cmp.Diff(wantNodes, nodes); diff != "" {
		t.Error(diff)
	}
	wantLinks := []TrafficLink{
		{From: "caller-0", To: "agent-0", Calls: 2, Failed: 1},
		{From: "caller-1", To: "agent-1", Calls: 1, Failed: 1},
		{From: "caller-2", To: "agent-0", Calls: 1, Denied: 1},
		{From: "agent-0", To: "extension-1", Calls: 2, Failed: 1},
		{From: "agent-0", To: "extension-0", Calls: 1, Denied: 1},
		{From: "agent-0", To: "extension-2", Calls: 1, Denied: 1},
		{From: "agent-1", To: "extension-0", Calls: 1, Failed: 1},
	}
	if diff := cmp.Diff(wantLinks, links); diff != "" {
		t.Error(diff)
	}
}

// TestTallyBounds: of many names the busiest are shown and the rest are one, with nothing
// lost; and a search finds calls by any of their names.
func TestTallyBounds(t *testing.T) {
	t.Parallel()
	all, some := newTally(""), newTally("AGENT-0000")
	for i := range 10_000 {
		m := mapped{Principal: fmt.Sprintf("caller-%d", i%300), Agent: fmt.Sprintf("agent-%05d", i), Requested: []string{fmt.Sprintf("urn:%d", i%70)}}
		all.add(&m)
		some.add(&m)
	}
	nodes, links := all.drawn(5)
	sums := map[string]int{}
	for _, n := range nodes {
		sums[n.Kind] += n.Calls
		sums[n.Kind+" rest"] += n.Rest
	}
	for _, l := range links {
		sums[l.From[:strings.Index(l.From, "-")]+" links"] += l.Calls
	}
	want := map[string]int{
		"caller": 10_000, "caller rest": 295, "agent": 10_000, "agent rest": 9995, "extension": 10_000, "extension rest": 65,
		"caller links": 10_000, "agent links": 10_000,
	}
	if diff := cmp.Diff(want, sums); diff != "" || len(nodes) != 18 || len(links) > 2*6*6 {
		t.Errorf("%d nodes, %d links: %s", len(nodes), len(links), diff)
	}
	if some.calls != 10 {
		t.Errorf("%d calls of agents that are like the search", some.calls)
	}
}

// callsOf are records of calls, the newest first.
func callsOf(n int) []audit.Entry {
	list := []audit.Entry{}
	for i := range n {
		list = append(list, audit.Entry{Seq: uint64(n - i), Line: fmt.Appendf(nil, //nolint:gosec // small
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
	var shown Traffic
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
	w.away = ErrBusy
	if got := w.ask("GET", "/api/v1/map", nil); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Error(got)
	}
	c := Config{Address: "127.0.0.1:0", Map: Map{Records: mostMapRecords + 1}}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "map.records: want a number from 1 to 100000") {
		t.Error(err)
	}
}

// BenchmarkTally is what looking at a busy gateway costs, beside reading its log.
func BenchmarkTally(b *testing.B) {
	line := []byte(`{"seq":7,"v":1,"type":"call","time":"2026-01-01T00:00:01Z","start":"2026-01-01T00:00:00Z","request_id":"0199","agent":"billing",` +
		`"skill":"invoice","method":"SendMessage","principal":"alice","decision":"allow","rule":"finance","extensions_requested":["urn:a","urn:b"],"status":200}`)
	b.ReportAllocs()
	t := newTally("")
	for b.Loop() {
		var m mapped
		if err := json.Unmarshal(line, &m); err != nil {
			b.Fatal(err)
		}
		t.add(&m)
	}
}
