package authn

import (
	"crypto/tls"
	"net/http"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/jws/jwstest"
)

// vectorIDP is an issuer of the keys that the vectors know.
func vectorIDP() *idp {
	var keys []jose.JSONWebKey
	for _, name := range jwstest.Names() {
		keys = append(keys, jwk(name, "", jwstest.Key(name)))
	}
	return newIDP(testIssuer, keys...)
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
			if err := judge(t, v); faultOf(err) != want(v) {
				t.Errorf("got %s (%v), want %s", faultOf(err), err, want(v))
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
			Now: time.Now(), Header: m{"alg": "ES256", "kid": "ec", "typ": "at+jwt"}, Claims: claimsOf(nil),
			Words: m{
				"listed": []string{testAudience}, "among": []string{"https://evil.test", testAudience},
				"longer": testAudience + "/", "shorter": testAudience[:len(testAudience)-1], "aud": testAudience,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		cfg := issuerConfig()
		cfg.Algorithms = []string{"RS256", "PS256", "ES256", "ES384", "EdDSA"}
		c := openTokens(t, tokenConfig{OIDC: []Issuer{cfg}}, tokenOptions{Client: &http.Client{Transport: vectorIDP()}})
		_, err = c.Authenticate(bearerOf(token))
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
		token := sign(t, jwstest.Key("ec"), m{"alg": "ES256", "kid": "ec", "typ": "at+jwt"},
			claimsOf(m{"cnf": m{"jkt": jktOf(t, jwstest.Key(owner).Public())}}))
		proof, err := v.Compact(jwstest.Base{
			Now: time.Now(), Header: m{"alg": "ES256", "typ": "dpop+jwt", "jwk": "@jwk"},
			Claims: proofClaims(m{"ath": athOf(token)}),
		})
		if err != nil {
			t.Fatal(err)
		}
		r := request("Authorization", "DPoP "+token)
		r.Host, r.TLS = "gateway.test", new(tls.ConnectionState)
		r.Header[proofHeader] = []string{proof}
		c := openTokens(t, tokenConfig{OIDC: []Issuer{issuerConfig()}}, tokenOptions{Client: &http.Client{Transport: vectorIDP()}})
		_, err = c.Authenticate(r)
		return err
	})
}
