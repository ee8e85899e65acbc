package jwstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"maps"
	"sync"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Key is one of the keys that vectors name: "ec" on P-256, "p384", "rsa", "ed", and
// "stranger", on P-256, which no verifier knows. They are made once.
func Key(name string) crypto.Signer { return keys()[name] }

var keys = sync.OnceValue(func() map[string]crypto.Signer {
	made := map[string]crypto.Signer{}
	for name, curve := range map[string]elliptic.Curve{"ec": elliptic.P256(), "p384": elliptic.P384(), "stranger": elliptic.P256()} {
		made[name], _ = ecdsa.GenerateKey(curve, rand.Reader) // never fails
	}
	made["rsa"], _ = rsa.GenerateKey(rand.Reader, 2048)
	_, made["ed"], _ = generateEd25519()
	return made
})

func generateEd25519() (ed25519.PublicKey, crypto.Signer, error) {
	return ed25519.GenerateKey(rand.Reader)
}

// oddKeys are public keys that nobody should take.
var oddKeys = map[string]string{
	"secret":   `{"kty":"oct","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ"}`,
	"order1":   `{"kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`,
	"order4":   `{"kty":"OKP","crv":"Ed25519","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIA"}`,
	"order8":   `{"kty":"OKP","crv":"Ed25519","x":"JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_AU"}`,
	"noncanon": `{"kty":"OKP","crv":"Ed25519","x":"7v_______________________________________38"}`,
	"offcurve": `{"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE","y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE"}`,
}

// publicKey is the public half as a JWK. With "private:" before its name it is both.
func publicKey(name string) jsontext.Value {
	if text, ok := oddKeys[name]; ok {
		return jsontext.Value(text)
	}
	var key any = nil
	if k := Key(name); k != nil {
		key = k.Public()
	} else if len(name) > len("private:") {
		key = Key(name[len("private:"):])
	}
	doc, err := json.Marshal(jose.JSONWebKey{Key: key})
	if err != nil {
		return jsontext.Value(fmt.Sprintf("%q", err))
	}
	return doc
}

// Names are those of the keys that verifiers know.
func Names() []string {
	var names []string
	for name := range maps.Keys(keys()) {
		if name != "stranger" {
			names = append(names, name)
		}
	}
	return names
}
