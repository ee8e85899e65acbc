package authn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/jws/jwstest"
)

// hs256 signs with an HMAC over whatever an attacker takes for the secret.
func hs256(header, payload string, secret []byte) string {
	input := b64([]byte(header)) + "." + b64([]byte(payload))
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(input))
	return input + "." + b64(m.Sum(nil))
}

// The playbook of tools that attack JWT verifiers. Each entry is a token that some
// verifier somewhere accepted.
func TestL25_AlgorithmConfusion(t *testing.T) {
	t.Parallel()
	claims := claimsOf(nil)
	payload, _ := json.Marshal(claims)
	der, _ := x509.MarshalPKIXPublicKey(rsaKey().Public())
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	jwkJSON, _ := json.Marshal(jwk("rsa", "", rsaKey()))
	head := func(more map[string]any) map[string]any {
		h := map[string]any{"alg": "ES256", "kid": "ec", "typ": "at+jwt"}
		for k, v := range more {
			h[k] = v
		}
		return h
	}
	attacker, _ := ecdsa.GenerateKey(ecKey().Curve, rand.Reader)
	ownKey := jwk("ec", "ES256", attacker)
	goodToken := good(t, nil)
	input, sig, _ := cutLast(goodToken)
	otherInput, _, _ := cutLast(good(t, map[string]any{"sub": "root"}))

	tests := []struct{ name, token, want string }{
		{"control", goodToken, "ok"},
		{"alg none, no signature", b64([]byte(`{"alg":"none"}`)) + "." + b64(payload) + ".", "malformed"},
		{"alg none, some signature", sign(t, []byte("x"), head(map[string]any{"alg": "none"}), claims),
			"algorithm"},
		{"alg None", sign(t, []byte("x"), head(map[string]any{"alg": "None"}), claims), "algorithm"},
		{"alg nOnE", sign(t, []byte("x"), head(map[string]any{"alg": "nOnE"}), claims), "algorithm"},
		{"alg empty", sign(t, ecKey(), head(map[string]any{"alg": ""}), claims), "algorithm"},
		{"alg absent", sign(t, ecKey(), map[string]any{"kid": "ec"}, claims), "algorithm"},
		{"alg lower case", sign(t, ecKey(), head(map[string]any{"alg": "es256"}), claims), "algorithm"},
		{"alg a number", sign(t, ecKey(), head(map[string]any{"alg": 256}), claims), "malformed"},
		{"alg a list", sign(t, ecKey(), head(map[string]any{"alg": []string{"ES256"}}), claims), "malformed"},
		{"alg null", sign(t, ecKey(), head(map[string]any{"alg": nil}), claims), "malformed"},
		{"HS256 with the public key as PEM", hs256(`{"alg":"HS256","kid":"rsa"}`, string(payload), public),
			"algorithm"},
		{"HS256 with the public key as DER", hs256(`{"alg":"HS256","kid":"rsa"}`, string(payload), der),
			"algorithm"},
		{"HS256 with the public key as JWK", hs256(`{"alg":"HS256","kid":"rsa"}`, string(payload), jwkJSON),
			"algorithm"},
		{"HS256 with an empty secret", hs256(`{"alg":"HS256","kid":"rsa"}`, string(payload), nil), "algorithm"},
		{"RS256 header, HMAC signature", hs256(`{"alg":"RS256","kid":"rsa"}`, string(payload), public),
			"signature"},
		{"RS256 naming the EC key", sign(t, rsaKey(), head(map[string]any{"alg": "RS256"}), claims), "algorithm"},
		{"ES256 naming the RSA key", sign(t, ecKey(), head(map[string]any{"kid": "rsa"}), claims), "algorithm"},
		{"EdDSA naming the EC key", sign(t, edKey(), head(map[string]any{"alg": "EdDSA"}), claims), "algorithm"},
		{"ES384 with a P-256 key", sign(t, ecKey(), head(map[string]any{"alg": "ES384"}), claims), "algorithm"},
		{"RS384, not configured", sign(t, rsaKey(), head(map[string]any{"alg": "RS384", "kid": "rsa"}), claims),
			"algorithm"},
		{"another key under the kid", sign(t, attacker, head(nil), claims), "signature"},
		{"embedded jwk", sign(t, attacker, head(map[string]any{"jwk": ownKey}), claims), "forbidden-header"},
		{"embedded jwk, no kid", sign(t, attacker, map[string]any{"alg": "ES256", "jwk": ownKey}, claims),
			"forbidden-header"},
		{"JWK in capitals", sign(t, attacker, head(map[string]any{"JWK": ownKey}), claims), "forbidden-header"},
		{"jku", sign(t, attacker, head(map[string]any{"jku": "https://evil.test/jwks"}), claims),
			"forbidden-header"},
		{"jku of the issuer", sign(t, ecKey(), head(map[string]any{"jku": testIssuer + "/jwks"}), claims),
			"forbidden-header"},
		{"x5u", sign(t, attacker, head(map[string]any{"x5u": "https://evil.test/c"}), claims), "forbidden-header"},
		{"x5c", sign(t, attacker, head(map[string]any{"x5c": []string{"AA=="}}), claims), "forbidden-header"},
		{"crit", sign(t, ecKey(), head(map[string]any{"crit": []string{"exp"}, "exp": 1}), claims),
			"forbidden-header"},
		{"crit empty", sign(t, ecKey(), head(map[string]any{"crit": []string{}}), claims), "forbidden-header"},
		{"b64 false", sign(t, ecKey(), head(map[string]any{"b64": false}), claims), "forbidden-header"},
		{"zip", sign(t, ecKey(), head(map[string]any{"zip": "DEF"}), claims), "forbidden-header"},
		{"enc", sign(t, ecKey(), head(map[string]any{"enc": "A256GCM"}), claims), "forbidden-header"},
		{"Alg beside alg", sign(t, ecKey(), head(map[string]any{"Alg": "none"}), claims), "forbidden-header"},
		{"alg twice", signRaw(t, ecKey(), []byte(`{"alg":"none","kid":"ec","alg":"ES256"}`), payload), "malformed"},
		{"alg twice, escaped", signRaw(t, ecKey(), []byte(`{"\u0061lg":"none","kid":"ec","alg":"ES256"}`),
			payload), "malformed"},
		{"kid path", sign(t, []byte{}, head(map[string]any{"kid": "../../../dev/null"}), claims), "malformed"},
		{"kid path, signed", sign(t, ecKey(), head(map[string]any{"kid": "../../../dev/null"}), claims),
			"unknown-key"},
		{"kid SQL", sign(t, ecKey(), head(map[string]any{"kid": "x' UNION SELECT 'k'--"}), claims), "unknown-key"},
		{"kid shell", sign(t, ecKey(), head(map[string]any{"kid": "ec|/usr/bin/id"}), claims), "unknown-key"},
		{"kid of another case", sign(t, ecKey(), head(map[string]any{"kid": "EC"}), claims), "unknown-key"},
		{"kid with NUL", sign(t, ecKey(), head(map[string]any{"kid": "ec\x00"}), claims), "unknown-key"},
		{"kid too long", sign(t, ecKey(), head(map[string]any{"kid": strings.Repeat("k", 257)}), claims),
			"malformed"},
		{"kid an object", sign(t, ecKey(), head(map[string]any{"kid": map[string]any{"$ne": ""}}), claims),
			"malformed"},
		{"no kid, one key fits", sign(t, ecKey(), map[string]any{"alg": "ES256"}, claims), "ok"},
		{"typ logout", sign(t, ecKey(), head(map[string]any{"typ": "logout+jwt"}), claims), "token-type"},
		{"typ dpop", sign(t, ecKey(), head(map[string]any{"typ": "dpop+jwt"}), claims), "token-type"},
		{"typ JOSE", sign(t, ecKey(), head(map[string]any{"typ": "JOSE"}), claims), "token-type"},
		{"typ a number", sign(t, ecKey(), head(map[string]any{"typ": 1}), claims), "malformed"},
		{"typ JWT", sign(t, ecKey(), head(map[string]any{"typ": "JWT"}), claims), "ok"},
		{"typ absent", sign(t, ecKey(), map[string]any{"alg": "ES256", "kid": "ec"}, claims), "ok"},
		{"typ application/at+jwt", sign(t, ecKey(), head(map[string]any{"typ": "application/AT+JWT"}), claims),
			"ok"},
		{"RS256", sign(t, rsaKey(), head(map[string]any{"alg": "RS256", "kid": "rsa"}), claims), "ok"},
		{"PS256", sign(t, rsaKey(), head(map[string]any{"alg": "PS256", "kid": "rsa"}), claims), "ok"},
		{"PS256, PKCS1 signature", psHeaderWithPKCS1(t, claims), "signature"},
		{"PS256, salt of no bytes", pssSalt(t, claims, 0), "signature"},
		{"PS256, salt of 64 bytes", pssSalt(t, claims, 64), "signature"},
		{"EdDSA", sign(t, edKey(), head(map[string]any{"alg": "EdDSA", "kid": "ed"}), claims), "ok"},
		{"signature of another token", otherInput + "." + sig, "signature"},
		{"signature zero", input + "." + b64(make([]byte, 64)), "signature"},
		{"signature as ASN.1", asn1Signature(t, claims), "signature"},
		{"signature shortened", input + "." + b64([]byte("short")), "signature"},
		{"signature absent", input + ".", "malformed"},
		{"signature padded", goodToken + "=", "malformed"},
		{"line break inside", goodToken[:40] + "\n" + goodToken[40:], "malformed"},
		{"blank inside", goodToken[:40] + " " + goodToken[40:], "malformed"},
		{"unused bits set", setUnusedBits(goodToken), "malformed"},
		{"standard base64", strings.ReplaceAll(input, "_", "/") + "." + "++//" + sig[4:], "malformed"},
		{"two parts", input, "malformed"},
		{"four parts", goodToken + ".AA", "malformed"},
		{"JWE", "e30.AA.AA.AA.AA", "malformed"},
		{"JSON serialization", `{"payload":"` + b64(payload) + `","signatures":[]}`, "malformed"},
		{"empty", "", "malformed"},
		{"dots", "..", "malformed"},
		{"too long", goodToken + strings.Repeat("A", usualToken), "too-long"},
		{"nested token", sign(t, ecKey(), head(map[string]any{"cty": "JWT"}), claims), "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := authenticate(t, openIssuer(t, standard()), tt.token)
			if got := faultOf(err); got != tt.want {
				t.Errorf("got %s (%v), want %s", got, err, tt.want)
			}
		})
	}
}

func cutLast(token string) (input, sig string, ok bool) {
	i := strings.LastIndexByte(token, '.')
	return token[:i], token[i+1:], i > 0
}

// setUnusedBits spells the same signature bytes differently: 64 bytes leave four
// bits of the last character unused.
func setUnusedBits(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + alphabet[last|1:last|1+1]
}

func psHeaderWithPKCS1(t *testing.T, claims map[string]any) string {
	t.Helper()
	payload, _ := json.Marshal(claims)
	input := b64([]byte(`{"alg":"PS256","kid":"rsa"}`)) + "." + b64(payload)
	sum := sha256.Sum256([]byte(input))
	sig, err := rsa.SignPKCS1v15(rand.Reader, rsaKey(), crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + b64(sig)
}

func pssSalt(t *testing.T, claims map[string]any, salt int) string {
	t.Helper()
	payload, _ := json.Marshal(claims)
	input := b64([]byte(`{"alg":"PS256","kid":"rsa"}`)) + "." + b64(payload)
	sum := sha256.Sum256([]byte(input))
	k := rsaKey()
	opts := &rsa.PSSOptions{SaltLength: salt}
	if salt == 0 {
		// Zero means automatic to the signer, so an empty salt is made by hand.
		sig := rawRSA(k, emptySaltPSS(sum[:], k.N.BitLen()-1))
		if err := rsa.VerifyPSS(&k.PublicKey, crypto.SHA256, sum[:], sig, nil); err != nil {
			t.Fatalf("a lenient verifier should accept it: %v", err)
		}
		return input + "." + b64(sig)
	}
	sig, err := rsa.SignPSS(rand.Reader, k, crypto.SHA256, sum[:], opts)
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + b64(sig)
}

func asn1Signature(t *testing.T, claims map[string]any) string {
	t.Helper()
	payload, _ := json.Marshal(claims)
	input := b64([]byte(`{"alg":"ES256","kid":"ec"}`)) + "." + b64(payload)
	sum := sha256.Sum256([]byte(input))
	sig, err := ecdsa.SignASN1(rand.Reader, ecKey(), sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + b64(sig)
}

// Whatever precheck accepts has one spelling and is read the same way by the JOSE
// libraries of agents that it is passed on to.
func FuzzPrecheck(f *testing.F) {
	f.Add(good(f, nil))
	f.Add(sign(f, rsaKey(), map[string]any{"alg": "RS256", "kid": "rsa"}, claimsOf(nil)))
	for _, s := range []string{"", "..", "e30.e30.AA", "a.b.c.d.e", b64([]byte(`{"alg":"ES256"}`)) + ".e30.AA",
		b64([]byte(`{"alg":"ES256","crit":[]}`)) + ".e30.AA",
		b64([]byte(`{"alg":"ES256","\u0061lg":"none"}`)) + ".e30.AA",
		b64([]byte(`{"alg":"ES256"}`)) + "." + b64([]byte(`{"a":[[[[]]]]}`)) + ".AA"} {
		f.Add(s)
	}
	vectors, err := jwstest.Vectors()
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range vectors {
		token, err := v.Compact(jwstest.Base{
			Now: time.Now(), Header: m{"alg": "ES256", "kid": "ec"}, Claims: claimsOf(nil),
			Words: m{"listed": []string{"a"}, "among": []string{"a", "b"}, "longer": "a", "shorter": "", "aud": "a"},
		})
		if err != nil {
			f.Fatal(err)
		}
		if len(token) < 2<<10 {
			f.Add(token)
		}
	}
	f.Fuzz(func(t *testing.T, raw string) {
		tok, err := precheck(raw)
		if err != nil {
			var r *Refused
			if !errors.As(err, &r) || r.Reason == "" || strings.ContainsAny(r.Reason, "\"\r\n") {
				t.Fatalf("error is no clean refusal: %v", err)
			}
			return
		}
		if tok.signed+"."+b64(tok.signature) != raw {
			t.Fatalf("token has another spelling: %q", raw)
		}
		jws, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(tok.alg)})
		if err != nil {
			t.Fatalf("library reads it otherwise: %v", err)
		}
		h := jws.Signatures[0].Header
		if h.KeyID != tok.kid || h.JSONWebKey != nil ||
			string(jws.UnsafePayloadWithoutVerification()) != string(tok.payload) {
			t.Fatalf("library reads other content: %+v", h)
		}
		if _, ok := profile.Lookup(tok.alg); !ok {
			t.Fatalf("algorithm %q got through", tok.alg)
		}
	})
}

// Nothing of an unverifiable token reaches the issuer. One for another audience alone may have its
// keys loaded, as TestL26_OnlyTheAudienceIsTold has it: once, whatever key it names.
func TestPrecheckIsOffline(t *testing.T) {
	t.Parallel()
	i := standard()
	c := openIssuer(t, i)
	for _, token := range []string{"", "a.b.c", sign(t, ecKey(), map[string]any{"alg": "none"}, claimsOf(nil)),
		good(t, map[string]any{"aud": "other", "exp": 1}), good(t, map[string]any{"exp": 1}), good(t,
			map[string]any{"iss": "https://evil.test"})} {
		if _, err := authenticate(t, c, token); err == nil {
			t.Errorf("accepted %q", token)
		}
	}
	if n := i.jwks.Load() + i.metadata.Load(); n != 0 {
		t.Errorf("%d fetches for tokens that are not for us", n)
	}
}

// The header that is remembered is one that was verified, and only its very bytes are
// spared another look.
func TestRememberedHeader(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, standard())
	held := func() string {
		if h := TokensOf(c).last.Load(); h != nil {
			return h.part
		}
		return "none"
	}
	claims := claimsOf(nil)
	first, _, _ := strings.Cut(good(t, nil), ".")
	want(t, "forged first", verdict(t, c, good(t, nil)[:40]+"."+b64([]byte("{}"))+".AA"), "malformed")
	want(t, "held", held(), "none")
	want(t, "good", verdict(t, c, good(t, nil)), "ok")
	want(t, "held", held(), first)
	want(t, "the same header, no signature", verdict(t, c, good(t, nil)+"AAAA"), "signature")
	want(t, "another typ", verdict(t, c, sign(t, ecKey(), m{"alg": "ES256", "kid": "ec", "typ": "JOSE"}, claims)), "token-type")
	want(t, "another alg", verdict(t, c, sign(t, ecKey(), m{"alg": "none", "kid": "ec", "typ": "at+jwt"}, claims)), "algorithm")
	want(t, "another kid", verdict(t, c, sign(t, ecKey(), m{"alg": "ES256", "kid": "x", "typ": "at+jwt"}, claims)), "unknown-key")
	want(t, "held", held(), first)
	want(t, "another key", verdict(t, c, sign(t, edKey(), m{"alg": "EdDSA", "kid": "ed"}, claims)), "ok")
	want(t, "held", held(), b64([]byte(`{"alg":"EdDSA","kid":"ed"}`)))
	want(t, "the first again", verdict(t, c, good(t, m{"sub": "bob"})), "ok")
}
