package keys

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = epoch.Add(after)
}

// journal is a log to read afterwards.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) count(word string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.buf.String(), word)
}

func (j *journal) log() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// opened is a ring that looks at its files only when it is told to.
func opened(t testing.TB, c Config, j *journal, k *clock) *Ring {
	t.Helper()
	r, err := open(c, j.log(), k.time)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// published are the key ids of a set, after a look at everything else in it.
func published(t testing.TB, r *Ring) []string {
	t.Helper()
	var doc struct {
		Keys []map[string]string `json:"keys"`
	}
	if err := json.Unmarshal(r.JWKS(), &doc); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, k := range doc.Keys {
		want := []string{"use", "kty", "kid", "crv", "alg", "x"}
		if k["kty"] == "EC" {
			want = append(want, "y")
		}
		if len(k) != len(want) || k["use"] != "sig" {
			t.Errorf("published %v, want only %v", k, want)
		}
		for _, name := range want {
			if k[name] == "" {
				t.Errorf("published key has no %s: %v", name, k)
			}
		}
		ids = append(ids, k["kid"])
	}
	return ids
}

// verified checks a signature against a published set by somebody else's code, and
// returns the id of the key that made it.
func verified(t testing.TB, r *Ring, token string) string {
	t.Helper()
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(r.JWKS(), &set); err != nil {
		t.Fatal(err)
	}
	jws, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256, jose.EdDSA})
	if err != nil {
		t.Fatal(err)
	}
	header := jws.Signatures[0].Protected
	found := set.Key(header.KeyID)
	if len(found) != 1 {
		t.Fatalf("%d keys with the id %q", len(found), header.KeyID)
	}
	if found[0].Algorithm != header.Algorithm {
		t.Errorf("signed with %s, published for %s", header.Algorithm, found[0].Algorithm)
	}
	if _, err := jws.Verify(found[0]); err != nil {
		t.Fatalf("signature: %v", err)
	}
	return header.KeyID
}

// signing is the id of the key that signs.
func signing(t testing.TB, r *Ring) string {
	t.Helper()
	token, err := r.Sign("JWT", []byte(`{"sub":"alice"}`))
	if err != nil {
		t.Fatal(err)
	}
	return verified(t, r, token)
}

// written makes a key file, and returns its path.
func written(t testing.TB, algorithm string) string {
	t.Helper()
	private, err := generators[algorithm]()
	if err != nil {
		t.Fatal(err)
	}
	data, err := encode(private)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key.pem")
	put(t, path, data)
	return path
}

func put(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// block is one PEM block.
func block(t testing.TB, kind string, der []byte, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func ec(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func pkcs8(t testing.TB, k crypto.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(k)
	return block(t, "PRIVATE KEY", der, err)
}

func sec1(t testing.TB, k *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(k)
	return block(t, "EC PRIVATE KEY", der, err)
}

func rsaKey(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func hour(n int) quantity.Duration { return quantity.Duration(time.Duration(n) * time.Hour) }
