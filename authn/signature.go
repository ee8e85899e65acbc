package authn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // registers SHA-256 for crypto.Hash
	_ "crypto/sha512" // registers SHA-384 and SHA-512
	"errors"
	"fmt"
	"math/big"
)

// algorithm is a JWS signature algorithm of RFC 7518 §3.1 or RFC 8037 and the one
// kind of key it may be used with. Pinning both ways is what keeps a public key
// from ever being used as an HMAC secret.
type algorithm struct {
	name  string
	kty   string         // JWK key type
	hash  crypto.Hash    // 0 for EdDSA, which hashes by itself
	curve elliptic.Curve // EC only
	pss   bool           // RSA only
}

// algorithmTable is the closed list of what can be configured. There is no HMAC
// and no "none" in it, and no option adds one.
func algorithmTable() [10]algorithm {
	return [...]algorithm{
		{name: "RS256", kty: "RSA", hash: crypto.SHA256},
		{name: "RS384", kty: "RSA", hash: crypto.SHA384},
		{name: "RS512", kty: "RSA", hash: crypto.SHA512},
		{name: "PS256", kty: "RSA", hash: crypto.SHA256, pss: true},
		{name: "PS384", kty: "RSA", hash: crypto.SHA384, pss: true},
		{name: "PS512", kty: "RSA", hash: crypto.SHA512, pss: true},
		{name: "ES256", kty: "EC", hash: crypto.SHA256, curve: elliptic.P256()},
		{name: "ES384", kty: "EC", hash: crypto.SHA384, curve: elliptic.P384()},
		{name: "ES512", kty: "EC", hash: crypto.SHA512, curve: elliptic.P521()},
		{name: "EdDSA", kty: "OKP"},
	}
}

// algorithms are the names in the table.
func algorithms() []string {
	var names []string
	for _, a := range algorithmTable() {
		names = append(names, a.name)
	}
	return names
}

// lookupAlgorithm finds an algorithm by its exact name; case counts (RFC 7515 §4.1.1).
func lookupAlgorithm(name string) (algorithm, bool) {
	for _, a := range algorithmTable() {
		if a.name == name {
			return a, true
		}
	}
	return algorithm{}, false
}

// fits reports whether a public key is of the kind the algorithm demands.
func (a algorithm) fits(key crypto.PublicKey) bool {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return a.kty == "RSA"
	case *ecdsa.PublicKey:
		return a.kty == "EC" && a.curve == k.Curve
	case ed25519.PublicKey:
		return a.kty == "OKP"
	}
	return false
}

var errSignature = errors.New("signature does not match")

// verify checks a signature with the standard library. It is not left to the JOSE
// library because that one accepts any PSS salt length, where RFC 7518 §3.5 allows
// only the length of the hash, and would parse the token a second time.
func (a algorithm) verify(key crypto.PublicKey, signed, signature []byte) error {
	if !a.fits(key) {
		return fmt.Errorf("algorithm %s does not fit the key", a.name)
	}
	digest := signed
	if a.hash != 0 {
		h := a.hash.New()
		h.Write(signed)
		digest = h.Sum(nil)
	}
	ok := false
	switch k := key.(type) {
	case *rsa.PublicKey:
		ok = a.verifyRSA(k, digest, signature) == nil
	case *ecdsa.PublicKey:
		ok = a.verifyECDSA(k, digest, signature)
	case ed25519.PublicKey:
		ok = ed25519.Verify(k, digest, signature)
	}
	if !ok {
		return errSignature
	}
	return nil
}

func (a algorithm) verifyRSA(k *rsa.PublicKey, digest, signature []byte) error {
	if a.pss {
		opts := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: a.hash}
		return rsa.VerifyPSS(k, a.hash, digest, signature, opts)
	}
	return rsa.VerifyPKCS1v15(k, a.hash, digest, signature)
}

// verifyECDSA takes R and S as two numbers of the curve's size one after the
// other (RFC 7518 §3.4), never as ASN.1 and never shortened.
func (a algorithm) verifyECDSA(k *ecdsa.PublicKey, digest, signature []byte) bool {
	size := (a.curve.Params().BitSize + 7) / 8
	if len(signature) != 2*size {
		return false
	}
	r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
	return ecdsa.Verify(k, digest, r, s)
}
