package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// detachedKeys is how many keys make detached signatures: the one that signs, and the one
// beside it, which is the next one, or else the last.
const detachedKeys = 2

// Detached is a JWS whose payload is elsewhere (RFC 7515 appendix F).
type Detached struct {
	Protected string // the protected header, base64url
	Signature string // base64url
}

// Detached signs a payload with the key that signs now and the one published beside it,
// so that whoever knows either can verify it: what is signed so is often kept longer than
// a key signs. jku is where the JWK set is. Equal payloads get equal signatures, of
// replicas too.
func (r *Ring) Detached(jku string, payload []byte) ([]Detached, error) {
	s := r.set.Load()
	if s == nil {
		return nil, errors.New("sign: no keys are open")
	}
	var list []Detached
	for _, k := range s.keys[:min(len(s.keys), detachedKeys)] {
		d, err := k.detached(jku, payload)
		if err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
		list = append(list, d)
	}
	return list, nil
}

// Signers names the keys that Detached signs with now.
func (r *Ring) Signers() string {
	s := r.set.Load()
	if s == nil {
		return ""
	}
	var b strings.Builder
	for _, k := range s.keys[:min(len(s.keys), detachedKeys)] {
		b.WriteString(k.public.KeyID + " ")
	}
	return b.String()
}

func (k *key) detached(jku string, payload []byte) (Detached, error) {
	header := append([]byte(nil), k.header...)
	if jku != "" {
		var err error
		if header, err = jsontext.AppendQuote(append(header, `,"jku":`...), jku); err != nil {
			return Detached{}, fmt.Errorf("jku: %w", err)
		}
	}
	header = append(header, `,"typ":"JOSE"}`...)
	enc := base64.RawURLEncoding
	input := enc.AppendEncode(make([]byte, 0, enc.EncodedLen(len(header))+1+enc.EncodedLen(len(payload))), header)
	protected := string(input)
	input = enc.AppendEncode(append(input, '.'), payload)
	signature, err := k.repeatable(input)
	if err != nil {
		return Detached{}, err
	}
	return Detached{Protected: protected, Signature: enc.EncodeToString(signature[:])}, nil
}

// repeatable signs like sign, but always with the same result: for ECDSA as RFC 6979 has
// it, which takes what is random from the key and the input.
func (k *key) repeatable(input []byte) (signature [signatureSize]byte, err error) {
	switch p := k.private.(type) {
	case *ecdsa.PrivateKey:
		sum := sha256.Sum256(input)
		der, err := p.Sign(nil, sum[:], crypto.SHA256)
		if err != nil {
			return signature, err
		}
		var numbers struct{ R, S *big.Int }
		if _, err := asn1.Unmarshal(der, &numbers); err != nil {
			return signature, err
		}
		numbers.R.FillBytes(signature[:signatureSize/2])
		numbers.S.FillBytes(signature[signatureSize/2:])
	case ed25519.PrivateKey:
		copy(signature[:], ed25519.Sign(p, input))
	}
	return signature, nil
}
