package schemes

import (
	"context"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
)

// New builds a chain. It reads the key file, and fetches nothing: an issuer that is
// down must not keep a gateway from starting. ctx is not needed after New.
func New(ctx context.Context, cfg Config, o Options) (*authn.Chain, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	o.defaults()
	var chain *authn.Chain
	b := &build{cfg: &cfg, o: &o, where: func() string { return chain.Where() }, blame: failures.New(cfg.Failures, o.Previous.Failures())}
	var schemes []authn.Scheme
	for _, r := range All() {
		if !r.Configured(&cfg) {
			continue
		}
		s, err := r.make(ctx, b)
		if err != nil {
			return nil, fmt.Errorf("authn.%s: %w", r.Name, err)
		}
		schemes = append(schemes, s)
	}
	chain = authn.NewChain(authn.Setup{Schemes: schemes, Combinations: cfg.Combinations, Prefer: cfg.Prefer, Anonymous: cfg.Anonymous,
		Blame: b.blame, Now: o.Now, Observe: o.Observe})
	return chain, nil
}

// build makes the schemes of one chain.
type build struct {
	cfg   *Config
	o     *Options
	where func() string // Chain.where of the chain to be
	blame *failures.Counter
}

func (b *build) apiKeys() (authn.Scheme, error) {
	return apikey.New(b.cfg.APIKeys, apikey.Options{Logger: b.o.Logger, Previous: apikey.From(b.o.Previous), Revoked: b.o.Revoked, Usage: b.o.Usage,
		Where: b.where, Observe: b.o.Observe, Now: b.o.Now})
}

func (b *build) oidc(ctx context.Context) authn.Scheme {
	cfg := jwt.Config{OIDC: b.cfg.OIDC, DPoP: b.cfg.DPoP, Actors: b.cfg.Actors, Limits: b.cfg.Limits, KeyHeader: b.cfg.APIKeys.HeaderName()}
	cfg.Keys = b.cfg.APIKeys != nil && b.cfg.APIKeys.Bearer
	return jwt.New(ctx, &cfg, jwt.Options{Logger: b.o.Logger, Previous: jwt.From(b.o.Previous), Client: b.o.Client, Egress: b.o.Egress,
		Observe: b.o.Observe, Refreshed: b.o.Refreshed, Skipped: b.o.Skipped, Limits: b.o.Limits, Source: b.o.Source, Blame: b.blame,
		Scheme: b.o.Scheme, Proofs: b.o.Proofs, Nonces: b.o.Nonces, Where: b.where, Now: b.o.Now})
}

func (b *build) mtls() authn.Scheme {
	return clientcert.New(b.cfg.MTLS, clientcert.Options{Trusted: b.o.Trusted, Observe: b.o.Observe, Now: b.o.Now})
}
