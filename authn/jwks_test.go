package authn

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// say answers with a document.
func say(doc string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, doc) }
}

func withPrivate(k jose.JSONWebKey) jose.JSONWebKey {
	k.Key = ecKey()
	return k
}

func manyKeys(n int) string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(`{"kty":"unknown","kid":"%d"}`, i)
	}
	return strings.Join(keys, ",")
}

func make1024() []byte {
	b := make([]byte, 128)
	_, _ = rand.Read(b)
	b[0] |= 0x80
	b[127] |= 1
	return b
}

// The shape of a vulnerable modulus: every prime is a power of 65537 modulo the
// product of small primes, plus a multiple of it.
func TestROCA(t *testing.T) {
	t.Parallel()
	m := big.NewInt(1)
	for p := int64(2); p <= 167; p++ {
		if big.NewInt(p).ProbablyPrime(0) {
			m.Mul(m, big.NewInt(p))
		}
	}
	weak := func(power int64) *big.Int {
		k, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 1040))
		if err != nil {
			t.Fatal(err)
		}
		return k.Mul(k, m).Add(k, new(big.Int).Exp(big.NewInt(65537), big.NewInt(power), m))
	}
	if n := new(big.Int).Mul(weak(1234), weak(56789)); !roca(n) {
		t.Error("modulus of the broken generator not recognised")
	}
	for name, k := range map[string]*rsa.PublicKey{
		"broken generator": {N: new(big.Int).Mul(weak(12), weak(34)), E: 65537},
		"exponent 1":       {N: rsaKey().N, E: 1},
		"exponent even":    {N: rsaKey().N, E: 65536},
		"too short":        {N: new(big.Int).Rsh(rsaKey().N, 1), E: 65537},
		"too long":         {N: new(big.Int).Lsh(rsaKey().N, maxRSA), E: 65537},
	} {
		if checkRSA(k) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if roca(rsaKey().N) || roca(rsaOther().N) {
		t.Error("honest modulus taken for a broken one")
	}
}

func FuzzParseKeys(f *testing.F) {
	for _, k := range standard().keys {
		doc, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{k}})
		f.Add(doc)
	}
	f.Add([]byte(`{"keys":[{"kty":"oct","k":"AA"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AA","e":"AQAB"}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		list, err := parseKeys(doc)
		if err != nil {
			return
		}
		if len(list) == 0 || len(list) > maxKeys {
			t.Fatalf("%d keys", len(list))
		}
		for _, k := range list {
			fits := false
			for _, a := range algorithmTable() {
				fits = fits || k.suits(a)
			}
			if !fits && k.alg == "" {
				t.Fatalf("key of type %T fits no algorithm", k.key)
			}
		}
	})
}
