package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/console/replicas"
)

// TestCluster: gateways that share a Redis see each other, with what tells them apart, until
// one ends; one with other keys is seen and cannot be read.
func TestCluster(t *testing.T) {
	t.Parallel()
	redis := startRedis(t)
	w := newWorld(t)
	agent := greeter(t)
	sections := adminSection + openPolicy + fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL) + redis.yaml()
	all := w.replicas("", sections)
	d := w.desk(all[0])
	var seen replicas.Cluster
	look := func(n int) func() bool {
		return func() bool {
			seen = replicas.Cluster{}
			return d.ask(http.MethodGet, "/cluster", "", &seen) == http.StatusOK && len(seen.Gateways) == n
		}
	}
	eventually(t, "both are seen", look(2))
	if !seen.Shared || seen.Gateways[0].Self == seen.Gateways[1].Self || seen.Gateways[0].Instance == seen.Gateways[1].Instance {
		t.Errorf("seen are %+v", seen)
	}
	for _, g := range seen.Gateways {
		if !g.Ready || g.Why != "" || g.Sealed || g.ID != "test" || g.Host == "" || !strings.HasPrefix(g.Config, "sha256:") || g.Started.IsZero() || g.Seen.IsZero() {
			t.Errorf("seen is %+v", g)
		}
	}
	if err := all[1].Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !look(1)() {
		t.Errorf("one that has ended is seen: %+v", seen)
	}

	other := newWorld(t)
	other.start(other.yaml(together, sections))
	eventually(t, "the other one is seen", look(2))
	if seen.Gateways[0].Sealed == seen.Gateways[1].Sealed {
		t.Errorf("one with other keys is seen as %+v", seen)
	}

	redis.end()
	var no console.Problem
	eventually(t, "the state is away", func() bool {
		return d.ask(http.MethodGet, "/cluster", "", &no) == http.StatusServiceUnavailable && no.Code == "STATE_UNAVAILABLE"
	})
}

// TestClusterOfOne: with a state of its own a gateway is all there is.
func TestClusterOfOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(together, adminSection+openPolicy+"agents: []\n"))
	var seen replicas.Cluster
	if w.desk(g).ask(http.MethodGet, "/cluster", "", &seen); seen.Shared || len(seen.Gateways) != 1 || !seen.Gateways[0].Self {
		t.Errorf("seen is %+v", seen)
	}
}
