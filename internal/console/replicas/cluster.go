package replicas

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Cluster is the answer of GET /api/v1/cluster: the gateways that share a state.
type Cluster struct {
	Shared   bool   `json:"shared" doc:"others may have the state as well (state.driver); where not, this gateway is all there is"`
	Gateways []Peer `json:"gateways" doc:"those that said something within 20 seconds, and this one"`
}

// Peer is one of them, as it said itself.
type Peer struct {
	Instance string    `json:"instance" doc:"of the process; random"`
	ID       string    `json:"id,omitzero" doc:"server.id"`
	Host     string    `json:"host,omitzero"`
	Version  string    `json:"version,omitzero"`
	Revision string    `json:"revision,omitzero" doc:"of the sources, where the build knows it"`
	Config   string    `json:"config,omitzero" doc:"digest of the configuration in force"`
	Started  time.Time `json:"started,omitzero"`
	Seen     time.Time `json:"seen,omitzero" doc:"when it said so"`
	Ready    bool      `json:"ready" doc:"traffic should go there"`
	Why      string    `json:"why,omitzero" doc:"why it should not"`
	Calls    int64     `json:"calls" doc:"under way"`
	Streams  int64     `json:"streams" doc:"open"`
	Self     bool      `json:"self" doc:"it is the one that answers"`
	Sealed   bool      `json:"sealed,omitzero" doc:"with keys that this one does not have: neither can open what the other keeps in the state (keys.dir)"`
}

// screen lists them.
type screen struct {
	gateways func(context.Context) (Cluster, error)
}

// Screen lists the gateways that share a state.
func Screen(gateways func(context.Context) (Cluster, error)) api.Screen {
	s := &screen{gateways}
	return api.Screen{
		Title: "Gateways that share a state",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/cluster", ID: "cluster", Tag: "cluster", Role: api.Viewer,
			Summary: "The gateways that share a state: how each stands, and what it runs with",
			Out:     reflect.TypeFor[Cluster](), Answer: s.cluster,
		}},
	}
}

func (s *screen) cluster(c *api.Call) (any, error) { return s.gateways(c.Context()) }
