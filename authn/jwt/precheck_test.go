package jwt

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

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/jws/jwstest"
)

// hs256 signs with an HMAC over whatever an attacker takes for the secret.
func hs256(header, payload string, secret []byte) string {
	input := authntest.Base64([]byte(header)) + "." + authntest.Base64([]byte(payload))
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(input))
	return input + "." + authntest.Base64(m.Sum(nil))
}

// The playbook of tools that attack JWT verifiers. Each entry is a token that some
// verifier somewhere accepted.
func TestL25_AlgorithmConfusion(t *testing.T) {
	t.Parallel()
	claims := authntest.ClaimsOf(nil)
	payload, _ := json.Marshal(claims)
	der, _ := x509.MarshalPKIXPublicKey(authntest.RsaKey().Public())
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	jwkJSON, _ := json.Marshal(authntest.JWK("rsa", "", authntest.RsaKey()))
	head := func(more map[string]any) map[string]any {
		h := map[string]any{"alg": "ES256", "kid": "ec", "typ": "at+jwt"}
		for k, v := range more {
			h[k] = v
		}
		return h
	}
	attacker, _ := ecdsa.GenerateKey(authntest.EcKey().Curve, rand.Reader)
	ownKey := authntest.JWK("ec", "ES256", attacker)
	goodToken := authntest.Good(t, nil)
	input, sig, _ := cutLast(goodToken)
	otherInput, _, _ := cutLast(authntest.Good(t, map[string]any{"sub": "root"}))

	tests := []struct{ name, token, want string }{
		{"control", goodToken, "ok"},
		{"alg none, no signature", authntest.Base64([]byte(`{"alg":"none"}`)) + "." + authntest.Base64(payload) + ".", "malformed"},
		{"alg none, some signature", authntest.Sign(t, []byte("x"), head(map[string]any{"alg": "none"}), claims),
			"algorithm"},
		{"alg None", authntest.Sign(t, []byte("x"), head(map[string]any{"alg": "None"}), claims), "algorithm"},
		{"alg nOnE", authntest.Sign(t, []byte("x"), head(map[string]any{"alg": "nOnE"}), claims), "algorithm"},
		{"alg empty", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"alg": ""}), claims), "algorithm"},
		{"alg absent", authntest.Sign(t, authntest.EcKey(), map[string]any{"kid": "ec"}, claims), "algorithm"},
		{"alg lower case", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"alg": "es256"}), claims), "algorithm"},
		{"alg a number", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"alg": 256}), claims), "malformed"},
		{"alg a list", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"alg": []string{"ES256"}}), claims), "malformed"},
		{"alg null", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"alg": nil}), claims), "malformed"},
		{"HS256 with the public key as PEM", hs256(`{"alg":"HS256","kid":"rsa"}`, string(payload), public),
			"algorithm"},
		{"HS256 with the public key as DER", hs256(`{"alg":"HS256","kid":"rsa"}`, string(payload), der),
			"algorithm"},
		{"HS256 with the public key as JWK", hs256(`{"alg":"HS256","kid":"rsa"}`, string(payload), jwkJSON),
			"algorithm"},
		{"HS256 with an empty secret", hs256(`{"alg":"HS256","kid":"rsa"}`, string(payload), nil), "algorithm"},
		{"RS256 header, HMAC signature", hs256(`{"alg":"RS256","kid":"rsa"}`, string(payload), public),
			"signature"},
		{"RS256 naming the EC key", authntest.Sign(t, authntest.RsaKey(), head(map[string]any{"alg": "RS256"}), claims), "algorithm"},
		{"ES256 naming the RSA key", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"kid": "rsa"}), claims), "algorithm"},
		{"EdDSA naming the EC key", authntest.Sign(t, authntest.EdKey(), head(map[string]any{"alg": "EdDSA"}), claims), "algorithm"},
		{"ES384 with a P-256 key", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"alg": "ES384"}), claims), "algorithm"},
		{"RS384, not configured", authntest.Sign(t, authntest.RsaKey(), head(map[string]any{"alg": "RS384", "kid": "rsa"}), claims),
			"algorithm"},
		{"another key under the kid", authntest.Sign(t, attacker, head(nil), claims), "signature"},
		{"embedded jwk", authntest.Sign(t, attacker, head(map[string]any{"jwk": ownKey}), claims), "forbidden-header"},
		{"embedded jwk, no kid", authntest.Sign(t, attacker, map[string]any{"alg": "ES256", "jwk": ownKey}, claims),
			"forbidden-header"},
		{"JWK in capitals", authntest.Sign(t, attacker, head(map[string]any{"JWK": ownKey}), claims), "forbidden-header"},
		{"jku", authntest.Sign(t, attacker, head(map[string]any{"jku": "https://evil.test/jwks"}), claims),
			"forbidden-header"},
		{"jku of the issuer", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"jku": authntest.TestIssuer + "/jwks"}), claims),
			"forbidden-header"},
		{"x5u", authntest.Sign(t, attacker, head(map[string]any{"x5u": "https://evil.test/c"}), claims), "forbidden-header"},
		{"x5c", authntest.Sign(t, attacker, head(map[string]any{"x5c": []string{"AA=="}}), claims), "forbidden-header"},
		{"crit", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"crit": []string{"exp"}, "exp": 1}), claims),
			"forbidden-header"},
		{"crit empty", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"crit": []string{}}), claims), "forbidden-header"},
		{"b64 false", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"b64": false}), claims), "forbidden-header"},
		{"zip", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"zip": "DEF"}), claims), "forbidden-header"},
		{"enc", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"enc": "A256GCM"}), claims), "forbidden-header"},
		{"Alg beside alg", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"Alg": "none"}), claims), "forbidden-header"},
		{"alg twice", authntest.SignRaw(t, authntest.EcKey(), []byte(`{"alg":"none","kid":"ec","alg":"ES256"}`), payload), "malformed"},
		{"alg twice, escaped", authntest.SignRaw(t, authntest.EcKey(), []byte(`{"\u0061lg":"none","kid":"ec","alg":"ES256"}`),
			payload), "malformed"},
		{"kid path", authntest.Sign(t, []byte{}, head(map[string]any{"kid": "../../../dev/null"}), claims), "malformed"},
		{"kid path, signed", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"kid": "../../../dev/null"}), claims),
			"unknown-key"},
		{"kid SQL", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"kid": "x' UNION SELECT 'k'--"}), claims), "unknown-key"},
		{"kid shell", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"kid": "ec|/usr/bin/id"}), claims), "unknown-key"},
		{"kid of another case", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"kid": "EC"}), claims), "unknown-key"},
		{"kid with NUL", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"kid": "ec\x00"}), claims), "unknown-key"},
		{"kid too long", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"kid": strings.Repeat("k", 257)}), claims),
			"malformed"},
		{"kid an object", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"kid": map[string]any{"$ne": ""}}), claims),
			"malformed"},
		{"no kid, one key fits", authntest.Sign(t, authntest.EcKey(), map[string]any{"alg": "ES256"}, claims), "ok"},
		{"typ logout", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"typ": "logout+jwt"}), claims), "token-type"},
		{"typ dpop", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"typ": "dpop+jwt"}), claims), "token-type"},
		{"typ JOSE", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"typ": "JOSE"}), claims), "token-type"},
		{"typ a number", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"typ": 1}), claims), "malformed"},
		{"typ JWT", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"typ": "JWT"}), claims), "ok"},
		{"typ absent", authntest.Sign(t, authntest.EcKey(), map[string]any{"alg": "ES256", "kid": "ec"}, claims), "ok"},
		{"typ application/at+jwt", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"typ": "application/AT+JWT"}), claims),
			"ok"},
		{"RS256", authntest.Sign(t, authntest.RsaKey(), head(map[string]any{"alg": "RS256", "kid": "rsa"}), claims), "ok"},
		{"PS256", authntest.Sign(t, authntest.RsaKey(), head(map[string]any{"alg": "PS256", "kid": "rsa"}), claims), "ok"},
		{"PS256, PKCS1 signature", psHeaderWithPKCS1(t, claims), "signature"},
		{"PS256, salt of no bytes", pssSalt(t, claims, 0), "signature"},
		{"PS256, salt of 64 bytes", pssSalt(t, claims, 64), "signature"},
		{"EdDSA", authntest.Sign(t, authntest.EdKey(), head(map[string]any{"alg": "EdDSA", "kid": "ed"}), claims), "ok"},
		{"signature of another token", otherInput + "." + sig, "signature"},
		{"signature zero", input + "." + authntest.Base64(make([]byte, 64)), "signature"},
		{"signature as ASN.1", asn1Signature(t, claims), "signature"},
		{"signature shortened", input + "." + authntest.Base64([]byte("short")), "signature"},
		{"signature absent", input + ".", "malformed"},
		{"signature padded", goodToken + "=", "malformed"},
		{"line break inside", goodToken[:40] + "\n" + goodToken[40:], "malformed"},
		{"blank inside", goodToken[:40] + " " + goodToken[40:], "malformed"},
		{"unused bits set", setUnusedBits(goodToken), "malformed"},
		{"standard base64", strings.ReplaceAll(input, "_", "/") + "." + "++//" + sig[4:], "malformed"},
		{"two parts", input, "malformed"},
		{"four parts", goodToken + ".AA", "malformed"},
		{"JWE", "e30.AA.AA.AA.AA", "malformed"},
		{"JSON serialization", `{"payload":"` + authntest.Base64(payload) + `","signatures":[]}`, "malformed"},
		{"empty", "", "malformed"},
		{"dots", "..", "malformed"},
		{"too long", goodToken + strings.Repeat("A", int(authn.Limits{}.TokenBytes())), "too-long"},
		{"nested token", authntest.Sign(t, authntest.EcKey(), head(map[string]any{"cty": "JWT"}), claims), "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := authenticate(t, openIssuer(t, authntest.Standard()), tt.token)
			if got := authntest.FaultOf(err); got != tt.want {
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
	input := authntest.Base64([]byte(`{"alg":"PS256","kid":"rsa"}`)) + "." + authntest.Base64(payload)
	sum := sha256.Sum256([]byte(input))
	sig, err := rsa.SignPKCS1v15(rand.Reader, authntest.RsaKey(), crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + authntest.Base64(sig)
}

func pssSalt(t *testing.T, claims map[string]any, salt int) string {
	t.Helper()
	payload, _ := json.Marshal(claims)
	input := authntest.Base64([]byte(`{"alg":"PS256","kid":"rsa"}`)) + "." + authntest.Base64(payload)
	sum := sha256.Sum256([]byte(input))
	k := authntest.RsaKey()
	opts := &rsa.PSSOptions{SaltLength: salt}
	if salt == 0 {
		// Zero means automatic to the signer, so an empty salt is made by hand.
		sig := rawRSA(k, emptySaltPSS(sum[:], k.N.BitLen()-1))
		if err := rsa.VerifyPSS(&k.PublicKey, crypto.SHA256, sum[:], sig, nil); err != nil {
			t.Fatalf("a lenient verifier should accept it: %v", err)
		}
		return input + "." + authntest.Base64(sig)
	}
	sig, err := rsa.SignPSS(rand.Reader, k, crypto.SHA256, sum[:], opts)
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + authntest.Base64(sig)
}

func asn1Signature(t *testing.T, claims map[string]any) string {
	t.Helper()
	payload, _ := json.Marshal(claims)
	input := authntest.Base64([]byte(`{"alg":"ES256","kid":"ec"}`)) + "." + authntest.Base64(payload)
	sum := sha256.Sum256([]byte(input))
	sig, err := ecdsa.SignASN1(rand.Reader, authntest.EcKey(), sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + authntest.Base64(sig)
}

// Whatever precheck accepts has one spelling and is read the same way by the JOSE
// libraries of agents that it is passed on to.
func FuzzPrecheck(f *testing.F) {
	f.Add(authntest.Good(f, nil))
	f.Add(authntest.Sign(f, authntest.RsaKey(), map[string]any{"alg": "RS256", "kid": "rsa"}, authntest.ClaimsOf(nil)))
	for _, s := range []string{"", "..", "e30.e30.AA", "a.b.c.d.e", authntest.Base64([]byte(`{"alg":"ES256"}`)) + ".e30.AA",
		authntest.Base64([]byte(`{"alg":"ES256","crit":[]}`)) + ".e30.AA",
		authntest.Base64([]byte(`{"alg":"ES256","\u0061lg":"none"}`)) + ".e30.AA",
		authntest.Base64([]byte(`{"alg":"ES256"}`)) + "." + authntest.Base64([]byte(`{"a":[[[[]]]]}`)) + ".AA"} {
		f.Add(s)
	}
	vectors, err := jwstest.Vectors()
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range vectors {
		token, err := v.Compact(jwstest.Base{
			Now: time.Now(), Header: M{"alg": "ES256", "kid": "ec"}, Claims: authntest.ClaimsOf(nil),
			Words: M{"listed": []string{"a"}, "among": []string{"a", "b"}, "longer": "a", "shorter": "", "aud": "a"},
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
			var r *authn.Refused
			if !errors.As(err, &r) || r.Reason == "" || strings.ContainsAny(r.Reason, "\"\r\n") {
				t.Fatalf("error is no clean refusal: %v", err)
			}
			return
		}
		if tok.signed+"."+authntest.Base64(tok.signature) != raw {
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
		if _, ok := authn.Signatures.Lookup(tok.alg); !ok {
			t.Fatalf("algorithm %q got through", tok.alg)
		}
	})
}

// Nothing of an unverifiable token reaches the issuer. One for another audience alone may have its
// keys loaded, as TestL26_OnlyTheAudienceIsTold has it: once, whatever key it names.
func TestPrecheckIsOffline(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	c := openIssuer(t, i)
	for _, token := range []string{"", "a.b.c", authntest.Sign(t, authntest.EcKey(), map[string]any{"alg": "none"}, authntest.ClaimsOf(nil)),
		authntest.Good(t, map[string]any{"aud": "other", "exp": 1}), authntest.Good(t, map[string]any{"exp": 1}), authntest.Good(t,
			map[string]any{"iss": "https://evil.test"})} {
		if _, err := authenticate(t, c, token); err == nil {
			t.Errorf("accepted %q", token)
		}
	}
	if n := i.Jwks.Load() + i.Metadata.Load(); n != 0 {
		t.Errorf("%d fetches for tokens that are not for us", n)
	}
}

// The header that is remembered is one that was verified, and only its very bytes are
// spared another look.
func TestRememberedHeader(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, authntest.Standard())
	held := func() string {
		if h := From(c).last.Load(); h != nil {
			return h.part
		}
		return "none"
	}
	claims := authntest.ClaimsOf(nil)
	first, _, _ := strings.Cut(authntest.Good(t, nil), ".")
	authntest.Want(t, "forged first", verdict(t, c, authntest.Good(t, nil)[:40]+"."+authntest.Base64([]byte("{}"))+".AA"), "malformed")
	authntest.Want(t, "held", held(), "none")
	authntest.Want(t, "good", verdict(t, c, authntest.Good(t, nil)), "ok")
	authntest.Want(t, "held", held(), first)
	authntest.Want(t, "the same header, no signature", verdict(t, c, authntest.Good(t, nil)+"AAAA"), "signature")
	authntest.Want(t, "another typ", verdict(t, c, authntest.Sign(t, authntest.EcKey(), M{"alg": "ES256", "kid": "ec", "typ": "JOSE"}, claims)), "token-type")
	authntest.Want(t, "another alg", verdict(t, c, authntest.Sign(t, authntest.EcKey(), M{"alg": "none", "kid": "ec", "typ": "at+jwt"}, claims)), "algorithm")
	authntest.Want(t, "another kid", verdict(t, c, authntest.Sign(t, authntest.EcKey(), M{"alg": "ES256", "kid": "x", "typ": "at+jwt"}, claims)), "unknown-key")
	authntest.Want(t, "held", held(), first)
	authntest.Want(t, "another key", verdict(t, c, authntest.Sign(t, authntest.EdKey(), M{"alg": "EdDSA", "kid": "ed"}, claims)), "ok")
	authntest.Want(t, "held", held(), authntest.Base64([]byte(`{"alg":"EdDSA","kid":"ed"}`)))
	authntest.Want(t, "the first again", verdict(t, c, authntest.Good(t, M{"sub": "bob"})), "ok")
}
