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

// options are those of a configuration's chain; previous is the one before. What was learnt
// under the previous chain is taken over from it, such as fetched keys of issuers, so that
// a reload needs no issuer to be reachable. Source is the address that refusals are counted
// by: that of the client, behind as many proxies as are trusted.
func (a *authentication) options(cfg *config.Config, public *url.URL, previous *authn.Chain) schemes.Options {
	o := schemes.Options{
		Logger: a.telemetry.Log, Egress: a.egress, Previous: previous, Observe: a.authenticated,
		Refreshed: a.keysFetched, Skipped: a.telemetry.Metrics.Credentials.JWKSKeySkipped, Scheme: public.Scheme, Trusted: a.server.Trusted,
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

// authenticated counts a request that carried a credential. What exactly was wrong with it
// is in the audit record; a metric needs no more than yes and no. result is ok, unavailable
// (an issuer could not be asked) or a reason of a refusal.
func (a *authentication) authenticated(provider, result string) {
	if result != "ok" && result != "unavailable" {
		result = "refused"
	}
	a.telemetry.Metrics.Credentials.Presented(provider, result)
}

// errFetchKeys stands for whatever went wrong with a fetch: metrics only count that there
// was an error, and the log has it in full.
var errFetchKeys = errors.New("fetch keys")

// keysFetched counts a fetch of an issuer's JWK set. The issuer is not a label: the number
// of series would grow with the configuration, and the console shows each issuer's state.
func (a *authentication) keysFetched(_, result string) {
	var err error
	if result != "ok" {
		err = errFetchKeys
	}
	a.telemetry.Metrics.Credentials.JWKSRefreshed(err)
}

// proofSpace is where the state has the proofs that were used.
const proofSpace = "dpop"

// proofs remembers DPoP proofs where other gateways, and this one after a restart, find
// them. In a state that is memory alone there is nothing that the chain does not have
// itself, and it is nil. A proof (RFC 9449) may be used once. The function adds its id for
// the life of the proof and reports whether it was new; two replicas that get one proof at
// the same time see one true.
func (a *authentication) proofs() func(ctx context.Context, id string, life time.Duration) (bool, error) {
	if !a.state.lasts() {
		return nil
	}
	return func(ctx context.Context, id string, life time.Duration) (bool, error) {
		return a.state.store.Add(ctx, proofSpace, id, nil, life)
	}
}
