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
	Shared   bool   `json:"shared" doc:"other gateways may share the state store (state.driver); if false, this gateway is the only one"`
	Gateways []Peer `json:"gateways" doc:"gateways that reported within 20 seconds, and this one"`
}

// Peer is one of them, as it said itself.
type Peer struct {
	Instance string    `json:"instance" doc:"random id of the process"`
	ID       string    `json:"id,omitzero" doc:"name of the gateway (server.id)"`
	Host     string    `json:"host,omitzero"`
	Version  string    `json:"version,omitzero"`
	Revision string    `json:"revision,omitzero" doc:"revision of the sources, if the build knows it"`
	Config   string    `json:"config,omitzero" doc:"digest of the configuration in force"`
	Started  time.Time `json:"started,omitzero"`
	Seen     time.Time `json:"seen,omitzero" doc:"when the gateway last reported"`
	Ready    bool      `json:"ready" doc:"the gateway is ready for traffic"`
	Why      string    `json:"why,omitzero" doc:"why the gateway is not ready"`
	Calls    int64     `json:"calls" doc:"calls in flight"`
	Streams  int64     `json:"streams" doc:"open event streams"`
	Self     bool      `json:"self" doc:"this gateway answers the request"`
	Sealed   bool      `json:"sealed,omitzero" doc:"the gateway seals with keys that this one does not have, so neither can open the entries of the other in the state store (keys.dir)"`
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
			Summary: "List the gateways that share the state store, with state, version and configuration of each",
			Out:     reflect.TypeFor[Cluster](), Answer: s.cluster,
		}},
	}
}

func (s *screen) cluster(c *api.Call) (any, error) { return s.gateways(c.Context()) }
