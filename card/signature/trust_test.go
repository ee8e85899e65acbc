package signature

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"os"
	"strings"
	"testing"
)

func TestTrustValidate(t *testing.T) {
	t.Parallel()
	many := strings.Split(strings.Repeat("x,", 16)+"x", ",")
	for name, test := range map[string]struct {
		in   Trust
		want string // "" for good
	}{
		"nothing":                {Trust{}, ""},
		"files":                  {Trust{Keys: []string{"a", "b"}, Required: true}, ""},
		"JWKS":                   {Trust{JWKS: "http://keys.internal:8080/jwks"}, ""},
		"jku":                    {Trust{JKU: []string{"keys.example.com", "*.example.com", "https://x.example.com/a/"}}, ""},
		"private jku":            {Trust{JKU: []string{"https://10.0.0.1:8443/"}, AllowPrivateNetworks: true}, ""},
		"required, no keys":      {Trust{Required: true}, "required: no key could make a signature hold"},
		"empty file":             {Trust{Keys: []string{""}}, "keys[0]: is empty"},
		"file twice":             {Trust{Keys: []string{"a", "a"}}, `keys[1]: "a" is there twice`},
		"many files":             {Trust{Keys: many}, "keys: 17 files, at most 16"},
		"many places":            {Trust{JKU: many}, "jku: 17 places, at most 16"},
		"JWKS by file":           {Trust{JWKS: "file:///jwks"}, "jwks: is not an http or https URL"},
		"JWKS with a password":   {Trust{JWKS: "https://a:b@x/"}, "jwks: is not"},
		"plaintext jku":          {Trust{JKU: []string{"http://x.example.com/"}}, "jku[0]: "},
		"jku with a query":       {Trust{JKU: []string{"https://x.example.com/?a"}}, "jku[0]: "},
		"jku at home":            {Trust{JKU: []string{"https://10.0.0.1/"}}, "jku[0]: "},
		"jku that is no host":    {Trust{JKU: []string{"a b"}}, "jku[0]: "},
		"jku of everybody":       {Trust{JKU: []string{"*"}}, "jku[0]: "},
		"several things at once": {Trust{JWKS: "x", Keys: []string{""}}, "jwks: "},
	} {
		err := test.in.Validate()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// TestKeyFiles: errors name the key of the configuration and the file, and show nothing of it.
func TestKeyFiles(t *testing.T) {
	t.Parallel()
	es := newSigningKey(t, "ES256", "k1")
	long, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := os.ReadFile(signingKey{private: long}.pem(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ content, want string }{
		"empty":         {"", "neither PEM nor a JSON object"},
		"private":       {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", `a PEM block "PRIVATE KEY"`},
		"broken":        {"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "asn1"},
		"private JWK":   {es.jwk(t, `,"d":"secret-half"`), "a private key"},
		"symmetric JWK": {`{"kty":"oct","k":"c2VjcmV0LWhhbGY"}`, "a symmetric key"},
		"encryption":    {es.jwk(t, `,"use":"enc"`), "no key that can verify a signature"},
		"curve in PEM":  {string(curve), "a key on P-521, want one for ES256"},
		"other use":     {es.jwk(t, `,"key_ops":["sign"]`), "no key that can verify"},
		"other alg":     {es.jwk(t, `,"alg":"ES512"`), "no key that can verify"},
		"off the curve": {`{"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`, "key 0: "},
		"weak RSA":      {`{"kty":"RSA","n":"` + strings.Repeat("_", 171) + `","e":"AQAB"}`, "an RSA key of 1"},
		"even exponent": {`{"kty":"RSA","n":"` + strings.Repeat("_", 342) + `","e":"AQAA"}`, "exponent"},
		"large":         {strings.Repeat(" ", maxDocument+1), "larger than"},
	} {
		path := file(t, test.content)
		_, err := New(Trust{Keys: []string{path}}, Options{})
		if err == nil || !strings.Contains(err.Error(), "keys[0]: ") || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret-half") {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	if _, err := New(Trust{Keys: []string{"/nowhere/keys"}}, Options{}); err == nil || !strings.Contains(err.Error(), "/nowhere/keys") {
		t.Errorf("got %v", err)
	}
}
