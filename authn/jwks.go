package authn

import (
	"crypto"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a key set. A large provider publishes about ten keys in twenty KiB.
const (
	maxDocument = 256 << 10
	maxKeys     = 50
	minRSA      = 2048 // bits, RFC 7518 §3.3
	maxRSA      = 8192 // bits; verification time grows with the square
)

// publicKey is one verification key of an issuer.
type publicKey struct {
	id  string // kid; may be empty
	alg string // the only algorithm it is published for; empty means any that fits
	key crypto.PublicKey
}

// suits reports whether the key may verify this algorithm.
func (k *publicKey) suits(a algorithm) bool {
	return (k.alg == "" || k.alg == a.name) && a.fits(k.key)
}

// same reports whether two keys are interchangeable in every respect.
func (k *publicKey) same(o *publicKey) bool {
	e, ok := k.key.(interface{ Equal(x crypto.PublicKey) bool })
	return ok && k.id == o.id && k.alg == o.alg && e.Equal(o.key)
}

// keys is an immutable snapshot of an issuer's key set.
type keys struct {
	list  []*publicKey
	asked time.Time // when the fetch began: it shows no key published later
	fresh time.Time // until when it may be used unasked
}

// find returns the key that a token asks for. A token without kid is served only
// when there is no choice: trying keys one after the other would let a caller make
// the gateway work.
func (k *keys) find(kid string, a algorithm) (*publicKey, error) {
	var found *publicKey
	for _, c := range k.list {
		switch {
		case kid != "" && c.id == kid && !c.suits(a):
			return nil, refuse(faultAlgorithm, fmt.Errorf("key %.40q is not for %s", kid, a.name))
		case kid != "" && c.id == kid:
			return c, nil
		case kid == "" && c.suits(a) && found != nil:
			return nil, refuse(faultUnknownKey, errors.New("no kid, and several keys fit"))
		case kid == "" && c.suits(a):
			found = c
		}
	}
	if found == nil {
		return nil, refuse(faultUnknownKey, fmt.Errorf("kid %.40q", kid))
	}
	return found, nil
}

// has reports whether the issuer publishes a key under this kid.
func (k *keys) has(kid string) bool {
	return slices.ContainsFunc(k.list, func(c *publicKey) bool { return c.id == kid })
}

// lost reports whether a key of k is missing from next or has changed there, so
// that what was verified with k must be verified again.
func (k *keys) lost(next *keys) bool {
	for _, old := range k.list {
		if !slices.ContainsFunc(next.list, old.same) {
			return true
		}
	}
	return false
}

// webKey is what is read of a JWK (RFC 7517 §4, RFC 7518 §6). Certificates are left
// out on purpose: trust comes from the address the set was fetched from.
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

	// Never in a public set: a symmetric key, or the secret half.
	K jsontext.Value `json:"k,omitzero"`
	D jsontext.Value `json:"d,omitzero"`
}

// parseKeys reads a JWK set. Keys of kinds that are not known, or for another use,
// are skipped as RFC 7517 §5 asks. What a sane issuer never publishes condemns the
// whole set: secrets, a kid twice, weak RSA keys, more keys than anybody needs. The
// caller then keeps the set it has.
func parseKeys(doc []byte) ([]*publicKey, error) {
	var set struct {
		Keys []webKey `json:"keys"`
	}
	if err := json.Unmarshal(doc, &set); err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("read key set: %d keys, more than %d", len(set.Keys), maxKeys)
	}
	var list []*publicKey
	seen := make(map[string]bool, len(set.Keys))
	for i := range set.Keys {
		k, err := set.Keys[i].public()
		if err != nil {
			return nil, fmt.Errorf("read key set: key %d: %w", i, err)
		}
		if k == nil {
			continue
		}
		if seen[k.id] && k.id != "" {
			return nil, fmt.Errorf("read key set: key %d: kid %.40q twice", i, k.id)
		}
		seen[k.id] = true
		list = append(list, k)
	}
	if len(list) == 0 {
		return nil, errors.New("read key set: no key that can verify a signature")
	}
	return list, nil
}

// public converts a JWK; nil without an error means that it is not for us.
func (w *webKey) public() (*publicKey, error) {
	switch {
	case w.Type == "oct" || w.K != nil:
		return nil, errors.New("symmetric key")
	case w.D != nil:
		return nil, errors.New("private key")
	case len(w.ID) > maxKeyID:
		return nil, errors.New("kid too long")
	case w.Use != "" && w.Use != "sig", len(w.Operations) > 0 && !slices.Contains(w.Operations, "verify"):
		return nil, nil
	case !w.known():
		return nil, nil
	}
	doc, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	var k jose.JSONWebKey // checks that points are on their curve
	if err := k.UnmarshalJSON(doc); err != nil {
		return nil, err
	}
	if r, ok := k.Key.(*rsa.PublicKey); ok {
		if err := checkRSA(r); err != nil {
			return nil, err
		}
	}
	return &publicKey{id: w.ID, alg: w.Algorithm, key: k.Key}, nil
}

// known reports whether some algorithm of the table can use such a key.
func (w *webKey) known() bool {
	if w.Algorithm != "" {
		a, ok := lookupAlgorithm(w.Algorithm)
		return ok && a.kty == w.Type
	}
	switch w.Type {
	case "RSA":
		return true
	case "EC":
		return w.Curve == "P-256" || w.Curve == "P-384" || w.Curve == "P-521"
	}
	return w.Type == "OKP" && w.Curve == "Ed25519"
}

// checkRSA refuses keys that can be broken or are made to burn time.
func checkRSA(k *rsa.PublicKey) error {
	switch bits := k.N.BitLen(); {
	case bits < minRSA || bits > maxRSA:
		return fmt.Errorf("RSA modulus of %d bits", bits)
	case k.E < 3 || k.E&1 == 0:
		return fmt.Errorf("RSA exponent %d", k.E)
	case roca(k.N):
		return errors.New("RSA key of a broken generator (CVE-2017-15361)")
	}
	return nil
}

// roca recognises moduli of the Infineon generator: its primes are powers of 65537
// modulo every small prime, so the product is one as well, for each of them. An
// honest modulus passes all these tests with a chance below 2^-27.
func roca(n *big.Int) bool {
	var rest big.Int
	for p := int64(3); p <= 167; p += 2 {
		if !big.NewInt(p).ProbablyPrime(0) {
			continue
		}
		want := rest.Mod(n, big.NewInt(p)).Int64()
		in := false
		for power, i := int64(1), int64(0); i < p && !in; i++ {
			in = power == want
			power = power * 65537 % p
		}
		if !in {
			return false
		}
	}
	return true
}
