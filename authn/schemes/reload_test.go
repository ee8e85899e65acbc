package schemes

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
)

// Requests on the old and the new chain while reloads go on: no refusal, no race.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key := create(t, k, apikey.Spec{ID: "bob"})
	i := authntest.Standard()
	cfg := Config{OIDC: []jwt.Issuer{issuerConfig()}, APIKeys: &apikey.Config{File: path}}
	var mu sync.RWMutex
	build := func(previous *authn.Chain) *authn.Chain {
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
		r := authntest.BearerOf(authntest.Good(t, nil))
		if n%2 == 1 {
			r = authntest.Request("X-API-Key", key)
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
	if n := i.Jwks.Load(); n != 1 {
		t.Errorf("%d fetches over 50 reloads", n)
	}
}
