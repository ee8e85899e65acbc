package admit_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// tokenIssuer signs access tokens and publishes its key.
type tokenIssuer struct {
	testing.TB
	url string
	key *ecdsa.PrivateKey
}

func newTokenIssuer(t testing.TB) *tokenIssuer {
	t.Helper()
	i := &tokenIssuer{TB: t, key: newKey(t)}
	set, err := json.Marshal(map[string]any{"keys": []any{i.public()}})
	proxytest.Must(t, err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/jwks" {
			_, _ = w.Write(set)
			return
		}
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.url, i.url+"/jwks")
	}))
	t.Cleanup(s.Close)
	i.url = s.URL
	return i
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	proxytest.Must(t, err)
	return key
}

// public is the key as a JWK set has it.
func (i *tokenIssuer) public() map[string]string {
	jwk := jwkOf(i.TB, i.key)
	jwk["kid"], jwk["alg"], jwk["use"] = "k", "ES256", "sig"
	return jwk
}

func jwkOf(t testing.TB, key *ecdsa.PrivateKey) map[string]string {
	t.Helper()
	text, err := jose.JSONWebKey{Key: key.Public()}.MarshalJSON()
	proxytest.Must(t, err)
	jwk := map[string]string{}
	proxytest.Must(t, json.Unmarshal(text, &jwk))
	return jwk
}

// configured is the issuer as a gateway knows it.
func (i *tokenIssuer) configured() jwt.Issuer {
	return jwt.Issuer{Issuer: i.url, Audiences: []string{"gw"}}
}

// claimsOf are those of a good token; more replaces members, with nil for none.
func (i *tokenIssuer) claimsOf(subject string, more map[string]any) map[string]any {
	now := time.Now()
	claims := map[string]any{
		"iss": i.url, "aud": "gw", "sub": subject, "client_id": "app", "jti": uuid.NewString(),
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(claims, more)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

// token is an access token for a subject.
func (i *tokenIssuer) token(subject string, more map[string]any) string {
	return i.signed(i.key, map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "k"}, i.claimsOf(subject, more))
}

// signed makes a JWS by the key, whatever the header says.
func (i *tokenIssuer) signed(key *ecdsa.PrivateKey, header, claims map[string]any) string {
	i.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v, json.Deterministic(true))
		proxytest.Must(i.TB, err)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(header) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	proxytest.Must(i.TB, err)
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// thumbprint is what a token bound to the key has in cnf (RFC 9449 §6.1).
func thumbprint(t testing.TB, key *ecdsa.PrivateKey) map[string]any {
	t.Helper()
	sum, err := (&jose.JSONWebKey{Key: key.Public()}).Thumbprint(crypto.SHA256)
	proxytest.Must(t, err)
	return map[string]any{"jkt": base64.RawURLEncoding.EncodeToString(sum)}
}

// proof is a DPoP header for a POST to an address with a token (RFC 9449 §4.2).
func (i *tokenIssuer) proof(key *ecdsa.PrivateKey, address, token, nonce string) string {
	sum := sha256.Sum256([]byte(token))
	claims := map[string]any{
		"jti": uuid.NewString(), "htm": "POST", "htu": address, "iat": time.Now().Unix(),
		"ath": base64.RawURLEncoding.EncodeToString(sum[:]),
	}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	return i.signed(key, map[string]any{"alg": "ES256", "typ": "dpop+jwt", "jwk": jwkOf(i.TB, key)}, claims)
}

// challenges takes WWW-Authenticate apart: by scheme, and the header that is asked for
// where it is not Authorization, the parameters. What RFC 9110 §11.6.1 has no form for,
// or what stands twice, fails the test.
func challenges(t testing.TB, h http.Header) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, line := range h.Values("Www-Authenticate") {
		scheme, rest, ok := strings.Cut(line, " ")
		params := map[string]string{}
		for ok {
			var name, value string
			name, rest, _ = strings.Cut(rest, `="`)
			if value, rest, ok = strings.Cut(rest, `"`); !ok || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
				t.Fatalf("not a challenge: %s", line)
			}
			if _, twice := params[name]; twice {
				t.Fatalf("%s stands twice: %s", name, line)
			}
			params[name] = value
			if rest, ok = strings.CutPrefix(rest, ", "); !ok && rest != "" {
				t.Fatalf("not a challenge: %s", line)
			}
		}
		key := scheme
		if params["header"] != "" && scheme != "ApiKey" {
			key += " in " + params["header"]
		}
		if _, twice := all[key]; twice {
			t.Fatalf("two challenges for %s: %q", key, h.Values("Www-Authenticate"))
		}
		all[key] = params
	}
	return all
}
