package jwt

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

// A reload keeps what its configuration did not touch, and nothing else.
func TestReload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := authntest.Standard()
		reload := func(previous *authn.Chain, change func(*Issuer)) *authn.Chain {
			cfg := issuerConfig()
			change(&cfg)
			c, err := tryTokens(t.Context(), Config{OIDC: []Issuer{cfg}}, Options{Client: &http.Client{Transport: i},
				Previous: From(previous)})
			if err != nil {
				t.Fatal(err)
			}
			if previous != nil {
				previous.Close()
			}
			return c
		}
		same := func(*Issuer) {}
		token := authntest.Good(t, nil)
		known := func(c *authn.Chain) bool { _, ok := From(c).cached(digest(token), time.Now()); return ok }
		pass := func(c *authn.Chain, result string) {
			t.Helper()
			_, err := c.Authenticate(authntest.BearerOf(token))
			authntest.Want(t, "token", authntest.FaultOf(err), result)
		}
		c := reload(nil, same)
		pass(c, "ok")
		c = reload(c, same)
		if !known(c) || i.Jwks.Load() != 1 {
			t.Errorf("nothing changed: token known %v, %d fetches", known(c), i.Jwks.Load())
		}
		// The same issuer read otherwise: keys stay, verified tokens do not.
		c = reload(c, func(is *Issuer) { is.Tenant = "acme" })
		if known(c) {
			t.Error("a token verified under another configuration is still known")
		}
		pass(c, "ok")
		if p, _ := c.Authenticate(authntest.BearerOf(token)); p.Tenant != "acme" || i.Jwks.Load() != 1 {
			t.Errorf("tenant %q, %d fetches", p.Tenant, i.Jwks.Load())
		}
		// A narrower configuration is in force at once.
		c = reload(c, func(is *Issuer) { is.Audiences = []string{"other"} })
		pass(c, "audience")
		c = reload(c, func(is *Issuer) { is.Algorithms = []string{"RS256"} })
		pass(c, "algorithm")
		c = reload(c, func(is *Issuer) { is.Issuer = "https://other.test" })
		pass(c, "unknown-issuer")
		// Other keys for the same issuer are fetched anew.
		c = reload(c, same)
		pass(c, "ok")
		fetched := i.Jwks.Load()
		c = reload(c, func(is *Issuer) { is.JWKS = authntest.TestIssuer + "/jwks" })
		pass(c, "ok")
		if i.Jwks.Load() != fetched+1 {
			t.Errorf("%d fetches, want one more than %d", i.Jwks.Load(), fetched)
		}
		// What the reload took over outlives the old chain, and ends with the last.
		keys := From(c).issuers[authntest.TestIssuer].keys
		c = reload(c, func(is *Issuer) { is.JWKS = authntest.TestIssuer + "/jwks" })
		if keys.ctx.Err() != nil {
			t.Error("key set ended with the old chain")
		}
		c.Close()
		c.Close()
		if keys.ctx.Err() == nil {
			t.Error("key set did not end with the last chain")
		}
		// A chain closed already has nothing to give.
		c = reload(c, func(is *Issuer) { is.JWKS = authntest.TestIssuer + "/jwks" })
		if From(c).issuers[authntest.TestIssuer].keys.ctx.Err() != nil {
			t.Error("a key set that has ended was taken over")
		}
		pass(c, "ok")
		c.Close()
	})
}
