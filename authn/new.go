package authn

import (
	"context"
	"fmt"
)

// New builds a chain. It reads the key file, and fetches nothing: an issuer that is
// down must not keep a gateway from starting. ctx is not needed after New.
func New(ctx context.Context, cfg Config, o Options) (*Chain, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	o.defaults()
	var chain *Chain
	b := &build{cfg: &cfg, o: &o, where: func() string { return chain.where() }, blame: newBlame(cfg.Failures, o.Previous)}
	var schemes []Scheme
	if cfg.APIKeys != nil {
		s, err := b.apiKeys()
		if err != nil {
			return nil, fmt.Errorf("authn.apiKeys: %w", err)
		}
		schemes = append(schemes, s)
	}
	if len(cfg.OIDC) > 0 {
		schemes = append(schemes, b.oidc(ctx))
	}
	if cfg.MTLS != nil {
		schemes = append(schemes, b.mtls())
	}
	chain = newChain(Setup{Schemes: schemes, Combinations: cfg.Combinations, Prefer: cfg.Prefer, Anonymous: cfg.Anonymous,
		Blame: b.blame, Now: o.Now, Observe: o.Observe})
	return chain, nil
}

// build makes the schemes of one chain.
type build struct {
	cfg   *Config
	o     *Options
	where func() string // Chain.where of the chain to be
	blame *blame
}

func (b *build) apiKeys() (Scheme, error) {
	return newAPIKeys(b.cfg.APIKeys, keyOptions{Logger: b.o.Logger, Previous: KeysOf(b.o.Previous), Revoked: b.o.Revoked, Usage: b.o.Usage,
		Where: b.where, Observe: b.o.Observe, Now: b.o.Now})
}

func (b *build) oidc(ctx context.Context) Scheme {
	cfg := tokenConfig{OIDC: b.cfg.OIDC, DPoP: b.cfg.DPoP, Actors: b.cfg.Actors, Limits: b.cfg.Limits, KeyHeader: b.cfg.APIKeys.HeaderName()}
	cfg.Keys = b.cfg.APIKeys != nil && b.cfg.APIKeys.Bearer
	return newBearer(ctx, &cfg, tokenOptions{Logger: b.o.Logger, Previous: TokensOf(b.o.Previous), Client: b.o.Client, Egress: b.o.Egress,
		Observe: b.o.Observe, Refreshed: b.o.Refreshed, Skipped: b.o.Skipped, Limits: b.o.Limits, Source: b.o.Source, Blame: b.blame,
		Scheme: b.o.Scheme, Proofs: b.o.Proofs, Nonces: b.o.Nonces, Where: b.where, Now: b.o.Now})
}

func (b *build) mtls() Scheme {
	return newCertificates(b.cfg.MTLS, certificateOptions{Trusted: b.o.Trusted, Observe: b.o.Observe, Now: b.o.Now})
}
