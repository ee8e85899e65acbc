package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestMapByAPI: the map has what was sent: who called which agent, with which extensions,
// what was denied and what failed.
func TestMapByAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	g := w.start(w.yaml(plain, fmt.Sprintf(`policy:
  rules: [{name: finance, effect: allow, agents: [a], subjects: [alice]}, {name: some, effect: allow, agents: [a], subjects: [bob], methods: [GetTask]}]
agents: [{id: a, card: %q}]
`, agent.CardURL)))
	call := func(subject, extension, body string) int {
		t.Helper()
		header := sendHeader(w.token(subject))
		if extension != "" {
			header.Set("A2A-Extensions", extension)
		}
		status, _, err := try(client(t), http.MethodPost, g.URL()+"/agents/a", header, body)
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	ready := 0
	eventually(t, "the agent answers", func() bool {
		ready++
		return call("early", "", sendBody("SendMessage", "0")) == http.StatusNotFound && call("alice", "", sendBody("SendMessage", "0")) == http.StatusOK
	})
	for range 3 {
		call("alice", demo.CostCentre, sendBody("SendMessage", "1"))
	}
	for range 2 {
		call("bob", "", sendBody("SendMessage", "2"))
	}
	call("bob", "", `{"jsonrpc":"2.0","id":1,"method":"Nonsense","params":{}}`)

	admin := adminOf(t, w.dir)
	ask := func(query string) (shown records.Traffic) {
		t.Helper()
		status, body := fetch(t, g.AdminURL()+"/api/v1/map?"+query, admin)
		if err := json.Unmarshal([]byte(body), &shown); err != nil || status != http.StatusOK {
			t.Fatal(status, body, err)
		}
		return shown
	}
	node := func(shown records.Traffic, kind, name string) (calls [3]int) {
		for _, n := range shown.Nodes {
			if n.Kind == kind && n.Name == name && n.Rest == 0 {
				calls = [3]int{n.Calls, n.Denied, n.Failed}
			}
		}
		return calls
	}
	// A call is on record before its answer is complete, or a moment later.
	var bob records.Traffic
	eventually(t, "all calls are on the map", func() bool {
		bob = ask("caller=bob")
		return bob.Counted == 3 && node(ask("caller=alice&q=cost"), "caller", "alice")[0] == 3
	})
	if got := [][3]int{node(bob, "caller", "bob"), node(bob, "agent", "a"), node(bob, "extension", ""), node(bob, "caller", "alice")}; !cmp.Equal(got, [][3]int{{3, 2, 1}, {3, 2, 1}, {3, 2, 1}, {}}) {
		t.Errorf("bob: %v", got)
	}
	cost := ask("q=" + demo.CostCentre + "&agent=a")
	if got := node(cost, "extension", demo.CostCentre); got != [3]int{3, 0, 0} || cost.Counted != 3 || len(cost.Links) != 2 {
		t.Errorf("with an extension: %v, %+v", got, cost)
	}
	all := ask("window=1h")
	if got := node(all, "caller", "early"); got[0] != ready || got[1]+got[2] != ready {
		t.Errorf("early: %v, want %d", got, ready)
	}
	if few := ask("top=1"); len(few.Nodes) != 6 && len(few.Nodes) != 5 {
		t.Errorf("one of each: %+v", few.Nodes)
	}
}
