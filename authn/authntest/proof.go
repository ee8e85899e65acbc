package authntest

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2a-gateway/a2a-gateway/authn/credential"
)

// ProofToken is what proofs are made for: of no importance to them but for its hash.
// It is ProofCaller's.
const (
	ProofToken  = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
	ProofCaller = "alice"
)

// ProofKey is the caller's own; whatever the gateway knows of it is its thumbprint.
var ProofKey = EcKey

// PublicMembers are the members of a JWK.
func PublicMembers(t testing.TB, key crypto.PublicKey) map[string]any {
	t.Helper()
	doc, err := json.Marshal(jose.JSONWebKey{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(doc, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Thumbprint is the thumbprint of a key.
func Thumbprint(t testing.TB, key crypto.PublicKey) string {
	t.Helper()
	sum, err := (&jose.JSONWebKey{Key: key}).Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return Base64(sum)
}

// Hash is the hash of a token.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return Base64(sum[:])
}

// ProofClaims are good ones for proofRequest, with changes; a nil value removes one.
func ProofClaims(change map[string]any) map[string]any {
	c := map[string]any{
		"jti": rand.Text(), "htm": "POST", "htu": "https://gateway.test/agents/billing",
		"iat": time.Now().Unix(), "ath": Hash(ProofToken),
	}
	maps.Copy(c, change)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// ProofParams is a good one for proofKey, with changes; a nil value removes one.
func ProofParams(t testing.TB, change map[string]any) map[string]any {
	t.Helper()
	h := map[string]any{"typ": "dpop+jwt", "alg": "ES256", "jwk": PublicMembers(t, ProofKey().Public())}
	maps.Copy(h, change)
	maps.DeleteFunc(h, func(_ string, v any) bool { return v == nil })
	return h
}

// ProofOf is a good proof but for the changes.
func ProofOf(t testing.TB, header, claims map[string]any) string {
	t.Helper()
	return Sign(t, ProofKey(), ProofParams(t, header), ProofClaims(claims))
}

// ProofRequest comes over TLS to gateway.test with these DPoP headers.
func ProofRequest(proofs ...string) *http.Request {
	r := Request()
	r.Host, r.TLS = "gateway.test", new(tls.ConnectionState)
	r.Header[credential.ProofHeader] = proofs
	return r
}
