package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/server/clientip"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// authentication is what telling who calls needs of the gateway.
type authentication struct {
	telemetry *telemetry.Telemetry
	egress    *tunnel.Proxy
	state     *stateStore
	server    *server.Server
	keys      *keys.Ring
}

// options are those of a configuration's chain; previous is the one before.
func (a *authentication) options(cfg *config.Config, public *url.URL, previous *authn.Chain) schemes.Options {
	o := schemes.Options{
		Logger: a.telemetry.Log, Egress: a.egress, Previous: previous, Observe: a.authenticated,
		Refreshed: a.keysFetched, Skipped: a.telemetry.Metrics.JWKSKeySkipped, Scheme: public.Scheme, Trusted: a.server.Trusted,
		Usage: filepath.Join(cfg.Server.DataDir, keyUsage),
		Source: func(r *http.Request) string {
			return clientip.Text(clientip.Of(r, cfg.Server.TrustedProxies), r.RemoteAddr)
		},
		Proofs: a.proofs(), Nonces: a.keys.Derive("dpop nonces"),
	}
	if a.state.revoked != nil {
		o.Revoked = a.state.revoked.Has
	}
	return o
}

// keyUsage is the file below server.dataDir that says when API keys were last used.
const keyUsage = "key-usage.json"

// authenticated counts a request that carried a credential. What exactly was
// wrong with it is in the audit record; a metric needs no more than yes and no.
func (a *authentication) authenticated(provider, result string) {
	if result != "ok" && result != "unavailable" {
		result = "refused"
	}
	a.telemetry.Metrics.Authn(provider, result)
}

var errFetchKeys = errors.New("fetch keys")

func (a *authentication) keysFetched(_, result string) {
	var err error
	if result != "ok" {
		err = errFetchKeys
	}
	a.telemetry.Metrics.JWKSRefresh(err)
}

// proofSpace is where the state has the proofs that were used.
const proofSpace = "dpop"

// proofs remembers DPoP proofs where other gateways, and this one after a restart, find
// them. In a state that is memory alone there is nothing that the chain does not have
// itself, and it is nil.
func (a *authentication) proofs() func(ctx context.Context, id string, life time.Duration) (bool, error) {
	if !a.state.lasts() {
		return nil
	}
	return func(ctx context.Context, id string, life time.Duration) (bool, error) {
		return a.state.store.Add(ctx, proofSpace, id, nil, life)
	}
}
