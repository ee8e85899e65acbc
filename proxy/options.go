package proxy

import (
	"net/http"
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// Options are the parts a Proxy is made of, those of some stages together. All are required
// unless the comment says otherwise.
type Options struct {
	PublicURL *url.URL      // the only source of URLs that clients are given
	Hosts     []string      // further hosts that requests may name
	Server    server.Config // limits, timeouts, trusted proxies
	Agents    []*agents.Agent
	Authn     *authn.Chain
	Telemetry *telemetry.Telemetry
	Audit     *audit.Log
	FailOpen  bool             // calls go on while no record can be written
	Load      *overload.Ladder // what the process has to do; nil for what this Proxy has
	System    http.Handler     // gRPC health and reflection; nil for none

	Tools ToolServer // the server of MCP; nil for none

	Policy    *policy.Set
	FileParts files.Config    // of agents that have none of their own
	Guards    *guard.Set      // nil for none
	Limits    *limits.Limiter // nil for none
	Panel     *pdp.Panel      // authorizers; nil for none
	Approvals Approvals       // where rules have calls wait
	Anomalies *anomaly.Watch  // what callers do that is unusual; nil where nobody looks

	Push  push.Config
	Relay *webhooks.Relay // of notifications; nil where push configs go on as they are, or not at all

	Memory
	Extensions
	Documents
	Streaming
}

// Approvals are the calls that wait until people agree to them.
type Approvals struct {
	Store *approvals.Store          // over all reloads; nil where no rule has calls wait
	Begun func(*approvals.Call)     // is told of each call that begins to wait
	May   func(approvals.Vote) bool // whether somebody who has agreed would still be let in; nil for yes
}

// Memory is what outlasts a call: whose tasks are whose, what agents have said of them, and the keys
// that what clients carry is sealed with.
type Memory struct {
	Ledger *ledger.Ledger
	Shown  *ownership.Shown // what agents have shown of tasks, over all reloads; nil for what this Proxy alone sees
	Values state.Values     // messages that may come again; nil where no agent's configuration has dedupe
	Salt   []byte           // keys ids derived for callers; the same across reloads, restarts and replicas
	Sealer cursors.Sealer   // of page tokens and event ids; those of other replicas have to open too
}

// Extensions are the extensions of A2A that the gateway knows and implements.
type Extensions struct {
	Book      *ext.Book               // those that it knows; may be nil
	Providers map[string]ext.Provider // those that it implements, by URI; may be nil
	Steps     state.Steps             // where tasks stand in the states of extensions
}

// Documents are what served cards, catalogs and key sets say.
type Documents struct {
	Schemes card.Schemes   // what cards say about credentials
	GRPC    bool           // the listener takes gRPC, so cards may say so
	JWKS    func() []byte  // the public keys (RFC 7517); nil for none
	Signing signature.Ring // the keys behind JWKS, which sign cards; nil leaves them unsigned
	Catalog catalog.Config
}

// Streaming is what event streams need that outlast their handlers, and configurations.
type Streaming struct {
	StreamConfig stream.Config        // of what clients are given of streams
	Hub          *stream.Hub          // streams of agents, over all reloads; nil for those of this Proxy alone
	Streams      *openstreams.Streams // event streams that are open, over all reloads; nil for those of this Proxy alone

	// Hold keeps what this Proxy is made of for streams whose handlers have returned; may be nil.
	Hold func() (release func())
	// Drain runs end when the gateway shuts down; may be nil.
	Drain func(end func()) (stop func() bool)
}

// StreamLimits are what bounds the streams of agents.
//
// They come from the server's section, since an event is a body of a kind; Heartbeat and Write
// belong to the client's side, which reads them from there too.
func StreamLimits(c server.Config) stream.Limits {
	return stream.Limits{Event: int(c.Limits.Event), Idle: c.Timeouts.Stream.Std()}
}
