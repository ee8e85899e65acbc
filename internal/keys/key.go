package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json/jsontext"
)

// Algorithms, as JSON Web Signatures name them (RFC 7518 §3.1, RFC 8037 §3.1).
const (
	es256 = "ES256"
	edDSA = "EdDSA"
)

// signatureSize is that of either algorithm: r and s of 32 bytes each (RFC 7518 §3.4),
// or an Ed25519 signature.
const signatureSize = 64

// key is a private key, with what is published of it.
type key struct {
	private crypto.Signer   // *ecdsa.PrivateKey on P-256, or ed25519.PrivateKey
	public  jose.JSONWebKey // use, alg and kid are set
	header  []byte          // of a JWS, open for more members
}

// newKey takes the two kinds of keys that every verifier knows and that are cheap to
// use. The key's id is its thumbprint (RFC 7638), so that nobody has to choose one and
// replicas agree.
func newKey(private crypto.PrivateKey) (*key, error) {
	k := &key{}
	switch p := private.(type) {
	case *ecdsa.PrivateKey:
		if p.Curve != elliptic.P256() {
			return nil, fmt.Errorf("a key on %s; want P-256 or Ed25519", p.Curve.Params().Name)
		}
		if _, err := p.ECDH(); err != nil { // a private key of zero, or past the order
			return nil, errors.New("not a key on P-256")
		}
		k.private, k.public.Algorithm = p, es256
	case ed25519.PrivateKey:
		k.private, k.public.Algorithm = p, edDSA
	default:
		return nil, fmt.Errorf("a key of type %T; want P-256 or Ed25519", private)
	}
	k.public.Key, k.public.Use = k.private.Public(), "sig"
	sum, err := k.public.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	k.public.KeyID = base64.RawURLEncoding.EncodeToString(sum)
	k.header = fmt.Appendf(nil, `{"alg":%q,"kid":%q`, k.public.Algorithm, k.public.KeyID)
	return k, nil
}

// generators make a new private key for each algorithm.
var generators = map[string]func() (crypto.PrivateKey, error){
	es256: func() (crypto.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) },
	edDSA: func() (crypto.PrivateKey, error) {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	},
}

// jws is payload signed, in compact form. It is put together here because a general
// signer builds the header anew from maps: sixty allocations beside those of the
// signature itself, not three.
func (k *key) jws(typ string, payload []byte) (string, error) {
	header := append(make([]byte, 0, len(k.header)+len(`,"typ":""}`)+len(typ)), k.header...)
	if typ != "" {
		var err error
		header, err = jsontext.AppendQuote(append(header, `,"typ":`...), typ)
		if err != nil {
			return "", fmt.Errorf("sign: typ: %w", err)
		}
	}
	header = append(header, '}')
	enc := base64.RawURLEncoding
	size := enc.EncodedLen(len(header)) + enc.EncodedLen(len(payload)) + enc.EncodedLen(signatureSize) + len("..")
	out := enc.AppendEncode(make([]byte, 0, size), header)
	out = enc.AppendEncode(append(out, '.'), payload)
	signature, err := k.sign(out)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return string(enc.AppendEncode(append(out, '.'), signature[:])), nil
}

func (k *key) sign(input []byte) (signature [signatureSize]byte, err error) {
	switch p := k.private.(type) {
	case *ecdsa.PrivateKey:
		sum := sha256.Sum256(input)
		r, s, err := ecdsa.Sign(rand.Reader, p, sum[:])
		if err != nil {
			return signature, err
		}
		r.FillBytes(signature[:signatureSize/2])
		s.FillBytes(signature[signatureSize/2:])
	case ed25519.PrivateKey:
		copy(signature[:], ed25519.Sign(p, input))
	}
	return signature, nil
}
