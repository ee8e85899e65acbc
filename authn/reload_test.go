package authn

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A reload keeps what its configuration did not touch, and nothing else.
func TestReload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := standard()
		reload := func(previous *Chain, change func(*Issuer)) *Chain {
			cfg := issuerConfig()
			change(&cfg)
			c, err := New(t.Context(), Config{OIDC: []Issuer{cfg}}, Options{Client: &http.Client{Transport: i},
				Previous: previous})
			if err != nil {
				t.Fatal(err)
			}
			if previous != nil {
				previous.Close()
			}
			return c
		}
		same := func(*Issuer) {}
		token := good(t, nil)
		known := func(c *Chain) bool { _, ok := TokensOf(c).cached(digest(token), time.Now()); return ok }
		pass := func(c *Chain, result string) {
			t.Helper()
			_, err := c.Authenticate(bearerOf(token))
			want(t, "token", faultOf(err), result)
		}
		c := reload(nil, same)
		pass(c, "ok")
		c = reload(c, same)
		if !known(c) || i.jwks.Load() != 1 {
			t.Errorf("nothing changed: token known %v, %d fetches", known(c), i.jwks.Load())
		}
		// The same issuer read otherwise: keys stay, verified tokens do not.
		c = reload(c, func(is *Issuer) { is.Tenant = "acme" })
		if known(c) {
			t.Error("a token verified under another configuration is still known")
		}
		pass(c, "ok")
		if p, _ := c.Authenticate(bearerOf(token)); p.Tenant != "acme" || i.jwks.Load() != 1 {
			t.Errorf("tenant %q, %d fetches", p.Tenant, i.jwks.Load())
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
		fetched := i.jwks.Load()
		c = reload(c, func(is *Issuer) { is.JWKS = testIssuer + "/jwks" })
		pass(c, "ok")
		if i.jwks.Load() != fetched+1 {
			t.Errorf("%d fetches, want one more than %d", i.jwks.Load(), fetched)
		}
		// What the reload took over outlives the old chain, and ends with the last.
		keys := TokensOf(c).issuers[testIssuer].keys
		c = reload(c, func(is *Issuer) { is.JWKS = testIssuer + "/jwks" })
		if keys.ctx.Err() != nil {
			t.Error("key set ended with the old chain")
		}
		c.Close()
		c.Close()
		if keys.ctx.Err() == nil {
			t.Error("key set did not end with the last chain")
		}
		// A chain closed already has nothing to give.
		c = reload(c, func(is *Issuer) { is.JWKS = testIssuer + "/jwks" })
		if TokensOf(c).issuers[testIssuer].keys.ctx.Err() != nil {
			t.Error("a key set that has ended was taken over")
		}
		pass(c, "ok")
		c.Close()
	})
}

// Requests on the old and the new chain while reloads go on: no refusal, no race.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key := create(t, k, KeySpec{ID: "bob"})
	i := standard()
	cfg := Config{OIDC: []Issuer{issuerConfig()}, APIKeys: &APIKeys{File: path}}
	var mu sync.RWMutex
	build := func(previous *Chain) *Chain {
		c, err := New(context.Background(), cfg, Options{Client: &http.Client{Transport: i}, Previous: previous})
		if err != nil {
			t.Error(err)
		}
		return c
	}
	c := build(nil)
	if err := c.Warm(context.Background()); err != nil {
		t.Fatal(err)
	}
	stop, served := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	for n := range 4 {
		r := bearerOf(good(t, nil))
		if n%2 == 1 {
			r = request("X-API-Key", key)
		}
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case served <- struct{}{}:
				}
				mu.RLock()
				held := c
				mu.RUnlock()
				if _, err := held.Authenticate(r); err != nil {
					t.Errorf("refused during a reload: %v", err)
					return
				}
			}
		})
	}
	for range 50 {
		for range 20 {
			<-served
		}
		next := build(c)
		mu.Lock()
		old := c
		c = next
		mu.Unlock()
		old.Close()
	}
	close(stop)
	wg.Wait()
	c.Close()
	if n := i.jwks.Load(); n != 1 {
		t.Errorf("%d fetches over 50 reloads", n)
	}
}
