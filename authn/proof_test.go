package authn

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
)

// proofToken is what proofs are made for: of no importance to them but for its hash.
// It is proofCaller's.
const (
	proofToken  = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
	proofCaller = "alice"
)

// proofKey is the caller's own; whatever the gateway knows of it is its thumbprint.
var proofKey = ecKey

// publicMembers are the members of a JWK.
func publicMembers(t testing.TB, key crypto.PublicKey) map[string]any {
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

// jktOf is the thumbprint of a key.
func jktOf(t testing.TB, key crypto.PublicKey) string {
	t.Helper()
	sum, err := (&jose.JSONWebKey{Key: key}).Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return b64(sum)
}

// athOf is the hash of a token.
func athOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return b64(sum[:])
}

// proofClaims are good ones for proofRequest, with changes; a nil value removes one.
func proofClaims(change map[string]any) map[string]any {
	c := map[string]any{
		"jti": rand.Text(), "htm": "POST", "htu": "https://gateway.test/agents/billing",
		"iat": time.Now().Unix(), "ath": athOf(proofToken),
	}
	maps.Copy(c, change)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// proofParams is a good one for proofKey, with changes; a nil value removes one.
func proofParams(t testing.TB, change map[string]any) map[string]any {
	t.Helper()
	h := map[string]any{"typ": "dpop+jwt", "alg": "ES256", "jwk": publicMembers(t, proofKey().Public())}
	maps.Copy(h, change)
	maps.DeleteFunc(h, func(_ string, v any) bool { return v == nil })
	return h
}

// proofOf is a good proof but for the changes.
func proofOf(t testing.TB, header, claims map[string]any) string {
	t.Helper()
	return sign(t, proofKey(), proofParams(t, header), proofClaims(claims))
}

// proofRequest comes over TLS to gateway.test with these DPoP headers.
func proofRequest(proofs ...string) *http.Request {
	r := request()
	r.Host, r.TLS = "gateway.test", new(tls.ConnectionState)
	r.Header[proofHeader] = proofs
	return r
}
