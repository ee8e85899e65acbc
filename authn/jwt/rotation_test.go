package jwt

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

// A token looks for its key among the old ones; before it asks for the new ones, those
// arrive for another token.
func TestRotationBetweenLookAndAsk(t *testing.T) {
	t.Parallel()
	old, rotated, at := newECKey(t), newECKey(t), time.Now()
	var s *keySet
	calls := 0
	clock := func() time.Time {
		if calls++; calls == 3 { // begin, age of the keys, ask
			for s.misses.take(netip.Addr{}, at) {
			}
			s.current.Store(keySetOf(t, at.Add(-time.Second), authntest.JWK("old", "ES256", old), authntest.JWK("new", "ES256", rotated)))
		}
		return at
	}
	is := issuerConfig()
	s = newKeySet(t.Context(), &is, &Options{Now: clock, Client: &http.Client{Transport: authntest.Standard()}})
	s.current.Store(keySetOf(t, at.Add(-time.Minute), authntest.JWK("old", "ES256", old)))
	alg, _ := authn.Signatures.Lookup("ES256")
	found, err := s.find(t.Context(), "new", alg, nobody)
	if err != nil || len(found) != 1 || !rotated.PublicKey.Equal(found[0].Public) {
		t.Errorf("the new key is not found: %v", err)
	}
}

// nobody is where clients are not told apart.
func nobody() netip.Addr { return netip.Addr{} }

// keySetOf is a key set as it was fetched at a time.
func keySetOf(t *testing.T, asked time.Time, published ...jose.JSONWebKey) *keys {
	t.Helper()
	set, err := authn.Signatures.Set([]byte(mustJSON(t, jose.JSONWebKeySet{Keys: published})))
	if err != nil {
		t.Fatal(err)
	}
	return &keys{list: set.Keys, asked: asked, fresh: asked.Add(5 * time.Minute)}
}
