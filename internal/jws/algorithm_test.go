package jws

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"sync"
	"testing"
)

// whole takes everything there is.
func whole() (p Profile) {
	for _, a := range table() {
		p.Algorithms = append(p.Algorithms, a.Name)
	}
	return p
}

// rsaKeys are made once: they take long.
var rsaKeys = sync.OnceValue(func() (two [2]*rsa.PrivateKey) {
	for i := range two {
		var err error
		if two[i], err = rsa.GenerateKey(rand.Reader, minRSA); err != nil {
			panic(err)
		}
	}
	return two
})

// pair are two keys of the kind that an algorithm demands.
func pair(t testing.TB, a Algorithm) (mine, other crypto.Signer) {
	t.Helper()
	if a.kty == "RSA" {
		return rsaKeys()[0], rsaKeys()[1]
	}
	fresh := func() crypto.Signer {
		if a.kty == "OKP" {
			_, k, err := ed25519.GenerateKey(rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		k, err := ecdsa.GenerateKey(a.curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	return fresh(), fresh()
}

// sign is what RFC 7518 has for an algorithm; salt is that of PSS.
func sign(t testing.TB, a Algorithm, key crypto.Signer, signed []byte, salt int) []byte {
	t.Helper()
	digest, opts := signed, crypto.SignerOpts(a.hash)
	if a.hash != 0 {
		h := a.hash.New()
		h.Write(signed)
		digest = h.Sum(nil)
	}
	if a.pss {
		opts = &rsa.PSSOptions{SaltLength: salt, Hash: a.hash}
	}
	if k, ok := key.(*ecdsa.PrivateKey); ok {
		r, s, err := ecdsa.Sign(rand.Reader, k, digest)
		if err != nil {
			t.Fatal(err)
		}
		size := (k.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	}
	signature, err := key.Sign(rand.Reader, digest, opts)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

func TestVerify(t *testing.T) {
	t.Parallel()
	signed := []byte("header.payload")
	for _, a := range table() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			key, other := pair(t, a)
			good := sign(t, a, key, signed, rsa.PSSSaltLengthEqualsHash)
			if err := a.Verify(key.Public(), signed, good); err != nil {
				t.Error(err)
			}
			bad := map[string][]byte{
				"empty": nil, "longer": append(bytes.Clone(good), 0), "shorter": good[:len(good)-1],
				"another key's": sign(t, a, other, signed, rsa.PSSSaltLengthEqualsHash),
				"of another":    sign(t, a, key, []byte("header.another"), rsa.PSSSaltLengthEqualsHash),
				"zero":          make([]byte, len(good)),
			}
			switch {
			case a.pss:
				bad["PSS without salt"] = sign(t, a, key, signed, 1)
				bad["PSS of all salt"] = sign(t, a, key, signed, rsa.PSSSaltLengthAuto)
			case a.curve != nil:
				h := a.hash.New()
				h.Write(signed)
				asn1, err := key.Sign(rand.Reader, h.Sum(nil), a.hash)
				if err != nil {
					t.Fatal(err)
				}
				bad["ASN.1"] = asn1
			}
			for name, signature := range bad {
				if a.Verify(key.Public(), signed, signature) == nil {
					t.Errorf("%s: accepted", name)
				}
			}
		})
	}
}

// TestKindOfKey tries every algorithm with the keys of all: no signature holds that one
// made under the name of another, and no key is for an algorithm of another kind.
func TestKindOfKey(t *testing.T) {
	t.Parallel()
	signed := []byte("header.payload")
	for _, made := range table() {
		private, _ := pair(t, made)
		signature := sign(t, made, private, signed, rsa.PSSSaltLengthEqualsHash)
		for _, a := range table() {
			want := a.Name == made.Name || a.kty == "OKP" && made.kty == "OKP"
			if got := a.Verify(private.Public(), signed, signature) == nil; got != want {
				t.Errorf("%s holds as %s: %v", made.Name, a.Name, got)
			}
			k := &Key{Public: private.Public(), Algorithm: made.Name}
			if k.Suits(a) != want {
				t.Errorf("a key for %s suits %s: %v", made.Name, a.Name, !want)
			}
			k.Algorithm = ""
			if got, want := k.Suits(a), a.kty == made.kty && a.curve == made.curve; got != want {
				t.Errorf("a key of %s suits %s: %v", made.Name, a.Name, got)
			}
		}
	}
	a, _ := whole().Lookup("ES256")
	for name, key := range map[string]crypto.PublicKey{"nothing": nil, "a secret": []byte("secret"), "another type": &ed25519.PublicKey{}} {
		if a.Verify(key, signed, make([]byte, 64)) == nil || (&Key{Public: key}).Suits(a) {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"none", "None", "HS256", "HS512", "es256", "ES256 ", "ES256K", "RSA1_5", ""} {
		p := whole()
		p.Algorithms = append(p.Algorithms, name) // what does not exist is not made by naming it
		if a, ok := p.Lookup(name); ok {
			t.Errorf("%q is %+v", name, a)
		}
	}
	some := Profile{Algorithms: []string{"ES256", "EdDSA"}}
	for name, want := range map[string]bool{"ES256": true, "EdDSA": true, "Ed25519": false, "RS256": false} {
		if a, ok := some.Lookup(name); ok != want || ok && a.Name != name {
			t.Errorf("%s: got %+v, %v", name, a, ok)
		}
	}
	if a, _ := whole().Lookup("ES512"); a.curve != elliptic.P521() || a.hash != crypto.SHA512 {
		t.Errorf("got %+v", a)
	}
}
