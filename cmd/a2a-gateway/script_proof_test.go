package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"
)

// proofKey is a key that a client proves to have (RFC 9449).
type proofKey struct {
	private *ecdsa.PrivateKey
}

// proofKey is the key of that name, made when it is named first.
func (w *world) proofKey(ts *testscript.TestScript, name string) *proofKey {
	if k := w.proofs[name]; k != nil {
		return k
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	w.proofs[name] = &proofKey{private}
	return w.proofs[name]
}

func (k *proofKey) thumbprint(ts *testscript.TestScript) string {
	print, err := (&jose.JSONWebKey{Key: k.private.Public()}).Thumbprint(crypto.SHA256)
	ts.Check(err)
	return base64.RawURLEncoding.EncodeToString(print)
}

// prove sends the request's token under the scheme DPoP, with a proof for this request
// or, asked for the same again, with the one that was sent last.
func (c *client) prove(ts *testscript.TestScript, r *http.Request, q *request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !q.again {
		c.proof = c.w.proofKey(ts, q.proof).proof(ts, r, token)
	}
	r.Header.Set("Authorization", "DPoP "+token)
	r.Header.Set("Dpop", c.proof)
}

// proof says that the holder of the key makes this request with this token.
func (k *proofKey) proof(ts *testscript.TestScript, r *http.Request, token string) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: k.private},
		(&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt"))
	ts.Check(err)
	sum := sha256.Sum256([]byte(token))
	path, _, _ := strings.Cut(r.URL.Opaque, "?")
	payload, err := json.Marshal(map[string]any{
		"jti": rand.Text(), "iat": time.Now().Unix(), "htm": r.Method,
		"htu": r.URL.Scheme + "://" + r.Host + path,
		"ath": base64.RawURLEncoding.EncodeToString(sum[:]),
	})
	ts.Check(err)
	jws, err := signer.Sign(payload)
	ts.Check(err)
	proof, err := jws.CompactSerialize()
	ts.Check(err)
	return proof
}
