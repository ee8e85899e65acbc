package jws

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
	"slices"
)

// Algorithm is a signature algorithm of RFC 7518 §3.1 or RFC 8037 and the one kind of
// key it may be used with. Pinning both ways is what keeps a public key from ever being
// used as an HMAC secret.
type Algorithm struct {
	Name  string
	kty   string         // JWK key type
	hash  crypto.Hash    // 0 for EdDSA, which hashes by itself
	curve elliptic.Curve // EC only
	pss   bool           // RSA only
}

// table is all there is. There is no HMAC and no "none" in it, and nothing adds one.
// Ed25519 is EdDSA by its newer name (RFC 9864).
//
// A JWS names its algorithm itself (RFC 7515 §4.1.1), so the one who forges it chooses. What is not in
// this table can be chosen by nobody: "none" would be no signature at all (RFC 7518 §3.6), and with
// HS256 a verifier that takes any bytes for a secret would take the public key for one.
func table() [11]Algorithm {
	return [...]Algorithm{
		{Name: "RS256", kty: "RSA", hash: crypto.SHA256},
		{Name: "RS384", kty: "RSA", hash: crypto.SHA384},
		{Name: "RS512", kty: "RSA", hash: crypto.SHA512},
		{Name: "PS256", kty: "RSA", hash: crypto.SHA256, pss: true},
		{Name: "PS384", kty: "RSA", hash: crypto.SHA384, pss: true},
		{Name: "PS512", kty: "RSA", hash: crypto.SHA512, pss: true},
		{Name: "ES256", kty: "EC", hash: crypto.SHA256, curve: elliptic.P256()},
		{Name: "ES384", kty: "EC", hash: crypto.SHA384, curve: elliptic.P384()},
		{Name: "ES512", kty: "EC", hash: crypto.SHA512, curve: elliptic.P521()},
		{Name: "EdDSA", kty: "OKP"},
		{Name: "Ed25519", kty: "OKP"},
	}
}

// Profile is what one use takes of all this. The zero Profile takes nothing.
//
// Access tokens, client assertions, DPoP proofs and signed cards each have one: what one use takes says
// nothing of the others.
type Profile struct {
	// Algorithms are the names of those that signatures may have.
	Algorithms []string
	// Dated has the members count that OpenID Federation 1.0 §8.7.2 gives keys: nbf, exp
	// and revoked. Other sets have none, and whoever withdraws a key leaves it out.
	Dated bool
}

// Lookup finds an algorithm by its exact name; case counts (RFC 7515 §4.1.1).
//
//	"ES256"   found, if the profile has it
//	"es256"   not found
func (p Profile) Lookup(name string) (Algorithm, bool) {
	if slices.Contains(p.Algorithms, name) {
		for _, a := range table() {
			if a.Name == name {
				return a, true
			}
		}
	}
	return Algorithm{}, false
}

// some reports whether one of the algorithms is such.
//
// It answers what a profile could use, as whether any RSA key is of interest at all.
func (p Profile) some(such func(Algorithm) bool) bool {
	for _, a := range table() {
		if slices.Contains(p.Algorithms, a.Name) && such(a) {
			return true
		}
	}
	return false
}

// fits reports whether a public key is of the kind the algorithm demands.
//
// An EC key has to be on the very curve: RFC 7518 §3.4 ties ES256 to P-256, ES384 to P-384 and ES512
// to P-521.
func (a Algorithm) fits(key crypto.PublicKey) bool {
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

// errMismatch tells nothing of where the check failed: the caller of a forged token learns only that
// it is not accepted.
var errMismatch = errors.New("signature does not match")

// Verify checks a signature with the standard library. It is not left to a JOSE library
// because those accept any PSS salt length, where RFC 7518 §3.5 allows only the length
// of the hash, and would parse what is signed a second time.
//
// It returns nil for a signature that the key has made over exactly the bytes of signed: for a JWS the
// ASCII of header, dot and payload as they came (RFC 7515 §5.2), not decoded and encoded again.
func (a Algorithm) Verify(key crypto.PublicKey, signed, signature []byte) error {
	if !a.fits(key) {
		return fmt.Errorf("algorithm %s does not fit the key", a.Name)
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
		return errMismatch
	}
	return nil
}

// verifyRSA checks RSASSA-PKCS1-v1_5 (RFC 7518 §3.3), or RSASSA-PSS for the algorithms that say so
// (§3.5).
func (a Algorithm) verifyRSA(k *rsa.PublicKey, digest, signature []byte) error {
	if a.pss {
		opts := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: a.hash}
		return rsa.VerifyPSS(k, a.hash, digest, signature, opts)
	}
	return rsa.VerifyPKCS1v15(k, a.hash, digest, signature)
}

// verifyECDSA takes R and S as two numbers of the curve's size one after the other
// (RFC 7518 §3.4), never as ASN.1 and never shortened.
//
//	ES256   64 bytes: 32 of R, then 32 of S
//	ES512   132 bytes: P-521 has 66 bytes each
func (a Algorithm) verifyECDSA(k *ecdsa.PublicKey, digest, signature []byte) bool {
	size := (a.curve.Params().BitSize + 7) / 8
	if len(signature) != 2*size {
		return false
	}
	r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
	return ecdsa.Verify(k, digest, r, s)
}
