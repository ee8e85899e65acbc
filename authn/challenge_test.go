package authn

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestChallenges(t *testing.T) {
	t.Parallel()
	_, path := keyStore(t)
	both := open(t, Config{OIDC: []Issuer{issuerConfig()}, APIKeys: &APIKeys{File: path}}, Options{})
	oidc := open(t, Config{OIDC: []Issuer{issuerConfig()}}, Options{})
	keys := open(t, Config{APIKeys: &APIKeys{File: path, Header: "x-key"}}, Options{})
	bearer := open(t, Config{APIKeys: &APIKeys{File: path, Bearer: true}}, Options{})
	anybody := open(t, Config{Anonymous: true}, Options{})
	const meta = "https://gw.test/.well-known/oauth-protected-resource/agents/billing"
	refusedKey := &Refused{Scheme: "ApiKey", Code: "invalid_token", Reason: "the API key is not known"}
	const dpop = `DPoP realm="gw", algs="RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA"`
	apart := open(t, Config{OIDC: []Issuer{{Issuer: testIssuer, Audiences: []string{"x"}, Header: "x-user-token"}}},
		Options{})
	hour, missing := time.Hour, errors.New("denied")
	inHeader := refuse(faultExpired, nil)
	inHeader.header = "X-User-Token"
	badProof := &Refused{Scheme: "DPoP", Code: "invalid_dpop_proof", Reason: "bad proof"}
	proofInHeader := &Refused{Scheme: "DPoP", Code: "use_dpop_nonce", Reason: "no nonce", header: "X-User-Token"}
	tests := []struct {
		name  string
		chain *Chain
		d     Demand
		want  []string
	}{
		{"nothing presented", both, Demand{ResourceMetadata: meta, Err: ErrNoCredentials},
			[]string{`Bearer realm="gw", resource_metadata="` + meta + `"`, dpop + `, resource_metadata="` + meta + `"`,
				`ApiKey realm="gw", header="X-Api-Key"`}},
		{"nothing presented, scope known", oidc, Demand{Scope: "a b", Err: fmt.Errorf("call: %w", ErrNoCredentials)},
			[]string{`Bearer realm="gw", scope="a b"`, dpop + `, scope="a b"`}},
		{"bad token", both, Demand{ResourceMetadata: meta, Err: fmt.Errorf("call: %w", refuse(faultExpired, nil))},
			[]string{`Bearer realm="gw", error="invalid_token", error_description="the credential is not accepted", ` +
				`resource_metadata="` + meta + `"`, dpop + `, resource_metadata="` + meta + `"`,
				`ApiKey realm="gw", header="X-Api-Key"`}},
		{"bad proof for a token in a header of its own", apart, Demand{Err: proofInHeader}, []string{
			`Bearer realm="gw", header="X-User-Token", error="use_dpop_nonce", error_description="no nonce"`}},
		{"bad proof", oidc, Demand{Err: badProof}, []string{`Bearer realm="gw"`,
			dpop + `, error="invalid_dpop_proof", error_description="a proof that is accepted is needed"`}},
		{"bad key", both, Demand{Err: refusedKey}, []string{`Bearer realm="gw"`, dpop,
			`ApiKey realm="gw", header="X-Api-Key", error="invalid_token", error_description="the credential is not accepted"`}},
		{"two credentials", keys, Demand{Err: ErrAmbiguous}, []string{`ApiKey realm="gw", header="X-Key", ` +
			`error="invalid_request", error_description="more than one credential in the request"`}},
		{"scope missing", both, Demand{Err: missing, Scope: "billing.read"},
			[]string{`Bearer realm="gw", error="insufficient_scope", scope="billing.read"`,
				dpop + `, error="insufficient_scope", scope="billing.read"`, `ApiKey realm="gw", header="X-Api-Key"`}},
		{"scope missing, no error", bearer, Demand{Scope: "billing.read"},
			[]string{`Bearer realm="gw", error="insufficient_scope", scope="billing.read"`,
				`ApiKey realm="gw", header="X-Api-Key"`}},
		{"denied for another reason", oidc, Demand{Err: missing}, []string{`Bearer realm="gw"`, dpop}},
		{"another authentication", bearer, Demand{Err: missing, StepUp: &StepUp{ACR: []string{"gold", "silver"},
			MaxAge: &hour}, Scope: "pay"}, []string{`Bearer realm="gw", error="insufficient_user_authentication", ` +
			`error_description="another authentication of the user is needed", acr_values="gold silver", ` +
			`max_age="3600", scope="pay"`, `ApiKey realm="gw", header="X-Api-Key"`}},
		{"a fresh authentication, with DPoP", oidc, Demand{StepUp: &StepUp{MaxAge: new(time.Duration)}},
			[]string{`Bearer realm="gw", error="insufficient_user_authentication", ` +
				`error_description="another authentication of the user is needed", max_age="0"`,
				dpop + `, error="insufficient_user_authentication", ` +
					`error_description="another authentication of the user is needed", max_age="0"`}},
		{"bad token and another authentication", bearer, Demand{Err: refuse(faultExpired, nil), StepUp: &StepUp{}},
			[]string{`Bearer realm="gw", error="invalid_token", error_description="the credential is not accepted"`,
				`ApiKey realm="gw", header="X-Api-Key"`}},
		{"other header", keys, Demand{ResourceMetadata: meta, Err: ErrNoCredentials},
			[]string{`ApiKey realm="gw", header="X-Key"`}},
		{"keys as bearer", bearer, Demand{Err: ErrNoCredentials}, []string{`Bearer realm="gw"`,
			`ApiKey realm="gw", header="X-Api-Key"`}},
		{"token in a header of its own", apart, Demand{Err: inHeader}, []string{`Bearer realm="gw", ` +
			`header="X-User-Token", error="invalid_token", error_description="the credential is not accepted"`}},
		{"token in another header", apart, Demand{Err: refuse(faultExpired, nil)},
			[]string{`Bearer realm="gw", header="X-User-Token"`}},
		{"anybody", anybody, Demand{ResourceMetadata: meta, Err: ErrNoCredentials}, nil},
	}
	for _, tt := range tests {
		tt.d.Realm = "gw"
		if diff := cmp.Diff(tt.want, tt.chain.Challenges(tt.d)); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
	if anybody.Nonce() != "" || oidc.Nonce() != "" {
		t.Error("a nonce is asked for, and none is configured")
	}
}

// No value can end its string or the header line.
func TestChallengeQuoting(t *testing.T) {
	t.Parallel()
	c := open(t, Config{OIDC: []Issuer{issuerConfig()}}, Options{})
	for _, bad := range []string{`a", error="x`, "a\r\nSet-Cookie: x", `a\`, "a\x00", "ü", "\x7f"} {
		got := c.Challenges(Demand{Realm: bad, ResourceMetadata: bad, Err: &Refused{Scheme: "Bearer", Code: bad, Reason: bad}, Scope: bad})[0]
		got += c.Challenges(Demand{Realm: bad, StepUp: &StepUp{ACR: []string{bad}}})[0]
		if strings.ContainsAny(got, "\r\n\x00\\\x7fü") || strings.Count(got, `"`) != 18 {
			t.Errorf("%q became %q", bad, got)
		}
	}
}

// Each fault has a sentence of its own but for those that must look alike.
func TestReasons(t *testing.T) {
	t.Parallel()
	seen := map[string]fault{reasonScheme: faultScheme, reasonCombination: faultCombination, reasonAPIKey: faultAPIKey,
		reasonKeyExpired: faultKeyExpired}
	for _, f := range []fault{faultMalformed, faultHeader, faultAlgorithm, faultType,
		faultIssuer, faultAudience, faultExpired,
		faultNotYet, faultClaims, faultIDToken, faultBound, faultUnbound, faultUnknownKey, faultSignature} {
		if was, ok := seen[reason(f)]; ok || reason(f) == "" {
			t.Errorf("%s says the same as %s: %q", f, was, reason(f))
		}
		seen[reason(f)] = f
	}
	cause := errors.New("cause")
	r := refuse(faultIssuer, cause)
	if !errors.Is(r, cause) || !strings.HasSuffix(r.Error(), ": cause") || refuse(faultIssuer,
		nil).Error() != r.Reason {
		t.Errorf("error text %q", r.Error())
	}
}
