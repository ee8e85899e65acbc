package gateway

import (
	"cmp"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/certificates"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/consent"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/console/overview"
	"github.com/a2a-gateway/a2a-gateway/internal/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/operator"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/telemetry/history"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// adminConsole is what operators have of a gateway: the admin API and the console, and what
// gateways that share a state tell each other.
type adminConsole struct {
	*resources

	life          *lifetime
	current       *snapshot.Current
	configuration *configuration
	book          *trust.Book
	certificates  *certificates.Certificates
	load          *loadReport
	hub           *stream.Hub
	streams       *openStreams
	agents        *fleet.Agents
	reloads       *reloads
	condition     *condition
	readiness     *readiness
	consent       *consent.Desk

	records *operator.Records // of the audit log, as operators read them
	peers   *operator.Peers
	history *history.History // nil where nothing is counted, or nobody could ask for it
	console *console.Console // nil where it is off
}

// open binds the admin listener. Nothing is answered before Start. An error names the key
// below admin.
func (a *adminConsole) open(cfg *config.Config, version string) (err error) {
	a.records = operator.NewRecords(cfg.Telemetry.Audit.Config, a.keys)
	counts, store := a.telemetry.Metrics, a.state.store
	a.peers = operator.NewPeers(operator.Peers{
		Shared: a.state.revoked != nil, Values: store, Began: a.life.began, Current: a.current, Readiness: a.readiness, Condition: a.condition.read,
		Version: version, Cipher: sealing{a.keys, sealedPeers},
	})
	// Only replicas that share a state can revoke each other's keys; otherwise the file of
	// keys is all there is to ask.
	who := operator.Callers{Current: a.current, Server: a.server, Values: store, Log: a.telemetry.Log}
	if a.state.revoked != nil {
		who.Revoked = a.state.revoked.Known
	}
	running := a.running(version)
	a.console, err = console.Open(cfg.Admin, console.Options{
		Approvals:  operator.Approvals{Desk: a.consent, Current: a.current, Content: cfg.Admin.Content},
		Callers:    who,
		Keys:       who,
		Cards:      operator.Cards{Current: a.current, Book: a.book},
		Agents:     a.agents,
		Contents:   operator.Contents{Log: a.audit.log},
		Deliveries: operator.Deliveries{Queue: store, Cipher: sealing{a.keys, sealedDeliveries}},
		Extensions: operator.Extensions{Began: a.life.began, Current: a.current, Metrics: &counts.Extensions},
		Policy:     operator.Policies{Began: a.life.began, Current: a.current, Metrics: &counts.Policy, Records: a.records, Contents: operator.Contents{Log: a.audit.log}},
		Records:    a.records,
		Running:    running,
		Health:     running.Health,
		Cluster:    running.Cluster,
		Streams:    operator.Streams{Streams: &a.streams.list},
		Trials:     operator.Trials{Current: a.current, Server: a.server},
		History:    a.past(cfg),

		Egress: a.egress, Version: version, Dir: cfg.Server.DataDir, Audit: a.audit.log.Event, FailOpen: cfg.Telemetry.Audit.FailOpen(),
		Log: a.telemetry.Log, Tokens: a.configuration.tokenLimits, KeySkipped: counts.Credentials.JWKSKeySkipped, Sockets: a.sockets,
	})
	if err != nil {
		return fmt.Errorf("admin.%w", err)
	}
	return nil
}

// past begins the history that the console shows. There is none where the metrics that it is
// read from do not count, and none without a console.
func (a *adminConsole) past(cfg *config.Config) overview.History {
	if counts := cfg.Telemetry.Metrics.Enabled; cfg.Admin.Off() || counts != nil && !*counts {
		return nil
	}
	counters := a.telemetry.Metrics.Reader()
	a.history = history.New(metrics.DurationBounds(), func() history.Sample {
		r := counters.Read()
		return history.Sample{
			Calls: r.Calls, Unwell: r.Unwell, Denied: r.Denied, Took: r.Took, Streams: a.streams.list.Open(), Webhooks: r.Waiting,
		}
	})
	return a.history
}

// attrs say in the log where the console is for a browser, and in which file its token
// is where the configuration has none.
func (a *adminConsole) attrs() []any {
	var attrs []any
	if at := a.console.URL(); at != "" {
		attrs = append(attrs, "console", at+"/ui/")
	}
	if at := a.console.TokenAt(); at != "" {
		attrs = append(attrs, "console_token_file", at)
	}
	return attrs
}

// browsers is where people open the console; "" where there is none.
func (a *adminConsole) browsers() string {
	return cmp.Or(a.configuration.inForce().Admin.PublicURL, a.console.URL())
}

// running is the gateway as a whole, for the console. Several pages of the console are made
// of it: status, health, configuration, replicas.
func (a *adminConsole) running(version string) *operator.Running {
	return &operator.Running{
		Parts: &operator.Parts{
			Current: a.current, Server: a.server, Certificates: a.certificates.Status,
			Audit: a.audit.log, Sinks: a.audit.sinks, Store: a.state.store, Work: &a.load.ladder, Condition: a.condition.read,
			Buffered: a.hub.Kept,
		},
		Peers: a.peers, Version: version, Began: a.life.began, Current: a.current, Readiness: a.readiness,
		Reloaded: a.reloads.result, Follows: &a.reloads.follows, Asks: a.reloads.asks, Closed: a.life.closed,
	}
}
