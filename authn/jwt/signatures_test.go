package jwt

import (
	"crypto/tls"
	"net/http"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/internal/jws/jwstest"
)

// vectorIDP is an issuer of the keys that the vectors know.
func vectorIDP() *authntest.IDP {
	var keys []jose.JSONWebKey
	for _, name := range jwstest.Names() {
		keys = append(keys, authntest.JWK(name, "", jwstest.Key(name)))
	}
	return authntest.NewIDP(authntest.TestIssuer, keys...)
}

// signatureVectors runs a test for each vector that want has a verdict in.
func signatureVectors(t *testing.T, want func(v *jwstest.Vector) string, judge func(t *testing.T, v *jwstest.Vector) error) {
	t.Helper()
	vectors, err := jwstest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	for i := range vectors {
		v := &vectors[i]
		if want(v) == "" {
			continue
		}
		t.Run(v.Rule+"/"+v.Name, func(t *testing.T) {
			t.Parallel()
			if err := judge(t, v); authntest.FaultOf(err) != want(v) {
				t.Errorf("got %s (%v), want %s", authntest.FaultOf(err), err, want(v))
			}
		})
	}
}

// TestL25_SignatureVectors gives each vector as a token to the authenticator that the
// gateway has.
func TestL25_SignatureVectors(t *testing.T) {
	t.Parallel()
	signatureVectors(t, func(v *jwstest.Vector) string { return v.Token }, func(t *testing.T, v *jwstest.Vector) error {
		token, err := v.Compact(jwstest.Base{
			Now: time.Now(), Header: M{"alg": "ES256", "kid": "ec", "typ": "at+jwt"}, Claims: authntest.ClaimsOf(nil),
			Words: M{
				"listed": []string{authntest.TestAudience}, "among": []string{"https://evil.test", authntest.TestAudience},
				"longer": authntest.TestAudience + "/", "shorter": authntest.TestAudience[:len(authntest.TestAudience)-1], "aud": authntest.TestAudience,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		cfg := issuerConfig()
		cfg.Algorithms = []string{"RS256", "PS256", "ES256", "ES384", "EdDSA"}
		c := openTokens(t, Config{OIDC: []Issuer{cfg}}, Options{Client: &http.Client{Transport: vectorIDP()}})
		_, err = c.Authenticate(authntest.BearerOf(token))
		return err
	})
}

// TestL25_ProofVectors gives each vector as a DPoP proof, beside a good token that is
// bound to the key that signs, or, where a stranger does, to another.
func TestL25_ProofVectors(t *testing.T) {
	t.Parallel()
	signatureVectors(t, func(v *jwstest.Vector) string { return v.Proof }, func(t *testing.T, v *jwstest.Vector) error {
		owner := v.Key
		if owner == "stranger" {
			owner = "ec"
		}
		token := authntest.Sign(t, jwstest.Key("ec"), M{"alg": "ES256", "kid": "ec", "typ": "at+jwt"},
			authntest.ClaimsOf(M{"cnf": M{"jkt": authntest.Thumbprint(t, jwstest.Key(owner).Public())}}))
		proof, err := v.Compact(jwstest.Base{
			Now: time.Now(), Header: M{"alg": "ES256", "typ": "dpop+jwt", "jwk": "@jwk"},
			Claims: authntest.ProofClaims(M{"ath": authntest.Hash(token)}),
		})
		if err != nil {
			t.Fatal(err)
		}
		r := authntest.Request("Authorization", "DPoP "+token)
		r.Host, r.TLS = "gateway.test", new(tls.ConnectionState)
		r.Header[credential.ProofHeader] = []string{proof}
		c := openTokens(t, Config{OIDC: []Issuer{issuerConfig()}}, Options{Client: &http.Client{Transport: vectorIDP()}})
		_, err = c.Authenticate(r)
		return err
	})
}
