package gateway

import (
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/operator"
	"github.com/a2a-gateway/a2a-gateway/internal/server/acme"
)

// openConsole binds the admin listener.
func (g *Gateway) openConsole(cfg *config.Config, version string) (err error) {
	g.records = operator.NewRecords(cfg.Telemetry.Audit.Config, g.keys)
	metrics := g.telemetry.Metrics
	g.peers = operator.NewPeers(operator.Peers{
		Shared: g.revoked != nil, Values: g.store, Began: g.began, Current: &g.current, Readiness: g.status, Condition: g.condition,
		Version: version, Cipher: sealing{g.keys, operator.PeerPurpose},
	})
	who := operator.Callers{Current: &g.current, Server: g.server, Values: g.store, Log: g.telemetry.Log}
	if g.revoked != nil {
		who.Revoked = g.revoked.Known
	}
	g.console, err = console.Open(cfg.Admin, console.Options{
		Callers:    who,
		Cards:      operator.Cards{Current: &g.current, Book: g.book},
		Agents:     registry{g},
		Contents:   operator.Contents{Log: g.audit},
		Deliveries: operator.Deliveries{Queue: g.store, Cipher: sealing{g.keys, pushSeal}},
		Extensions: operator.Extensions{Began: g.began, Current: &g.current, Metrics: metrics},
		Policy:     operator.Policies{Began: g.began, Current: &g.current, Metrics: metrics, Records: g.records},
		Records:    g.records,
		Running:    g.running(version),
		Streams:    operator.Streams{Streams: &g.streams},
		Trials:     operator.Trials{Current: &g.current, Server: g.server},

		Egress: g.egress, Version: version, Dir: cfg.Server.DataDir, Audit: g.audit.Event, FailOpen: cfg.Telemetry.Audit.FailOpen(),
		Log: g.telemetry.Log, Tokens: g.tokenLimits(&cfg.Authn), KeySkipped: metrics.JWKSKeySkipped, Sockets: g.sockets,
	})
	if err != nil {
		return fmt.Errorf("admin.%w", err)
	}
	return nil
}

// tokenLimits are those of the configuration in force, or those to start with.
func (g *Gateway) tokenLimits(start *authn.Config) func() authn.Limits {
	begun := start.Limits
	return func() authn.Limits {
		if s := g.current.Load(); s != nil {
			return s.Config.Authn.Limits
		}
		return begun
	}
}

// AdminURL is the admin listener's address as a URL; "" where there is none.
func (g *Gateway) AdminURL() string { return g.console.URL() }

// consoleAttrs say in the log where the console is for a browser, and in which file its token
// is where the configuration has none.
func (g *Gateway) consoleAttrs() []any {
	var attrs []any
	if at := g.AdminURL(); at != "" {
		attrs = append(attrs, "console", at+"/ui/")
	}
	if at := g.console.TokenAt(); at != "" {
		attrs = append(attrs, "console_token_file", at)
	}
	return attrs
}

// running is the gateway as a whole, for the console.
func (g *Gateway) running(version string) *operator.Running {
	return &operator.Running{
		Parts: &operator.Parts{
			Current: &g.current, Server: g.server, Certificates: func() []acme.Status { return g.certificates.status() },
			Audit: g.audit, Sinks: g.sinks, Store: g.store, Work: &g.work, Condition: g.condition,
			Buffered: func() (used, most int64) { return g.hub.Kept() },
		},
		Peers: g.peers, Version: version, Began: g.began, Current: &g.current, Readiness: g.status,
		Reloaded: func() (at time.Time, failure error) {
			if last := g.reload.Load(); last != nil {
				return last.at, last.err
			}
			return at, nil
		},
		Follows: &g.follows, Asks: g.asks, Closed: g.closed,
	}
}
