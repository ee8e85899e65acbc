package console

import (
	"net/http"
	"reflect"
	"time"
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

// clusterOperation lists the gateways that share a state.
var clusterOperation = operation{
	method: http.MethodGet, path: "/api/v1/cluster", id: "cluster", tag: "cluster", role: Viewer,
	summary: "The gateways that share a state: how each stands, and what it runs with",
	out:     reflect.TypeFor[Cluster](), answer: (*Console).cluster,
}

func (s *Console) cluster(c *call) (any, error) { return s.Running.Cluster(c.Context()) }
