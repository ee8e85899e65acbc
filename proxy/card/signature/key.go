package signature

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a set of keys.
const (
	maxDocument = 64 << 10
	maxKeys     = 50
	minRSA      = 2048 // bits, RFC 7518 §3.3
	maxRSA      = 8192 // bits; the time to verify grows with the square
)

// publicKey is a key that may verify signatures.
type publicKey struct {
	id         string // kid; "" for one that has no name, as in PEM
	alg        string // the only algorithm it is for; "" for any that fits
	key        crypto.PublicKey
	thumbprint string
	source     string // the file or URL it is from

	notBefore, notAfter time.Time // zero for no bound
}

// suits reports whether the key may verify this algorithm.
func (k *publicKey) suits(h *header) bool {
	same := k.alg == "" || k.alg == h.alg || k.alg == "EdDSA" && h.alg == "Ed25519" || k.alg == "Ed25519" && h.alg == "EdDSA"
	return same && h.algorithm.fits(k.key)
}

// named reports whether kid means this key. A thumbprint is always a name.
func (k *publicKey) named(kid string) bool { return kid != "" && (k.id == kid || k.thumbprint == kid) }

// current reports whether the key counts at a time.
func (k *publicKey) current(now time.Time) bool {
	return (k.notBefore.IsZero() || !now.Before(k.notBefore)) && (k.notAfter.IsZero() || now.Before(k.notAfter))
}

// newKey checks that a key is of a kind and strength that is taken.
func newKey(key crypto.PublicKey) (*publicKey, error) {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSA || bits > maxRSA {
			return nil, fmt.Errorf("an RSA key of %d bits, want %d to %d", bits, minRSA, maxRSA)
		}
		if k.E < 3 || k.E&1 == 0 {
			return nil, fmt.Errorf("an RSA key with exponent %d", k.E)
		}
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() && k.Curve != elliptic.P384() {
			return nil, fmt.Errorf("a key on %s, want P-256 or P-384", k.Params().Name)
		}
	case ed25519.PublicKey:
	default:
		return nil, fmt.Errorf("a key of type %T", key)
	}
	sum, err := (&jose.JSONWebKey{Key: key}).Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	return &publicKey{key: key, thumbprint: base64.RawURLEncoding.EncodeToString(sum)}, nil
}

// readKeys reads a file with public keys: PEM, a JWK or a JWK set.
func readKeys(path string) ([]*publicKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(doc) > maxDocument {
		return nil, fmt.Errorf("read %s: larger than %d bytes", path, maxDocument)
	}
	list, err := parseKeys(doc)
	if err != nil {
		return nil, fmt.Errorf("read keys: %s: %w", path, err)
	}
	for _, k := range list {
		k.source = path
	}
	return list, nil
}

// parseKeys tells the forms apart by their first byte.
func parseKeys(doc []byte) ([]*publicKey, error) {
	if trimmed := bytes.TrimSpace(doc); len(trimmed) > 0 && trimmed[0] == '{' {
		return parseJWK(trimmed)
	}
	return parsePEM(doc)
}

func parsePEM(doc []byte) ([]*publicKey, error) {
	var list []*publicKey
	for len(list) <= maxKeys {
		var block *pem.Block
		if block, doc = pem.Decode(doc); block == nil {
			break
		}
		k, err := parseBlock(block)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	if len(list) == 0 {
		return nil, errors.New("neither PEM nor a JSON object")
	}
	if len(list) > maxKeys {
		return nil, fmt.Errorf("more than %d keys", maxKeys)
	}
	return list, nil
}

func parseBlock(block *pem.Block) (*publicKey, error) {
	switch block.Type {
	case "PUBLIC KEY":
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, err
		}
		return newKey(key)
	case "CERTIFICATE":
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		k, err := newKey(cert.PublicKey)
		if err != nil {
			return nil, err
		}
		k.notBefore, k.notAfter = cert.NotBefore, cert.NotAfter
		return k, nil
	}
	return nil, fmt.Errorf("a PEM block %.40q; want PUBLIC KEY or CERTIFICATE", block.Type)
}

// webKey is what is read of a JWK (RFC 7517 §4, RFC 7518 §6). Certificates in it are left
// out: trust comes from where the set is. Times are those that OpenID Federation 1.0
// §8.7.2 gives keys; other sets have none.
type webKey struct {
	Type       string   `json:"kty"`
	Use        string   `json:"use,omitempty"`
	Operations []string `json:"key_ops,omitempty"`
	Algorithm  string   `json:"alg,omitempty"`
	ID         string   `json:"kid,omitempty"`
	Curve      string   `json:"crv,omitempty"`
	X          string   `json:"x,omitempty"`
	Y          string   `json:"y,omitempty"`
	N          string   `json:"n,omitempty"`
	E          string   `json:"e,omitempty"`

	NotBefore int64          `json:"nbf,omitempty"`
	Expires   int64          `json:"exp,omitempty"`
	Revoked   jsontext.Value `json:"revoked,omitzero"`

	// Never in public: a symmetric key, or the secret half.
	K jsontext.Value `json:"k,omitzero"`
	D jsontext.Value `json:"d,omitzero"`
}

// parseJWK reads a JWK set or one JWK. Keys of other kinds and for other uses are skipped
// (RFC 7517 §5); secrets condemn the whole document.
func parseJWK(doc []byte) ([]*publicKey, error) {
	var set struct {
		Keys []webKey `json:"keys"`
	}
	if err := json.Unmarshal(doc, &set); err != nil {
		return nil, err
	}
	if set.Keys == nil {
		set.Keys = make([]webKey, 1)
		if err := json.Unmarshal(doc, &set.Keys[0]); err != nil {
			return nil, err
		}
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("%d keys, more than %d", len(set.Keys), maxKeys)
	}
	var list []*publicKey
	for i := range set.Keys {
		k, err := set.Keys[i].public()
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i, err)
		}
		if k != nil {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no key that can verify a signature")
	}
	return list, nil
}

// public converts a JWK; nil without an error means that it is not for us.
func (w *webKey) public() (*publicKey, error) {
	switch {
	case w.Type == "oct" || w.K != nil:
		return nil, errors.New("a symmetric key")
	case w.D != nil:
		return nil, errors.New("a private key")
	case w.Use != "" && w.Use != "sig", len(w.Operations) > 0 && !slices.Contains(w.Operations, "verify"):
		return nil, nil
	case !w.known() || len(w.ID) > maxName:
		return nil, nil
	}
	doc, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	var j jose.JSONWebKey // checks that points are on their curve
	if err := j.UnmarshalJSON(doc); err != nil {
		return nil, err
	}
	k, err := newKey(j.Key)
	if err != nil {
		return nil, err
	}
	k.id, k.alg = w.ID, w.Algorithm
	if w.NotBefore != 0 {
		k.notBefore = time.Unix(w.NotBefore, 0)
	}
	if w.Expires != 0 {
		k.notAfter = time.Unix(w.Expires, 0)
	}
	if w.Revoked != nil && w.Revoked.Kind() != 'n' {
		k.notAfter = time.Unix(0, 0)
	}
	return k, nil
}

// known reports whether an algorithm of ours can use such a key.
func (w *webKey) known() bool {
	if w.Algorithm != "" {
		a, ok := algorithmOf(w.Algorithm)
		return ok && a.kty == w.Type
	}
	switch w.Type {
	case "RSA":
		return true
	case "EC":
		return w.Curve == "P-256" || w.Curve == "P-384"
	}
	return w.Type == "OKP" && w.Curve == "Ed25519"
}
