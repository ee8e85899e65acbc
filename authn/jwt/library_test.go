package jwt

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// libraryKeys is the key set of go-oidc's verifier where it gives the second opinion. The
// keys are those that are chosen here, everything else is the libraries' work: the form,
// the signature, and what the payload is.
type libraryKeys struct {
	find   func(ctx context.Context, kid string, a jws.Algorithm) ([]*jws.Key, error)
	claims string // instead of the payload, where that is none of a token
}

func (k libraryKeys) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	parsed, err := jose.ParseSigned(raw, joseAlgorithms())
	if err != nil {
		return nil, err
	}
	h := parsed.Signatures[0].Header
	alg, _ := authn.Signatures.Lookup(h.Algorithm)
	candidates, err := k.find(ctx, h.KeyID, alg)
	if err != nil {
		return nil, err
	}
	var payload []byte
	for _, key := range candidates {
		if payload, err = parsed.Verify(key.Public); err == nil {
			break
		}
	}
	if k.claims != "" {
		payload = []byte(k.claims)
	}
	return payload, err
}

func joseAlgorithms() (list []jose.SignatureAlgorithm) {
	for _, name := range authn.Signatures.Algorithms {
		list = append(list, jose.SignatureAlgorithm(name))
	}
	return list
}

// libraryVerdict is what go-oidc says about a token, whole: iss, aud, exp and nbf included.
// One of the audiences suffices, and its clock is late by the tolerance that it lacks.
func libraryVerdict(is *issuer, raw string, now time.Time) (err error) {
	for _, audience := range is.cfg.Audiences {
		_, err = oidc.NewVerifier(is.cfg.Issuer, libraryKeys{find: func(ctx context.Context, kid string, a jws.Algorithm) ([]*jws.Key, error) {
			return is.keys.find(ctx, kid, a, nobody)
		}}, &oidc.Config{
			ClientID: audience, SupportedSigningAlgs: is.algs,
			Now: func() time.Time { return now.Add(-is.cfg.skew()) },
		}).Verify(context.Background(), raw)
		if err == nil {
			return nil
		}
	}
	return err
}

// libraryReads is what go-oidc says about form and signature alone.
func libraryReads(list []*jws.Key, raw string) error {
	known := &keys{list: list}
	find := func(_ context.Context, kid string, a jws.Algorithm) ([]*jws.Key, error) { return known.find(kid, a) }
	_, err := oidc.NewVerifier("x", libraryKeys{find: find, claims: `{"iss":"x"}`}, &oidc.Config{
		SupportedSigningAlgs: authn.Signatures.Algorithms, SkipClientIDCheck: true, SkipExpiryCheck: true,
	}).Verify(context.Background(), raw)
	return err
}

// authenticate shows a token to a chain. What passes there must pass go-oidc's verifier
// as well: nothing of what it refuses was lost by not asking it.
func authenticate(t testing.TB, c *authn.Chain, raw string) (*authn.Principal, error) {
	t.Helper()
	p, err := c.Authenticate(authntest.BearerOf(raw))
	if err == nil {
		if refused := libraryVerdict(From(c).issuers[p.Issuer], raw, From(c).now()); refused != nil {
			t.Errorf("go-oidc refuses what is accepted here: %v\n%s", refused, raw)
		}
	}
	return p, err
}

// verdict is authenticate in one word.
func verdict(t testing.TB, c *authn.Chain, raw string) string {
	t.Helper()
	_, err := authenticate(t, c, raw)
	return authntest.FaultOf(err)
}

// What go-oidc refuses although the values decide nothing here. Each row is refused by
// both, the rows that are there for comparison by neither.
func TestL26_NotLooserThanTheLibrary(t *testing.T) {
	t.Parallel()
	cfg := issuerConfig()
	cfg.Claims.Subject = "user" // so that sub is nobody's name
	c := openTokens(t, Config{OIDC: []Issuer{cfg}}, Options{Client: &http.Client{Transport: authntest.Standard()}})
	sources := func(s any) M { return M{"_claim_names": M{"x": "s"}, "_claim_sources": s} }
	header, claims := M{"alg": "ES256", "kid": "ec", "typ": "at+jwt"}, mustJSON(t, authntest.ClaimsOf(M{"user": "alice", "sub": nil}))
	for _, tt := range []struct {
		name         string
		header, more M // parameters and claims that are added
		want         string
	}{
		{"control", nil, M{"nonce": "n", "at_hash": "h"}, "ok"},
		{"null", nil, M{"sub": nil, "nonce": nil, "at_hash": nil, "_claim_names": nil, "_claim_sources": nil}, "ok"},
		{"sub", nil, M{"sub": "alice"}, "ok"},
		{"sub a number", nil, M{"sub": 7}, "claims"},
		{"nonce a number", nil, M{"nonce": 1}, "claims"},
		{"at_hash a list", nil, M{"at_hash": []string{"h"}}, "claims"},
		{"another iss in capitals", nil, M{"ISS": "https://evil.test"}, "claims"},
		{"another iss in odd letters", nil, M{"i\u017fs": "https://evil.test"}, "claims"},
		{"another aud in capitals", nil, M{"AUD": "https://other.test"}, "claims"},
		{"another exp in capitals", nil, M{"Exp": 1}, "claims"},
		{"another nbf in capitals", nil, M{"Nbf": 99999999999}, "claims"},
		{"iat in capitals no date", nil, M{"IAT": "x"}, "claims"},
		{"nonce in capitals a number", nil, M{"Nonce": 1}, "claims"},
		{"at_hash in capitals a number", nil, M{"At_Hash": 1}, "claims"},
		{"_claim_names in capitals", nil, M{"_Claim_Names": 1}, "claims"},
		{"_claim_sources in capitals", nil, M{"_Claim_\u017fources": 1}, "claims"},
		{"claims elsewhere", nil, sources(M{"s": M{"endpoint": "https://e.test", "access_token": "a"}}), "ok"},
		{"claims elsewhere, within", nil, sources(M{"s": M{"JWT": "a.b.c"}}), "ok"},
		{"source null", nil, sources(M{"s": nil}), "ok"},
		{"source absent", nil, sources(M{"t": M{}}), "claims"},
		{"no sources", nil, M{"_claim_names": M{"x": "s"}}, "claims"},
		{"sources a list", nil, sources([]int{}), "claims"},
		{"source a string", nil, sources(M{"s": "https://e.test"}), "claims"},
		{"endpoint a number", nil, sources(M{"s": M{"endpoint": 1}}), "claims"},
		{"endpoint in capitals a number", nil, sources(M{"s": M{"Endpoint": 1}}), "claims"},
		{"access_token an object", nil, sources(M{"s": M{"acce\u017fs_token": M{}}}), "claims"},
		{"names a list", nil, M{"_claim_names": []int{}}, "claims"},
		{"source's name a number", nil, M{"_claim_names": M{"x": 1}, "_claim_sources": M{"1": M{}}}, "claims"},
		{"source's name empty", nil, M{"_claim_names": M{"x": ""}, "_claim_sources": M{"": M{}}}, "claims"},
		{"header nonce", M{"nonce": "n"}, nil, "ok"},
		{"header nonce a number", M{"nonce": 1}, nil, "malformed"},
	} {
		head, payload := maps.Clone(header), claims
		maps.Copy(head, tt.header)
		if tt.more != nil { // last, where it counts for the library
			payload = strings.TrimSuffix(claims, "}") + "," + mustJSON(t, tt.more)[1:]
		}
		raw := authntest.SignRaw(t, authntest.EcKey(), []byte(mustJSON(t, head)), []byte(payload))
		agree(t, c, tt.name, raw, tt.want)
	}
	// A number that no float holds: refused in payloads as well (TestPayloadForm).
	agree(t, c, "1e400", authntest.SignRaw(t, authntest.EcKey(), []byte(`{"alg":"ES256","kid":"ec","x":1e400}`), []byte(claims)), "malformed")
}

// agree wants a token to be refused here and by go-oidc, or by neither.
func agree(t *testing.T, c *authn.Chain, name, raw, expected string) {
	t.Helper()
	authntest.Want(t, name, verdict(t, c, raw), expected)
	refused := libraryVerdict(From(c).issuers[authntest.TestIssuer], raw, time.Now())
	if (refused == nil) != (expected == "ok") {
		t.Errorf("%s: go-oidc says %v", name, refused)
	}
}

// Where go-oidc is the looser one.
func TestL26_StricterThanTheLibrary(t *testing.T) {
	t.Parallel()
	const google = "https://accounts.google.com"
	net := authntest.Many{authntest.TestIssuer: authntest.Standard(), google: authntest.NewIDP(google, authntest.JWK("ec", "", authntest.EcKey()))}
	c := openTokens(t, Config{OIDC: []Issuer{issuerConfig(), {Issuer: google, Audiences: []string{authntest.TestAudience}}}},
		Options{Client: &http.Client{Transport: net}})
	for _, tt := range []struct {
		name, issuer string
		change       M
		want         string
	}{
		{"Google without its scheme", google, M{"iss": strings.TrimPrefix(google, "https://")}, "unknown-issuer"},
		{"iss in capitals, the same", authntest.TestIssuer, M{"ISS": authntest.TestIssuer}, "claims"},
		{"sub in capitals", authntest.TestIssuer, M{"SUB": "root"}, "claims"},
		{"exp a string", authntest.TestIssuer, M{"exp": "99999999999"}, "claims"},
	} {
		raw := authntest.Good(t, tt.change)
		authntest.Want(t, tt.name, verdict(t, c, raw), tt.want)
		is := From(c).issuers[tt.issuer]
		if refused := libraryVerdict(is, raw, time.Now()); refused != nil {
			t.Errorf("%s: go-oidc refuses it too: %v", tt.name, refused)
		}
		tok, err := precheck(raw)
		if err != nil {
			t.Fatal(err)
		}
		// Not only because nobody finds an issuer of that name.
		authntest.Want(t, tt.name+", by its issuer", authntest.FaultOf(is.check(tok, time.Now())), tt.want)
	}
}

// Whatever header and payload pass here pass go-oidc, under any signature.
func FuzzNotLooserThanTheLibrary(f *testing.F) {
	now := time.Unix(1_700_000_000, 0)
	is := &issuer{cfg: issuerConfig(), algs: []string{"ES256"}}
	const header = `{"alg":"ES256","kid":"ec"}`
	for _, more := range []string{``, `,"sub":1`, `,"ISS":"x"`, `,"nonce":1`, `,"at_hash":[]`, `,"i\u017fs":""`,
		`,"nbf":null`, `,"iat":1e9`, `,"AUD":{}`, `,"_claim_names":{"a":"b"}`, `,"_claim_sources":{"b":{"Endpoint":1}}`} {
		f.Add(header, `{"iss":"`+authntest.TestIssuer+`","aud":["`+authntest.TestAudience+`"],"exp":1.7e9`+more+`}`)
	}
	f.Add(`{"alg":"ES256","nonce":1}`, `{}`)
	f.Add(`{"alg":"ES256","x":1e400}`, `{}`)
	f.Fuzz(func(t *testing.T, header, payload string) {
		raw := authntest.Base64([]byte(header)) + "." + authntest.Base64([]byte(payload)) + ".AA"
		tok, err := precheck(raw)
		if err != nil || !slices.Contains(is.algs, tok.alg) || is.check(tok, now) != nil {
			return
		}
		_, err = oidc.NewVerifier(authntest.TestIssuer, nil, &oidc.Config{
			InsecureSkipSignatureCheck: true, ClientID: authntest.TestAudience, SupportedSigningAlgs: is.algs,
			Now: func() time.Time { return now.Add(-is.cfg.skew()) },
		}).Verify(t.Context(), raw)
		if err != nil {
			t.Fatalf("go-oidc refuses what is accepted here: %v\n%s %s", err, header, payload)
		}
	})
}
