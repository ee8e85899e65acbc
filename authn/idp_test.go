package authn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Test keys are made once: generating RSA keys dominates the tests otherwise.
var (
	rsaKey   = sync.OnceValue(func() *rsa.PrivateKey { k, _ := rsa.GenerateKey(rand.Reader, 2048); return k })
	rsaOther = sync.OnceValue(func() *rsa.PrivateKey { k, _ := rsa.GenerateKey(rand.Reader, 2048); return k })
	ecKey    = sync.OnceValue(func() *ecdsa.PrivateKey {
		k, _ := ecdsa.GenerateKey(elliptic.P256(),
			rand.Reader)
		return k
	})
	edKey = sync.OnceValue(func() ed25519.PrivateKey {
		_, k,
			_ := ed25519.GenerateKey(rand.Reader)
		return k
	})
)

// idp is an issuer with switches. It serves from memory as an http.RoundTripper,
// so that tests may run it on a fake clock, and is an http.Handler for real servers.
type idp struct {
	issuer   string
	jwks     atomic.Int64 // fetches of the key set
	metadata atomic.Int64

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	cache   string // Cache-Control
	down    bool
	gate    chan struct{} // when not nil, key set answers wait for it
	answer  http.HandlerFunc
	docPath string
}

func newIDP(issuer string, keys ...jose.JSONWebKey) *idp {
	return &idp{issuer: issuer, keys: keys, docPath: "/.well-known/openid-configuration"}
}

// jwk makes the public half of a key for a key set.
func jwk(kid, alg string, key crypto.Signer) jose.JSONWebKey {
	return jose.JSONWebKey{Key: key.Public(), KeyID: kid, Algorithm: alg, Use: "sig"}
}

// set changes the switches under the lock.
func (i *idp) set(change func(*idp)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(i)
}

func (i *idp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case i.docPath:
		i.metadata.Add(1)
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.issuer, "jwks_uri": i.issuer + "/jwks"})
	case "/jwks":
		i.jwks.Add(1)
		i.mu.Lock()
		gate, answer, cache := i.gate, i.answer, i.cache
		doc, _ := json.Marshal(jose.JSONWebKeySet{Keys: i.keys})
		i.mu.Unlock()
		if gate != nil {
			<-gate
		}
		if answer != nil {
			answer(w, r)
			return
		}
		if cache != "" {
			w.Header().Set("Cache-Control", cache)
		}
		_, _ = w.Write(doc)
	default:
		http.NotFound(w, r)
	}
}

// RoundTrip implements http.RoundTripper.
func (i *idp) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	down := i.down
	i.mu.Unlock()
	if down {
		if r.URL.Path == "/jwks" {
			i.jwks.Add(1)
		}
		return nil, errors.New("connection refused")
	}
	done := make(chan *http.Response, 1)
	go func() {
		w := httptest.NewRecorder()
		i.ServeHTTP(w, r)
		done <- w.Result()
	}()
	select {
	case resp := <-done:
		return resp, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// many routes requests to one of several issuers by host.
type many map[string]*idp

func (m many) RoundTrip(r *http.Request) (*http.Response, error) {
	return m["https://"+r.URL.Host].RoundTrip(r)
}

const (
	testIssuer   = "https://idp.test"
	testAudience = "https://gateway.test"
)

// claims are good ones, with changes; a nil value removes a claim.
func claimsOf(change map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{"iss": testIssuer, "sub": "alice", "aud": testAudience,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	maps.Copy(c, change)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// b64 is base64url without padding.
func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// sign makes a token with any header, by hand: libraries refuse to make bad ones.
func sign(t testing.TB, key any, header, claims map[string]any) string {
	t.Helper()
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	c, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return signRaw(t, key, h, c)
}

func signRaw(t testing.TB, key any, header, payload []byte) string {
	t.Helper()
	var h struct{ Alg string }
	_ = json.Unmarshal(header, &h)
	input := b64(header) + "." + b64(payload)
	sum := sha256.Sum256([]byte(input))
	var sig []byte
	var err error
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if h.Alg == "PS256" {
			opts := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
			sig, err = rsa.SignPSS(rand.Reader, k, crypto.SHA256, sum[:], opts)
		} else {
			sig, err = rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
		}
	case *ecdsa.PrivateKey:
		r, s, e := ecdsa.Sign(rand.Reader, k, sum[:])
		err = e
		sig = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case ed25519.PrivateKey:
		sig = ed25519.Sign(k, []byte(input))
	case []byte:
		sig = k
	default:
		t.Fatalf("sign with %T", key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + b64(sig)
}

// good is a token that passes, signed with the EC key under kid "ec".
func good(t testing.TB, change map[string]any) string {
	t.Helper()
	return sign(t, ecKey(), map[string]any{"alg": "ES256", "kid": "ec", "typ": "at+jwt"}, claimsOf(change))
}

// standard is an issuer with one key of each kind.
func standard() *idp {
	return newIDP(testIssuer, jwk("rsa", "", rsaKey()), jwk("ec", "ES256", ecKey()), jwk("ed", "EdDSA", edKey()))
}

// benchToken is of the usual size, about 700 bytes.
func benchToken(b *testing.B, alg, kid string, key any) string {
	b.Helper()
	claims := claimsOf(map[string]any{"scope": "billing.read billing.write", "groups": []string{"analysts",
		"staff"},
		"azp": "client-7", "jti": "0b7f3a52-2f0c-4b6a-9f43-6d1f0a6fb3c1", "name": "Alice Liddell",
		"email": "alice@example.com"})
	return sign(b, key, map[string]any{"alg": alg, "kid": kid, "typ": "at+jwt"}, claims)
}
