package gateway

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// schemes is what cards say about how to authenticate.
func schemes(cfg *config.Config) card.Schemes {
	s := card.Schemes{Anonymous: cfg.Authn.Anonymous}
	for _, i := range cfg.Authn.OIDC {
		own := i.Header
		if strings.EqualFold(own, "Authorization") {
			own = ""
		}
		s.OIDC = append(s.OIDC, card.Issuer{URL: i.Issuer, Header: own})
	}
	if keys := cfg.Authn.APIKeys; keys != nil {
		s.APIKeyHeader, s.Bearer = cmp.Or(keys.Header, "X-API-Key"), keys.Bearer
	}
	s.MTLS = cfg.Authn.MTLS != nil
	for _, c := range cfg.Authn.Combinations {
		s.Combinations = append(s.Combinations, together(c))
	}
	return s
}

// together is a combination, as cards know it.
func together(c authn.Combination) []string {
	if c.Client == "" {
		return []string{c.User}
	}
	return []string{c.User, c.Client}
}

// identity is what telling who calls needs of the gateway.
func (g *Gateway) identity(cfg *config.Config, public *url.URL, previous *authn.Chain) authn.Options {
	o := authn.Options{
		Logger: g.telemetry.Log, Egress: g.egress, Previous: previous, Observe: g.authenticated,
		Refreshed: g.keysFetched, Skipped: g.telemetry.Metrics.JWKSKeySkipped, Scheme: public.Scheme, Trusted: g.server.Trusted,
		Usage: filepath.Join(cfg.Server.DataDir, keyUsage),
		Source: func(r *http.Request) string {
			return server.AddrText(server.ClientIP(r, cfg.Server.TrustedProxies), r.RemoteAddr)
		},
		Proofs: g.proofs(), Nonces: g.keys.Derive("dpop nonces"),
	}
	if g.revoked != nil {
		o.Revoked = g.revoked.Has
	}
	return o
}

// keyUsage is the file below server.dataDir that says when API keys were last used.
const keyUsage = "key-usage.json"

// authenticated counts a request that carried a credential. What exactly was
// wrong with it is in the audit record; a metric needs no more than yes and no.
func (g *Gateway) authenticated(provider, result string) {
	if result != "ok" && result != "unavailable" {
		result = "refused"
	}
	g.telemetry.Metrics.Authn(provider, result)
}

var errFetchKeys = errors.New("fetch keys")

func (g *Gateway) keysFetched(_, result string) {
	var err error
	if result != "ok" {
		err = errFetchKeys
	}
	g.telemetry.Metrics.JWKSRefresh(err)
}

// proofSpace is where the state has the proofs that were used.
const proofSpace = "dpop"

// proofs remembers DPoP proofs where other gateways, and this one after a restart, find
// them. In a state that is memory alone there is nothing that the chain does not have
// itself, and it is nil.
func (g *Gateway) proofs() func(ctx context.Context, id string, life time.Duration) (bool, error) {
	if g.store == state.Store(g.local) {
		return nil
	}
	return func(ctx context.Context, id string, life time.Duration) (bool, error) {
		return g.store.Add(ctx, proofSpace, id, nil, life)
	}
}
