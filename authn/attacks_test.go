package authn

import (
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

// Signatures that are numbers a careless verifier accepts, or other spellings of good
// ones.
func TestL25_SignatureForms(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, standard())
	claims := claimsOf(nil)
	head := func(alg, kid string) m { return m{"alg": alg, "kid": kid} }
	ec := sign(t, ecKey(), head("ES256", "ec"), claims)
	ed := sign(t, edKey(), head("EdDSA", "ed"), claims)
	rs := sign(t, rsaKey(), head("RS256", "rsa"), claims)
	ps := sign(t, rsaKey(), head("PS256", "rsa"), claims)
	n := elliptic.P256().Params().N
	field := func(i *big.Int) []byte { return i.FillBytes(make([]byte, 32)) }
	pair := func(r, s *big.Int) func([]byte) []byte {
		return func([]byte) []byte { return append(field(r), field(s)...) }
	}
	one, zero := big.NewInt(1), new(big.Int)
	tests := []struct {
		name, token string
		change      func(signature []byte) []byte
		want        string
	}{
		{"ES256", ec, func(s []byte) []byte { return s }, "ok"},
		{"r and s zero", ec, pair(zero, zero), "signature"},
		{"r zero", ec, pair(zero, one), "signature"},
		{"s zero", ec, pair(one, zero), "signature"},
		{"r and s one", ec, pair(one, one), "signature"},
		{"r and s the order", ec, pair(n, n), "signature"},
		{"r the order plus one", ec, pair(new(big.Int).Add(n, one), one), "signature"},
		{"r and s swapped", ec, func(s []byte) []byte { return append(s[32:64:64], s[:32]...) }, "signature"},
		{"zeros in front", ec, func(s []byte) []byte { return append([]byte{0, 0}, s...) }, "signature"},
		{"size of ES512", ec, func(s []byte) []byte {
			return append(append(make([]byte, 34), s[:32]...), append(make([]byte, 34), s[32:]...)...)
		}, "signature"},
		{"EdDSA", ed, func(s []byte) []byte { return s }, "ok"},
		{"s plus the order of the group", ed, addGroupOrder, "signature"},
		{"all zero", ed, func([]byte) []byte { return make([]byte, ed25519.SignatureSize) }, "signature"},
		{"point of order one", ed, func([]byte) []byte { return append([]byte{1}, make([]byte, 63)...) }, "signature"},
		{"RS256", rs, func(s []byte) []byte { return s }, "ok"},
		{"plus the modulus", rs, func(s []byte) []byte {
			return new(big.Int).Add(new(big.Int).SetBytes(s), rsaKey().N).Bytes()
		}, "signature"},
		{"zero in front", rs, func(s []byte) []byte { return append([]byte{0}, s...) }, "signature"},
		{"zero", rs, func(s []byte) []byte { return make([]byte, len(s)) }, "signature"},
		{"one", rs, func(s []byte) []byte { return append(make([]byte, len(s)-1), 1) }, "signature"},
		{"cut", rs, func(s []byte) []byte { return s[1:] }, "signature"},
		{"PSS as PKCS1", rs, func([]byte) []byte { return signatureOf(t, ps) }, "signature"},
	}
	for _, tt := range tests {
		input, _, _ := cutLast(tt.token)
		want(t, tt.name, verdict(t, c, input+"."+b64(tt.change(signatureOf(t, tt.token)))), tt.want)
	}
}

func signatureOf(t *testing.T, token string) []byte {
	t.Helper()
	_, sig, _ := cutLast(token)
	s, err := base64.RawURLEncoding.DecodeString(sig)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// addGroupOrder makes another signature of which a lenient verifier sees the same
// number (RFC 8032 §8.4).
func addGroupOrder(signature []byte) []byte {
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := make([]byte, 32)
	for i := range s {
		s[i] = signature[63-i]
	}
	sum := new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
	out := append([]byte(nil), signature[:32]...)
	for i := range sum {
		out = append(out, sum[31-i])
	}
	return out
}

// Headers that two parsers read in two ways, or that mean something else than they say.
func TestL25_HeaderForms(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, standard())
	payload, err := json.Marshal(claimsOf(nil))
	if err != nil {
		t.Fatal(err)
	}
	for header, expected := range map[string]string{
		`{"alg":"ES256","kid":"ec"}`:                                 "ok",
		` {"alg" : "ES256" ,"kid":"ec"} `:                            "ok",
		`{"alg":"ES256","kid":"ec","x5t":"AA","x5t#S256":"AA"}`:      "ok",
		`{"alg":"ES256 ","kid":"ec"}`:                                "algorithm",
		`{"alg":"ES256\u0000","kid":"ec"}`:                           "algorithm",
		`{"alg":"ES256","kid":"ec\r\nX: y"}`:                         "unknown-key",
		`{"alg":"ES256","kid":" ec"}`:                                "unknown-key",
		`{"alg":"ES256","kid":"\u0065c"}`:                            "ok", // the same string
		`{"alg":"ES256","kid":"ec","kid":"rsa"}`:                     "malformed",
		`{"alg":"ES256","kid":null}`:                                 "malformed",
		`{"alg":"ES256","kid":"ec","Kid":"rsa"}`:                     "forbidden-header",
		`{"alg":"ES256","kid":"ec","typ":"at+jwt;v=1"}`:              "token-type",
		`{"alg":"ES256","kid":"ec","typ":" JWT"}`:                    "token-type",
		`{"alg":"ES256","kid":"ec","typ":"kb+jwt"}`:                  "token-type",
		`{"alg":"ES256","kid":"ec","typ":"token-introspection+jwt"}`: "token-type",
		`{"alg":"ES256","kid":"ec","Typ":"at+jwt"}`:                  "forbidden-header",
		`{"alg":"ES256","kid":"ec","epk":{}}`:                        "forbidden-header",
		`{"alg":"dir","enc":"A256GCM","kid":"ec"}`:                   "forbidden-header",
		`{"alg":"ES256K","kid":"ec"}`:                                "algorithm",
		`{"alg":"Ed25519","kid":"ed"}`:                               "algorithm",
		`{"alg":"ES256","kid":"ec"}{}`:                               "malformed",
		`{"alg":"ES256","kid":"ec",}`:                                "malformed",
		`{"alg":"ES256","kid":"ec"} //`:                              "malformed",
		"\ufeff" + `{"alg":"ES256","kid":"ec"}`:                      "malformed",
		`{'alg':'ES256','kid':'ec'}`:                                 "malformed",
		`[{"alg":"ES256","kid":"ec"}]`:                               "malformed",
		`{"alg":"ES256","kid":"ec","p":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`: "malformed",
	} {
		want(t, header, verdict(t, c, signRaw(t, ecKey(), []byte(header), payload)), expected)
	}
	good := good(t, nil)
	for name, value := range map[string]string{
		"blank behind": "Bearer " + good + " ", "tab": "Bearer\t" + good, "comma": "Bearer " + good + ",",
		"two": "Bearer " + good + " " + good, "quoted": `Bearer "` + good + `"`, "no scheme": good,
		"glued": "Bearer" + good, "colon": "Bearer: " + good,
	} {
		if p, err := c.Authenticate(request("Authorization", value)); err == nil {
			t.Errorf("%s: accepted as %v", name, p)
		}
	}
}

// Names that look like ours, to people or to careless comparisons, are others'.
func TestL26_LookalikeNames(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, standard())
	for _, iss := range []string{testIssuer + ":443", testIssuer + "/.", testIssuer + "?", testIssuer + "#",
		"https://idp.test@evil.test", "https://user@idp.test", "https://idp.test.evil.test", "http://idp.test",
		"https://%69dp.test", "https://idp\u200b.test", "https://ıdp.test", testIssuer + "\x00", "\t" + testIssuer} {
		want(t, iss, verdict(t, c, good(t, m{"iss": iss})), "unknown-issuer")
	}
	for _, aud := range []any{testAudience + "/", testAudience + " ", " " + testAudience, testAudience + ":443",
		testAudience + "\x00", "gateway.test", "*", "https://*", "https://gatewаy.test", // a Cyrillic letter
		[]string{testAudience + "," + testAudience}, []any{[]string{testAudience}}, []any{nil, testAudience},
		m{"0": testAudience}, true} {
		want(t, mustJSON(t, aud), verdict(t, c, good(t, m{"aud": aud})), "audience")
	}
	for name, value := range map[string]any{"exp": true, "nbf": m{}, "iat": []int{1}} {
		want(t, name, verdict(t, c, good(t, m{name: value})), "claims")
	}
}
