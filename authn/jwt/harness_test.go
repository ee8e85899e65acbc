package jwt

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
)

// burst is how many bad credentials of one address may come at once by default.
const burst = 30

// issuerConfig accepts the test issuer.
func issuerConfig() Issuer {
	return Issuer{Issuer: authntest.TestIssuer, Audiences: []string{authntest.TestAudience}}
}

// tryTokens builds a chain of tokens alone.
func tryTokens(ctx context.Context, cfg Config, o Options) (*authn.Chain, error) {
	for i := range cfg.OIDC {
		if err := cfg.OIDC[i].Validate(); err != nil {
			return nil, err
		}
	}
	o.Blame = failures.New(failures.Config{}, nil)
	return chainOfTokens(ctx, cfg, o), nil
}

// chainOfTokens is one whose failures count as o says.
func chainOfTokens(ctx context.Context, cfg Config, o Options) *authn.Chain {
	var c *authn.Chain
	o.Where = func() string { return c.Where() }
	s := authn.Setup{Blame: o.Blame, Now: o.Now, Observe: o.Observe}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Observe == nil {
		s.Observe = func(string, string) {}
	}
	s.Schemes = []authn.Scheme{New(ctx, &cfg, o)}
	c = authn.NewChain(s)
	return c
}

// openTokens builds a chain over an in-memory issuer and closes it with the test.
func openTokens(t testing.TB, cfg Config, o Options) *authn.Chain {
	t.Helper()
	c, err := tryTokens(context.Background(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func openIssuer(t testing.TB, i *authntest.IDP) *authn.Chain {
	t.Helper()
	return openTokens(t, Config{OIDC: []Issuer{issuerConfig()}}, Options{Client: &http.Client{Transport: i}})
}
