package records

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
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
	wantNodes := []trafficNode{
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
	wantLinks := []trafficLink{
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
