package dpop

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

func secs(n int) quantity.Duration { return quantity.Duration(time.Duration(n) * time.Second) }

func openProver(cfg Config, now func() time.Time) *Prover {
	o := Options{Now: now}
	return New(cfg, &o, nil)
}

func TestDPoPProofs(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	now := time.Now()
	at := func(d time.Duration) m { return m{"iat": now.Add(d).Unix()} }
	stranger, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	weak := &rsa.PublicKey{N: authntest.RsaKey().N, E: 2}
	public := func(change m) m {
		k := authntest.PublicMembers(t, authntest.ProofKey().Public())
		maps.Copy(k, change)
		maps.DeleteFunc(k, func(_ string, v any) bool { return v == nil })
		return m{"jwk": k}
	}
	proof := func(header, claims m) string { return authntest.ProofOf(t, header, claims) }
	good := proof(nil, nil)
	head, rest, _ := strings.Cut(good, ".")
	payload, sig, _ := strings.Cut(rest, ".")
	raw := func(header, payload string) string {
		return authntest.SignRaw(t, authntest.ProofKey(), []byte(header), []byte(payload))
	}
	headerJSON, _ := json.Marshal(authntest.ProofParams(t, nil))
	claimsJSON, _ := json.Marshal(authntest.ProofClaims(nil))
	inside := func(doc []byte, more string) string { return "{" + more + "," + string(doc[1:]) }

	tests := []struct{ name, proof, want string }{
		{"control", good, "ok"},
		{"typ in capitals", proof(m{"typ": "DPoP+JWT"}, nil), "ok"},
		{"kid and x5t beside the key", proof(m{"kid": "a", "x5t": "b"}, nil), "ok"},
		{"unknown claims", proof(nil, m{"cnf": m{"a": 1}, "sub": "x"}), "ok"},

		// RFC 9449 §4.3 number 2: a well-formed JWT.
		{"empty", "", "dpop-proof"},
		{"two parts", head + "." + payload, "dpop-proof"},
		{"five parts", good + ".a.b", "dpop-proof"},
		{"two proofs in one line", good + ", " + proof(nil, nil), "dpop-proof"},
		{"padding", good + "=", "dpop-proof"},
		{"too long", proof(nil, m{"pad": strings.Repeat("a", maxProof)}), "dpop-proof"},
		{"header no object", raw(`["ES256"]`, string(claimsJSON)), "dpop-proof"},
		{"payload no object", raw(string(headerJSON), `[1]`), "dpop-proof"},
		{"header member twice", raw(inside(headerJSON, `"alg":"ES256"`), string(claimsJSON)), "dpop-proof"},
		{"claim twice", raw(string(headerJSON), inside(claimsJSON, `"htm":"POST"`)), "dpop-proof"},
		{"jwk member twice", raw(strings.Replace(string(headerJSON), `"kty":"EC"`, `"kty":"EC","kty":"EC"`, 1),
			string(claimsJSON)), "dpop-proof"},
		{"invalid UTF-8", raw(string(headerJSON), inside(claimsJSON, "\"a\":\"\xff\"")), "dpop-proof"},
		{"nested absurdly", proof(nil, m{"a": json.RawMessage(strings.Repeat("[", 40) + strings.Repeat("]", 40))}), "dpop-proof"},

		// Number 3: all claims are there, in their shape.
		{"no jti", proof(nil, m{"jti": nil}), "dpop-proof"},
		{"empty jti", proof(nil, m{"jti": ""}), "dpop-proof"},
		{"jti a number", proof(nil, m{"jti": 1}), "dpop-proof"},
		{"jti of 256", proof(nil, m{"jti": strings.Repeat("j", 256)}), "ok"},
		{"jti of 257", proof(nil, m{"jti": strings.Repeat("j", 257)}), "dpop-proof"},
		{"no htm", proof(nil, m{"htm": nil}), "dpop-proof"},
		{"no htu", proof(nil, m{"htu": nil}), "dpop-proof"},
		{"htu a list", proof(nil, m{"htu": []string{"https://gateway.test/agents/billing"}}), "dpop-proof"},
		{"no iat", proof(nil, m{"iat": nil}), "dpop-proof"},
		{"iat a string", proof(nil, m{"iat": "now"}), "dpop-proof"},
		{"iat negative", proof(nil, m{"iat": -1}), "dpop-proof"},
		{"no ath", proof(nil, m{"ath": nil}), "dpop-proof"},
		{"nonce a number", proof(nil, m{"nonce": 1}), "dpop-proof"},
		{"nonce nobody asked for", proof(nil, m{"nonce": "x"}), "ok"},

		// Number 4 and 5: typ and alg.
		{"no typ", proof(m{"typ": nil}, nil), "dpop-proof"},
		{"typ JWT", proof(m{"typ": "JWT"}, nil), "dpop-proof"},
		{"typ at+jwt", proof(m{"typ": "at+jwt"}, nil), "dpop-proof"},
		{"typ a number", proof(m{"typ": 1}, nil), "dpop-proof"},
		{"no alg", proof(m{"alg": nil}, nil), "dpop-proof"},
		{"alg none", head[:0] + authntest.Base64([]byte(`{"typ":"dpop+jwt","alg":"none"}`)) + "." + payload + ".AA", "dpop-proof"},
		{"alg lower case", proof(m{"alg": "es256"}, nil), "dpop-proof"},
		{"alg of another kind", proof(m{"alg": "RS256"}, nil), "dpop-proof"},
		{"alg of another curve", proof(m{"alg": "ES384"}, nil), "dpop-proof"},
		{"HS256", proof(m{"alg": "HS256", "jwk": m{"kty": "oct", "k": "AAAA"}}, nil), "dpop-proof"},
		{"crit", proof(m{"crit": []string{"b64"}}, nil), "dpop-proof"},
		{"b64", proof(m{"b64": false}, nil), "dpop-proof"},
		{"jku", proof(m{"jku": "https://evil.test"}, nil), "dpop-proof"},
		{"x5c", proof(m{"x5c": []string{"AA"}}, nil), "dpop-proof"},
		{"JWK spelled otherwise", proof(m{"JWK": m{}}, nil), "dpop-proof"},

		// Number 6 and 7: the key and its signature.
		{"no jwk", proof(m{"jwk": nil}, nil), "dpop-proof"},
		{"jwk null", raw(`{"typ":"dpop+jwt","alg":"ES256","jwk":null}`, string(claimsJSON)), "dpop-proof"},
		{"jwk a string", proof(m{"jwk": "key"}, nil), "dpop-proof"},
		{"private key", proof(public(m{"d": authntest.Base64([]byte("secret"))}), nil), "dpop-proof"},
		{"private member null", proof(public(m{"d": json.RawMessage("null")}), nil), "dpop-proof"},
		{"RSA secret in an EC key", proof(public(m{"p": "AQAB"}), nil), "dpop-proof"},
		{"symmetric member", proof(public(m{"k": "AQAB"}), nil), "dpop-proof"},
		{"key for encryption", proof(public(m{"use": "enc"}), nil), "dpop-proof"},
		{"key to sign with", proof(public(m{"key_ops": []string{"sign"}}), nil), "dpop-proof"},
		{"key to verify with", proof(public(m{"key_ops": []string{"verify"}, "ext": true}), nil), "ok"},
		{"key for another alg", proof(public(m{"alg": "ES512"}), nil), "dpop-proof"},
		{"not on its curve", proof(public(m{"x": authntest.Base64(make([]byte, 32))}), nil), "dpop-proof"},
		{"coordinate cut", proof(public(m{"x": "AA"}), nil), "dpop-proof"},
		{"coordinate padded", proof(public(m{"y": authntest.Base64(make([]byte, 32)) + "="}), nil), "dpop-proof"},
		{"RSA exponent 2", authntest.Sign(t, authntest.RsaKey(), authntest.ProofParams(t, m{"alg": "RS256", "jwk": authntest.PublicMembers(t, weak)}),
			authntest.ProofClaims(nil)), "dpop-proof"},
		{"another key", authntest.Sign(t, stranger, authntest.ProofParams(t, m{"jwk": authntest.PublicMembers(t, stranger.Public())}),
			authntest.ProofClaims(nil)), "dpop-key"},
		{"our key, another signature", authntest.Sign(t, stranger, authntest.ProofParams(t, nil), authntest.ProofClaims(nil)), "dpop-signature"},
		{"signature cut", head + "." + payload + "." + authntest.Base64(make([]byte, 63)), "dpop-signature"},
		{"payload changed", head + "." + authntest.Base64(claimsJSON) + "." + sig, "dpop-signature"},

		// Number 8 and 9: this request.
		{"another method", proof(nil, m{"htm": "GET"}), "dpop-request"},
		{"method in small letters", proof(nil, m{"htm": "post"}), "dpop-request"},
		{"another scheme", proof(nil, m{"htu": "http://gateway.test/agents/billing"}), "dpop-request"},
		{"another host", proof(nil, m{"htu": "https://evil.test/agents/billing"}), "dpop-request"},
		{"another port", proof(nil, m{"htu": "https://gateway.test:8443/agents/billing"}), "dpop-request"},
		{"another path", proof(nil, m{"htu": "https://gateway.test/agents/payroll"}), "dpop-request"},
		{"a slash more", proof(nil, m{"htu": "https://gateway.test/agents/billing/"}), "dpop-request"},
		{"only the path", proof(nil, m{"htu": "/agents/billing"}), "dpop-request"},
		{"the host before an @", proof(nil, m{"htu": "https://gateway.test@evil.test/agents/billing"}), "dpop-request"},
		{"same but for spelling", proof(nil, m{"htu": "HTTPS://Gateway.TEST:443/%61gents/b%69lling"}), "ok"},
		{"with query and fragment", proof(nil, m{"htu": "https://gateway.test/agents/billing?a=b#c"}), "ok"},

		// Number 11: lately.
		{"59 s old", proof(nil, at(-59*time.Second)), "ok"},
		{"61 s old", proof(nil, at(-61*time.Second)), "dpop-time"},
		{"59 s ahead", proof(nil, at(59*time.Second)), "ok"},
		{"62 s ahead", proof(nil, at(62*time.Second)), "dpop-time"},
		{"milliseconds", proof(nil, m{"iat": now.UnixMilli()}), "dpop-proof"},

		// Number 12: this token.
		{"another token", proof(nil, m{"ath": authntest.Hash("another")}), "dpop-token"},
		{"hash in hexadecimal", proof(nil, m{"ath": strings.Repeat("a", 64)}), "dpop-token"},
		{"hash padded", proof(nil, m{"ath": authntest.Hash(authntest.ProofToken) + "="}), "dpop-token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := openProver(Config{}, func() time.Time { return now })
			err := g.Check(authntest.ProofRequest(tt.proof), authntest.ProofCaller, authntest.ProofToken, authntest.Thumbprint(t, authntest.ProofKey().Public()))
			if got := authntest.FaultOf(err); got != tt.want {
				t.Errorf("fault %s (%v), want %s", got, err, tt.want)
			}
			wantChallenge(t, err)
		})
	}
}

// wantChallenge holds every refusal of a proof to what clients are to read.
func wantChallenge(t *testing.T, err error) {
	t.Helper()
	var refused *authn.Refused
	if !errors.As(err, &refused) {
		return
	}
	code := "invalid_dpop_proof"
	switch refused.Fault {
	case faultNonce:
		code = "use_dpop_nonce"
	case faultProofKey:
		code = "invalid_token"
	}
	if refused.Scheme != "DPoP" || refused.Code != code || refused.Reason == "" ||
		(refused.Reason == proofReason(faultProof)) != (refused.Fault == faultProof) {
		t.Errorf("challenge %s %s %q, want DPoP %s", refused.Scheme, refused.Code, refused.Reason, code)
	}
}

// One header line, no more and no less (RFC 9449 §4.3 number 1).
func TestDPoPHeaders(t *testing.T) {
	t.Parallel()
	g := openProver(Config{}, nil)
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	for _, tt := range []struct {
		name   string
		proofs []string
		want   string
	}{
		{"none", nil, "sender-constrained"},
		{"two", []string{authntest.ProofOf(t, nil, nil), authntest.ProofOf(t, nil, nil)}, "dpop-proof"},
		{"the same twice", []string{"a", "a"}, "dpop-proof"},
	} {
		err := g.Check(authntest.ProofRequest(tt.proofs...), authntest.ProofCaller, authntest.ProofToken, jkt)
		if got := authntest.FaultOf(err); got != tt.want {
			t.Errorf("%s: fault %s, want %s", tt.name, got, tt.want)
		}
		wantChallenge(t, err)
	}
}

// Every algorithm that tokens may have, proofs may have.
func TestDPoPAlgorithms(t *testing.T) {
	t.Parallel()
	g := openProver(Config{}, nil)
	for _, tt := range []struct {
		alg string
		key crypto.Signer
	}{{"ES256", authntest.EcKey()}, {"EdDSA", authntest.EdKey()}, {"RS256", authntest.RsaKey()}, {"PS256", authntest.RsaKey()}} {
		header := authntest.ProofParams(t, map[string]any{"alg": tt.alg, "jwk": authntest.PublicMembers(t, tt.key.Public())})
		proof := authntest.Sign(t, tt.key, header, authntest.ProofClaims(nil))
		if err := g.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, authntest.Thumbprint(t, tt.key.Public())); err != nil {
			t.Errorf("%s: %v", tt.alg, err)
		}
	}
}

// The example of RFC 9449 §7.1, with the thumbprint of §6.1.
func TestDPoPExampleOfTheSpecification(t *testing.T) {
	t.Parallel()
	const (
		proof = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6Ik" +
			"VDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCR" +
			"nMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JE" +
			"QSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIj" +
			"oiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0Z" +
			"WRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNF" +
			"c05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71E" +
			"OptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
		jkt = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
	)
	r := authntest.ProofRequest(proof)
	r.Method, r.Host, r.URL.Path = http.MethodGet, "resource.example.org", "/protectedresource"
	g := openProver(Config{}, func() time.Time { return time.Unix(1562262618, 0) })
	if err := g.Check(r, authntest.ProofCaller, authntest.ProofToken, jkt); err != nil {
		t.Error(err)
	}
}

// The scheme is the one that clients know, where something in front ends TLS.
func TestDPoPBehindTLSTermination(t *testing.T) {
	t.Parallel()
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	for _, tt := range []struct{ scheme, want string }{{"", "dpop-request"}, {"https", "ok"}, {"http", "dpop-request"}} {
		g := openProver(Config{}, nil)
		g.scheme = tt.scheme
		r := authntest.ProofRequest(authntest.ProofOf(t, nil, nil))
		r.TLS = nil
		if got := authntest.FaultOf(g.Check(r, authntest.ProofCaller, authntest.ProofToken, jkt)); got != tt.want {
			t.Errorf("scheme %q: %s, want %s", tt.scheme, got, tt.want)
		}
	}
}

func TestDPoPConfig(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"defaults", Config{}, ""},
		{"largest", Config{Window: secs(300), Proofs: maxProofs}, ""},
		{"window too long", Config{Window: secs(301)}, "window: "},
		{"window too short", Config{Window: secs(1) - 1}, "window: "},
		{"window negative", Config{Window: secs(-1)}, "window: "},
		{"proofs negative", Config{Proofs: -1}, "proofs: "},
		{"proofs absurd", Config{Proofs: maxProofs + 1}, "proofs: "},
		{"as many of one caller as of all", Config{Proofs: 5, ProofsPerCaller: 5}, ""},
		{"one proof, and half of it", Config{Proofs: 1}, ""},
		{"proofs of a caller negative", Config{ProofsPerCaller: -1}, "proofsPerCaller: "},
		{"more of one caller than of all", Config{Proofs: 5, ProofsPerCaller: 6}, "proofsPerCaller: "},
	} {
		err := tt.cfg.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func BenchmarkDPoP(b *testing.B) {
	for _, bb := range []struct {
		alg string
		key crypto.Signer
	}{{"ES256", authntest.EcKey()}, {"EdDSA", authntest.EdKey()}, {"RS256", authntest.RsaKey()}} {
		b.Run(bb.alg, func(b *testing.B) {
			g := openProver(Config{Proofs: maxProofs}, nil)
			jkt := authntest.Thumbprint(b, bb.key.Public())
			header := authntest.ProofParams(b, map[string]any{"alg": bb.alg, "jwk": authntest.PublicMembers(b, bb.key.Public())})
			r := authntest.ProofRequest(authntest.Sign(b, bb.key, header, authntest.ProofClaims(nil)))
			b.ReportAllocs()
			for b.Loop() {
				g.seen = newReplays(g.now()) // one proof serves for all rounds
				if err := g.Check(r, authntest.ProofCaller, authntest.ProofToken, jkt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestNonceIsAskedForWithoutBlame: who proves the key of a good token and has no nonce yet is
// given one, however many there are behind an address. Other proofs count.
func TestNonceIsAskedForWithoutBlame(t *testing.T) {
	t.Parallel()
	const burst = 30 // authn.failures.burst by default
	c := authn.NewChain(authn.Setup{Blame: failures.New(failures.Config{}, nil), Now: time.Now, Observe: func(string, string) {}})
	for range 10 * burst {
		authntest.Want(t, "without nonce", authntest.FaultOf(c.Blame("192.0.2.7", refuseProof(faultNonce, nil))), string(faultNonce))
	}
	for range burst {
		authntest.Want(t, "signature", authntest.FaultOf(c.Blame("192.0.2.7", refuseProof(faultProofSignature, nil))), string(faultProofSignature))
	}
	if err := c.Blame("192.0.2.7", refuseProof(faultProofSignature, nil)); authntest.FaultOf(err) == string(faultProofSignature) {
		t.Errorf("%v, after %d bad proofs", err, burst)
	}
}
