package authn

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// burst is how many bad credentials of one address may come at once by default.
const burst = 30

// issuerConfig accepts the test issuer.
func issuerConfig() Issuer { return Issuer{Issuer: testIssuer, Audiences: []string{testAudience}} }

// tryTokens builds a chain of tokens alone.
func tryTokens(ctx context.Context, cfg tokenConfig, o tokenOptions) (*Chain, error) {
	for i := range cfg.OIDC {
		if err := cfg.OIDC[i].Validate(); err != nil {
			return nil, err
		}
	}
	o.Blame = newBlame(Failures{}, nil)
	return chainOfTokens(ctx, cfg, o), nil
}

// chainOfTokens is one whose failures count as o says.
func chainOfTokens(ctx context.Context, cfg tokenConfig, o tokenOptions) *Chain {
	var c *Chain
	o.Where = func() string { return c.where() }
	s := Setup{Blame: o.Blame, Now: o.Now, Observe: o.Observe}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Observe == nil {
		s.Observe = func(string, string) {}
	}
	s.Schemes = []Scheme{newBearer(ctx, &cfg, o)}
	c = newChain(s)
	return c
}

// openTokens builds a chain over an in-memory issuer and closes it with the test.
func openTokens(t testing.TB, cfg tokenConfig, o tokenOptions) *Chain {
	t.Helper()
	c, err := tryTokens(context.Background(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func openIssuer(t testing.TB, i *idp) *Chain {
	t.Helper()
	return openTokens(t, tokenConfig{OIDC: []Issuer{issuerConfig()}}, tokenOptions{Client: &http.Client{Transport: i}})
}
