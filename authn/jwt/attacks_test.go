package jwt

import (
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

// Signatures that are numbers a careless verifier accepts, or other spellings of good
// ones.
func TestL25_SignatureForms(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, authntest.Standard())
	claims := authntest.ClaimsOf(nil)
	head := func(alg, kid string) M { return M{"alg": alg, "kid": kid} }
	ec := authntest.Sign(t, authntest.EcKey(), head("ES256", "ec"), claims)
	ed := authntest.Sign(t, authntest.EdKey(), head("EdDSA", "ed"), claims)
	rs := authntest.Sign(t, authntest.RsaKey(), head("RS256", "rsa"), claims)
	ps := authntest.Sign(t, authntest.RsaKey(), head("PS256", "rsa"), claims)
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
			return new(big.Int).Add(new(big.Int).SetBytes(s), authntest.RsaKey().N).Bytes()
		}, "signature"},
		{"zero in front", rs, func(s []byte) []byte { return append([]byte{0}, s...) }, "signature"},
		{"zero", rs, func(s []byte) []byte { return make([]byte, len(s)) }, "signature"},
		{"one", rs, func(s []byte) []byte { return append(make([]byte, len(s)-1), 1) }, "signature"},
		{"cut", rs, func(s []byte) []byte { return s[1:] }, "signature"},
		{"PSS as PKCS1", rs, func([]byte) []byte { return signatureOf(t, ps) }, "signature"},
	}
	for _, tt := range tests {
		input, _, _ := cutLast(tt.token)
		authntest.Want(t, tt.name, verdict(t, c, input+"."+authntest.Base64(tt.change(signatureOf(t, tt.token)))), tt.want)
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
	c := openIssuer(t, authntest.Standard())
	payload, err := json.Marshal(authntest.ClaimsOf(nil))
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
		authntest.Want(t, header, verdict(t, c, authntest.SignRaw(t, authntest.EcKey(), []byte(header), payload)), expected)
	}
	good := authntest.Good(t, nil)
	for name, value := range map[string]string{
		"blank behind": "Bearer " + good + " ", "tab": "Bearer\t" + good, "comma": "Bearer " + good + ",",
		"two": "Bearer " + good + " " + good, "quoted": `Bearer "` + good + `"`, "no scheme": good,
		"glued": "Bearer" + good, "colon": "Bearer: " + good,
	} {
		if p, err := c.Authenticate(authntest.Request("Authorization", value)); err == nil {
			t.Errorf("%s: accepted as %v", name, p)
		}
	}
}

// Names that look like ours, to people or to careless comparisons, are others'.
func TestL26_LookalikeNames(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, authntest.Standard())
	for _, iss := range []string{authntest.TestIssuer + ":443", authntest.TestIssuer + "/.", authntest.TestIssuer + "?", authntest.TestIssuer + "#",
		"https://idp.test@evil.test", "https://user@idp.test", "https://idp.test.evil.test", "http://idp.test",
		"https://%69dp.test", "https://idp\u200b.test", "https://ıdp.test", authntest.TestIssuer + "\x00", "\t" + authntest.TestIssuer} {
		authntest.Want(t, iss, verdict(t, c, authntest.Good(t, M{"iss": iss})), "unknown-issuer")
	}
	for _, aud := range []any{authntest.TestAudience + "/", authntest.TestAudience + " ", " " + authntest.TestAudience, authntest.TestAudience + ":443",
		authntest.TestAudience + "\x00", "gateway.test", "*", "https://*", "https://gatewаy.test", // a Cyrillic letter
		[]string{authntest.TestAudience + "," + authntest.TestAudience}, []any{[]string{authntest.TestAudience}}, []any{nil, authntest.TestAudience},
		M{"0": authntest.TestAudience}, true} {
		authntest.Want(t, mustJSON(t, aud), verdict(t, c, authntest.Good(t, M{"aud": aud})), "audience")
	}
	for name, value := range map[string]any{"exp": true, "nbf": M{}, "iat": []int{1}} {
		authntest.Want(t, name, verdict(t, c, authntest.Good(t, M{name: value})), "claims")
	}
}
