package jws

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// weak is half a modulus of the broken generator: every prime is a power of 65537 modulo
// the product of small primes, plus a multiple of it.
func weak(t *testing.T, power int64) *big.Int {
	t.Helper()
	m := big.NewInt(1)
	for p := int64(2); p <= 167; p++ {
		if big.NewInt(p).ProbablyPrime(0) {
			m.Mul(m, big.NewInt(p))
		}
	}
	k, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 1040))
	if err != nil {
		t.Fatal(err)
	}
	return k.Mul(k, m).Add(k, new(big.Int).Exp(big.NewInt(65537), big.NewInt(power), m))
}

// TestTake refuses keys that nobody should believe, wherever they are from.
func TestTake(t *testing.T) {
	t.Parallel()
	good := rsaKeys()[0].PublicKey
	long, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	agreement, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	broken := rsa.PublicKey{N: new(big.Int).Mul(weak(t, 12), weak(t, 34)), E: 65537}
	p := Profile{Algorithms: []string{"RS256", "ES256", "EdDSA"}}
	for name, test := range map[string]struct {
		key  crypto.PublicKey
		want string // "" for taken
	}{
		"good":             {&good, ""},
		"broken generator": {&broken, "CVE-2017-15361"},
		"exponent 1":       {&rsa.PublicKey{N: good.N, E: 1}, "exponent 1"},
		"exponent even":    {&rsa.PublicKey{N: good.N, E: 65536}, "exponent 65536"},
		"too short":        {&rsa.PublicKey{N: new(big.Int).Rsh(good.N, 1), E: 65537}, "RSA key of 2047 bits"},
		"too long":         {&rsa.PublicKey{N: new(big.Int).Lsh(good.N, maxRSA), E: 65537}, "RSA key of 10240 bits"},
		"another curve":    {long.Public(), "a key on P-521, want one for RS256, ES256, EdDSA"},
		"another kind":     {agreement.Public(), "a key of type *ecdh.PublicKey, want one for RS256"},
		"nothing":          {nil, "a key of type <nil>"},
	} {
		k, err := p.Take(test.key)
		switch {
		case test.want == "" && (err != nil || k.Public != test.key):
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	k, err := p.Take(&good)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := (&jose.JSONWebKey{Key: &good}).Thumbprint(crypto.SHA256)
	if err != nil || string(sum) != string(k.Thumbprint[:]) {
		t.Errorf("thumbprint %x, want %x, %v", k.Thumbprint, sum, err)
	}
	if roca(good.N) || roca(rsaKeys()[1].N) {
		t.Error("honest modulus taken for a broken one")
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	public, other := rsaKeys()[0].Public(), rsaKeys()[1].Public()
	k := &Key{ID: "a", Algorithm: "RS256", Public: public}
	for name, test := range map[string]struct {
		other Key
		want  bool
	}{
		"itself":            {*k, true},
		"another id":        {Key{ID: "b", Algorithm: "RS256", Public: public}, false},
		"another algorithm": {Key{ID: "a", Algorithm: "PS256", Public: public}, false},
		"another key":       {Key{ID: "a", Algorithm: "RS256", Public: other}, false},
	} {
		if got := k.Same(&test.other); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
