package authntest

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
	RsaKey   = sync.OnceValue(func() *rsa.PrivateKey { k, _ := rsa.GenerateKey(rand.Reader, 2048); return k })
	RsaOther = sync.OnceValue(func() *rsa.PrivateKey { k, _ := rsa.GenerateKey(rand.Reader, 2048); return k })
	EcKey    = sync.OnceValue(func() *ecdsa.PrivateKey {
		k, _ := ecdsa.GenerateKey(elliptic.P256(),
			rand.Reader)
		return k
	})
	EdKey = sync.OnceValue(func() ed25519.PrivateKey {
		_, k,
			_ := ed25519.GenerateKey(rand.Reader)
		return k
	})
)

// IDP is an issuer with switches. It serves from memory as an http.RoundTripper,
// so that tests may run it on a fake clock, and is an http.Handler for real servers.
type IDP struct {
	Issuer   string
	Jwks     atomic.Int64 // fetches of the key set
	Metadata atomic.Int64

	mu      sync.Mutex
	Keys    []jose.JSONWebKey
	Cache   string // Cache-Control
	Down    bool
	Gate    chan struct{} // when not nil, key set answers wait for it
	Answer  http.HandlerFunc
	DocPath string
}

func NewIDP(issuer string, keys ...jose.JSONWebKey) *IDP {
	return &IDP{Issuer: issuer, Keys: keys, DocPath: "/.well-known/openid-configuration"}
}

// JWK makes the public half of a key for a key set.
func JWK(kid, alg string, key crypto.Signer) jose.JSONWebKey {
	return jose.JSONWebKey{Key: key.Public(), KeyID: kid, Algorithm: alg, Use: "sig"}
}

// Set changes the switches under the lock.
func (i *IDP) Set(change func(*IDP)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(i)
}

func (i *IDP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case i.DocPath:
		i.Metadata.Add(1)
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.Issuer, "jwks_uri": i.Issuer + "/jwks"})
	case "/jwks":
		i.Jwks.Add(1)
		i.mu.Lock()
		gate, answer, cache := i.Gate, i.Answer, i.Cache
		doc, _ := json.Marshal(jose.JSONWebKeySet{Keys: i.Keys})
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
func (i *IDP) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	down := i.Down
	i.mu.Unlock()
	if down {
		if r.URL.Path == "/jwks" {
			i.Jwks.Add(1)
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

// Many routes requests to one of several issuers by host.
type Many map[string]*IDP

func (m Many) RoundTrip(r *http.Request) (*http.Response, error) {
	return m["https://"+r.URL.Host].RoundTrip(r)
}

const (
	TestIssuer   = "https://idp.test"
	TestAudience = "https://gateway.test"
)

// claims are good ones, with changes; a nil value removes a claim.
func ClaimsOf(change map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{"iss": TestIssuer, "sub": "alice", "aud": TestAudience,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	maps.Copy(c, change)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// Base64 is base64url without padding.
func Base64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Sign makes a token with any header, by hand: libraries refuse to make bad ones.
func Sign(t testing.TB, key any, header, claims map[string]any) string {
	t.Helper()
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	c, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return SignRaw(t, key, h, c)
}

func SignRaw(t testing.TB, key any, header, payload []byte) string {
	t.Helper()
	var h struct{ Alg string }
	_ = json.Unmarshal(header, &h)
	input := Base64(header) + "." + Base64(payload)
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
	return input + "." + Base64(sig)
}

// Good is a token that passes, signed with the EC key under kid "ec".
func Good(t testing.TB, change map[string]any) string {
	t.Helper()
	return Sign(t, EcKey(), map[string]any{"alg": "ES256", "kid": "ec", "typ": "at+jwt"}, ClaimsOf(change))
}

// Standard is an issuer with one key of each kind.
func Standard() *IDP {
	return NewIDP(TestIssuer, JWK("rsa", "", RsaKey()), JWK("ec", "ES256", EcKey()), JWK("ed", "EdDSA", EdKey()))
}

// BenchToken is of the usual size, about 700 bytes.
func BenchToken(b *testing.B, alg, kid string, key any) string {
	b.Helper()
	claims := ClaimsOf(map[string]any{"scope": "billing.read billing.write", "groups": []string{"analysts",
		"staff"},
		"azp": "client-7", "jti": "0b7f3a52-2f0c-4b6a-9f43-6d1f0a6fb3c1", "name": "Alice Liddell",
		"email": "alice@example.com"})
	return Sign(b, key, map[string]any{"alg": alg, "kid": kid, "typ": "at+jwt"}, claims)
}
