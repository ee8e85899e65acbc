package login

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func webKey(t *testing.T, k crypto.Signer, kid string) string {
	t.Helper()
	doc, err := json.Marshal(jose.JSONWebKey{Key: k.Public(), KeyID: kid})
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func signed(t *testing.T, k crypto.Signer, kid string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: k}, (&jose.SignerOptions{}).WithHeader("kid", kid))
	if err != nil {
		t.Fatal(err)
	}
	sig, err := signer.Sign([]byte(`{"sub":"alice"}`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := sig.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestKeySet: people sign in although the provider publishes keys that cannot be used, a kid
// twice, or a new key a moment ago.
func TestKeySet(t *testing.T) {
	t.Parallel()
	a, b, rotated := newKey(t), newKey(t), newKey(t)
	odd := `{"kty":"RSA","kid":"x"},{"kty":"oct","k":"c2VjcmV0"},{"kid":"a","kid":"b"},7,{"kty":"RSA","use":"enc"},`
	var doc atomic.Value
	doc.Store(fmt.Sprintf(`{"keys":[%s%s,%s,%s]}`, odd, webKey(t, a, "a"), webKey(t, a, "a"), webKey(t, b, "a")))
	var fetches atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetches.Add(1)
		_, _ = io.WriteString(w, doc.Load().(string)) //nolint:forcetypeassert // stored above
	}))
	t.Cleanup(server.Close)
	told := map[jws.Reason]int{}
	s := &keySet{address: server.URL, client: newClient(server.URL, nil, nil), skipped: func(k jws.Skipped) { told[k.Reason]++ }}
	for name, raw := range map[string]string{"the first": signed(t, a, "a"), "the second of its kid": signed(t, b, "a")} {
		if payload, err := s.VerifySignature(t.Context(), raw); err != nil || string(payload) != `{"sub":"alice"}` {
			t.Errorf("%s: %s, %v", name, payload, err)
		}
	}
	if n := fetches.Load(); n != 1 {
		t.Errorf("%d fetches for keys that are known", n)
	}
	if _, err := s.VerifySignature(t.Context(), signed(t, rotated, "new")); err == nil || !strings.Contains(err.Error(), `no key for ES256 with kid "new"`) {
		t.Error("a key that is not published:", err)
	}
	doc.Store(fmt.Sprintf(`{"keys":[%s%s]}`, odd, webKey(t, rotated, "new")))
	if _, err := s.VerifySignature(t.Context(), signed(t, rotated, "new")); err != nil {
		t.Error("a key that is new:", err)
	}
	if _, err := s.VerifySignature(t.Context(), signed(t, a, "new")); err == nil || !strings.Contains(err.Error(), "does not match") {
		t.Error("somebody else's key by that kid:", err)
	}
	if fmt.Sprint(told) != "map[malformed:3 other:1 secret:1]" {
		t.Error("told of", told)
	}
	doc.Store(`{"keys":[{"kty":"RSA","kid":"x"}]}`)
	if _, err := s.VerifySignature(t.Context(), signed(t, a, "a")); err == nil || !strings.Contains(err.Error(), `no key that can verify a signature: key 0, kid "x": `) {
		t.Error("a set without a key:", err)
	}
}
