package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
)

// plainCard has neither empty nor unknown members: all forms in RFC 8785 are the same.
const plainCard = `{"name":"Billing","description":"Bills.","version":"1.0","capabilities":{"streaming":true},
 "supportedInterfaces":[{"url":"https://a.test/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
 "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
 "skills":[{"id":"pay","name":"Pay","description":"Pays €.","tags":["money"]}]}`

// signingKey is somebody's private key.
type signingKey struct {
	private crypto.Signer
	kid     string
}

func newSigningKey(t testing.TB, alg, kid string) signingKey {
	t.Helper()
	var private crypto.Signer
	var err error
	switch alg {
	case "ES256":
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ES384":
		private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "RS256", "PS256":
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	return signingKey{private, kid}
}

// sign makes a signature with any header, as an agent that does things its own way.
func (k signingKey) sign(t testing.TB, protected string, payload []byte) entry {
	t.Helper()
	e := entry{Protected: base64.RawURLEncoding.EncodeToString([]byte(protected))}
	input := []byte(e.Protected + "." + base64.RawURLEncoding.EncodeToString(payload))
	e.Signature = base64.RawURLEncoding.EncodeToString(k.raw(t, protected, input))
	return e
}

func (k signingKey) raw(t testing.TB, protected string, input []byte) []byte {
	t.Helper()
	var out []byte
	var err error
	switch p := k.private.(type) {
	case ed25519.PrivateKey:
		out = ed25519.Sign(p, input)
	case *rsa.PrivateKey:
		sum := sha256.Sum256(input)
		if strings.Contains(protected, "PS256") {
			out, err = rsa.SignPSS(rand.Reader, p, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		} else {
			out, err = rsa.SignPKCS1v15(rand.Reader, p, crypto.SHA256, sum[:])
		}
	case *ecdsa.PrivateKey:
		sum := sha256.Sum256(input)
		digest := sum[:]
		if p.Curve == elliptic.P384() {
			long := sha512.Sum384(input)
			digest = long[:]
		}
		r, s, failed := ecdsa.Sign(rand.Reader, p, digest)
		size := (p.Curve.Params().BitSize + 7) / 8
		out = append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
		err = failed
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// pem is the public half in a file.
func (k signingKey) pem(t testing.TB) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(k.private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return file(t, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
}

// jwk is the public half, with more members.
func (k signingKey) jwk(t testing.TB, more string) string {
	t.Helper()
	doc, err := json.Marshal(jose.JSONWebKey{Key: k.private.Public(), KeyID: k.kid})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(doc), "}") + more + "}"
}

func file(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// signed is a card with signatures put in.
func signed(t testing.TB, card string, entries ...entry) []byte {
	t.Helper()
	list, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, `{"signatures":%s,%s`, list, strings.TrimPrefix(card, "{"))
}

// canonical is one form of a card.
func canonical(t testing.TB, card string, form Form) []byte {
	t.Helper()
	doc, err := read([]byte(card))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range forms {
		if f.name == form {
			body, _, err := f.make(doc.without("signatures"))
			if err != nil {
				t.Fatal(err)
			}
			return body
		}
	}
	t.Fatalf("no form %s", form)
	return nil
}

func newVerifier(t testing.TB, trust Trust) *Verifier {
	t.Helper()
	if err := trust.Validate(); err != nil {
		t.Fatal(err)
	}
	v, err := New(trust, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}
