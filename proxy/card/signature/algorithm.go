package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // registers SHA-256 for crypto.Hash
	_ "crypto/sha512" // registers SHA-384 for crypto.Hash
	"math/big"
)

// algorithm is a JWS signature algorithm (RFC 7518 §3.1, RFC 8037 §3.1) and the one kind
// of key that it may be used with: a public key never becomes the secret of an HMAC.
type algorithm struct {
	hash  crypto.Hash    // 0 for EdDSA, which hashes by itself
	curve elliptic.Curve // EC only
	kty   string         // JWK key type
	pss   bool           // RSA only
}

// algorithmOf is the closed list. There is neither "none" nor HMAC in it, and nothing
// adds one. Ed25519 is EdDSA by its newer name (RFC 9864).
func algorithmOf(name string) (algorithm, bool) {
	switch name {
	case "ES256":
		return algorithm{hash: crypto.SHA256, curve: elliptic.P256(), kty: "EC"}, true
	case "ES384":
		return algorithm{hash: crypto.SHA384, curve: elliptic.P384(), kty: "EC"}, true
	case "EdDSA", "Ed25519":
		return algorithm{kty: "OKP"}, true
	case "RS256":
		return algorithm{hash: crypto.SHA256, kty: "RSA"}, true
	case "PS256":
		return algorithm{hash: crypto.SHA256, kty: "RSA", pss: true}, true
	}
	return algorithm{}, false
}

// fits reports whether a key is of the kind that the algorithm demands.
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

// holds checks a signature with the standard library: JOSE libraries accept any length
// of salt for PSS, where RFC 7518 §3.5 has that of the hash only.
func (a algorithm) holds(key crypto.PublicKey, signed, signature []byte) bool {
	if !a.fits(key) {
		return false
	}
	digest := signed
	if a.hash != 0 {
		h := a.hash.New()
		h.Write(signed)
		digest = h.Sum(nil)
	}
	switch k := key.(type) {
	case *rsa.PublicKey:
		if a.pss {
			opts := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: a.hash}
			return rsa.VerifyPSS(k, a.hash, digest, signature, opts) == nil
		}
		return rsa.VerifyPKCS1v15(k, a.hash, digest, signature) == nil
	case *ecdsa.PublicKey:
		return a.holdsECDSA(k, digest, signature)
	case ed25519.PublicKey:
		return ed25519.Verify(k, digest, signature)
	}
	return false
}

// holdsECDSA takes two numbers of the curve's size one after the other (RFC 7518 §3.4),
// never ASN.1, never shortened.
func (a algorithm) holdsECDSA(k *ecdsa.PublicKey, digest, signature []byte) bool {
	size := (a.curve.Params().BitSize + 7) / 8
	if len(signature) != 2*size {
		return false
	}
	r, s := new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:])
	return ecdsa.Verify(k, digest, r, s)
}
