package jws

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Sizes of RSA keys, in bits: RFC 7518 §3.3 has the least, and the time to verify grows
// with the square.
const (
	minRSA = 2048
	maxRSA = 8192
)

// MaxSignature is how many bytes the longest signature has, that of the longest RSA key.
const MaxSignature = maxRSA / 8

// Key is a public key that may verify signatures.
type Key struct {
	ID         string // kid; may be empty
	Algorithm  string // the only one it is published for; empty means any that fits
	Public     crypto.PublicKey
	Thumbprint [sha256.Size]byte // RFC 7638

	NotBefore, NotAfter time.Time // zero for no bound
}

// Suits reports whether the key may verify this algorithm.
func (k *Key) Suits(a Algorithm) bool {
	// Both names of EdDSA are for the same keys, and no others have their type.
	return (k.Algorithm == "" || k.Algorithm == a.Name || a.kty == "OKP") && a.fits(k.Public)
}

// Same reports whether two keys are interchangeable in every respect.
func (k *Key) Same(o *Key) bool {
	e, ok := k.Public.(interface{ Equal(x crypto.PublicKey) bool })
	return ok && k.ID == o.ID && k.Algorithm == o.Algorithm && e.Equal(o.Public)
}

// narrow has a key count only while another, which is the same, does as well.
func (k *Key) narrow(o *Key) {
	if o.NotBefore.After(k.NotBefore) {
		k.NotBefore = o.NotBefore
	}
	if k.NotAfter.IsZero() || !o.NotAfter.IsZero() && o.NotAfter.Before(k.NotAfter) {
		k.NotAfter = o.NotAfter
	}
}

// Take makes a Key of one that is of a kind and strength that is taken.
func (p Profile) Take(public crypto.PublicKey) (*Key, error) {
	if !p.some(func(a Algorithm) bool { return a.fits(public) }) {
		kind := fmt.Sprintf("of type %T", public)
		if k, ok := public.(*ecdsa.PublicKey); ok {
			kind = "on " + k.Params().Name
		}
		return nil, unfit(reasonOther, "a key %s, want one for %s", kind, strings.Join(p.Algorithms, ", "))
	}
	switch k := public.(type) {
	case *rsa.PublicKey:
		if err := checkRSA(k); err != nil {
			return nil, err
		}
	case ed25519.PublicKey:
		if smallOrder(k) {
			return nil, unfit(reasonWeak, "an Ed25519 key of small order")
		}
	}
	sum, err := (&jose.JSONWebKey{Key: public}).Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	return &Key{Public: public, Thumbprint: [sha256.Size]byte(sum)}, nil
}

// checkRSA refuses keys that can be broken or are made to burn time.
func checkRSA(k *rsa.PublicKey) error {
	switch bits := k.N.BitLen(); {
	case bits < minRSA || bits > maxRSA:
		return unfit(reasonWeak, "an RSA key of %d bits, want %d to %d", bits, minRSA, maxRSA)
	case k.E < 3 || k.E&1 == 0:
		return unfit(reasonWeak, "an RSA key with exponent %d", k.E)
	case roca(k.N):
		return unfit(reasonWeak, "an RSA key of a broken generator (CVE-2017-15361)")
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
