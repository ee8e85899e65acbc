package schemes

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
)

func TestChallenges(t *testing.T) {
	t.Parallel()
	_, path := keyStore(t)
	both := open(t, Config{OIDC: []jwt.Issuer{issuerConfig()}, APIKeys: &apikey.Config{File: path}}, Options{})
	oidc := open(t, Config{OIDC: []jwt.Issuer{issuerConfig()}}, Options{})
	keys := open(t, Config{APIKeys: &apikey.Config{File: path, Header: "x-key"}}, Options{})
	bearer := open(t, Config{APIKeys: &apikey.Config{File: path, Bearer: true}}, Options{})
	anybody := open(t, Config{Anonymous: true}, Options{})
	const meta = "https://gw.test/.well-known/oauth-protected-resource/agents/billing"
	refusedKey := &authn.Refused{Scheme: "ApiKey", Code: "invalid_token", Reason: "the API key is not known"}
	const dpop = `DPoP realm="gw", algs="RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA"`
	apart := open(t, Config{OIDC: []jwt.Issuer{{Issuer: authntest.TestIssuer, Audiences: []string{"x"}, Header: "x-user-token"}}},
		Options{})
	hour, missing := time.Hour, errors.New("denied")
	inHeader := authn.Refuse("expired", "the token has expired", nil)
	inHeader.Header = "X-User-Token"
	badProof := &authn.Refused{Scheme: "DPoP", Code: "invalid_dpop_proof", Reason: "bad proof"}
	proofInHeader := &authn.Refused{Scheme: "DPoP", Code: "use_dpop_nonce", Reason: "no nonce", Header: "X-User-Token"}
	tests := []struct {
		name  string
		chain *authn.Chain
		d     authn.Demand
		want  []string
	}{
		{"nothing presented", both, authn.Demand{ResourceMetadata: meta, Err: authn.ErrNoCredentials},
			[]string{`Bearer realm="gw", resource_metadata="` + meta + `"`, dpop + `, resource_metadata="` + meta + `"`,
				`ApiKey realm="gw", header="X-Api-Key"`}},
		{"nothing presented, scope known", oidc, authn.Demand{Scope: "a b", Err: fmt.Errorf("call: %w", authn.ErrNoCredentials)},
			[]string{`Bearer realm="gw", scope="a b"`, dpop + `, scope="a b"`}},
		{"bad token", both, authn.Demand{ResourceMetadata: meta, Err: fmt.Errorf("call: %w", authn.Refuse("expired", "the token has expired", nil))},
			[]string{`Bearer realm="gw", error="invalid_token", error_description="the credential is not accepted", ` +
				`resource_metadata="` + meta + `"`, dpop + `, resource_metadata="` + meta + `"`,
				`ApiKey realm="gw", header="X-Api-Key"`}},
		{"bad proof for a token in a header of its own", apart, authn.Demand{Err: proofInHeader}, []string{
			`Bearer realm="gw", header="X-User-Token", error="use_dpop_nonce", error_description="no nonce"`}},
		{"bad proof", oidc, authn.Demand{Err: badProof}, []string{`Bearer realm="gw"`,
			dpop + `, error="invalid_dpop_proof", error_description="a proof that is accepted is needed"`}},
		{"bad key", both, authn.Demand{Err: refusedKey}, []string{`Bearer realm="gw"`, dpop,
			`ApiKey realm="gw", header="X-Api-Key", error="invalid_token", error_description="the credential is not accepted"`}},
		{"two credentials", keys, authn.Demand{Err: authn.ErrAmbiguous}, []string{`ApiKey realm="gw", header="X-Key", ` +
			`error="invalid_request", error_description="more than one credential in the request"`}},
		{"scope missing", both, authn.Demand{Err: missing, Scope: "billing.read"},
			[]string{`Bearer realm="gw", error="insufficient_scope", scope="billing.read"`,
				dpop + `, error="insufficient_scope", scope="billing.read"`, `ApiKey realm="gw", header="X-Api-Key"`}},
		{"scope missing, no error", bearer, authn.Demand{Scope: "billing.read"},
			[]string{`Bearer realm="gw", error="insufficient_scope", scope="billing.read"`,
				`ApiKey realm="gw", header="X-Api-Key"`}},
		{"denied for another reason", oidc, authn.Demand{Err: missing}, []string{`Bearer realm="gw"`, dpop}},
		{"another authentication", bearer, authn.Demand{Err: missing, StepUp: &authn.StepUp{ACR: []string{"gold", "silver"},
			MaxAge: &hour}, Scope: "pay"}, []string{`Bearer realm="gw", error="insufficient_user_authentication", ` +
			`error_description="another authentication of the user is needed", acr_values="gold silver", ` +
			`max_age="3600", scope="pay"`, `ApiKey realm="gw", header="X-Api-Key"`}},
		{"a fresh authentication, with DPoP", oidc, authn.Demand{StepUp: &authn.StepUp{MaxAge: new(time.Duration)}},
			[]string{`Bearer realm="gw", error="insufficient_user_authentication", ` +
				`error_description="another authentication of the user is needed", max_age="0"`,
				dpop + `, error="insufficient_user_authentication", ` +
					`error_description="another authentication of the user is needed", max_age="0"`}},
		{"bad token and another authentication", bearer, authn.Demand{Err: authn.Refuse("expired", "the token has expired", nil), StepUp: &authn.StepUp{}},
			[]string{`Bearer realm="gw", error="invalid_token", error_description="the credential is not accepted"`,
				`ApiKey realm="gw", header="X-Api-Key"`}},
		{"other header", keys, authn.Demand{ResourceMetadata: meta, Err: authn.ErrNoCredentials},
			[]string{`ApiKey realm="gw", header="X-Key"`}},
		{"keys as bearer", bearer, authn.Demand{Err: authn.ErrNoCredentials}, []string{`Bearer realm="gw"`,
			`ApiKey realm="gw", header="X-Api-Key"`}},
		{"token in a header of its own", apart, authn.Demand{Err: inHeader}, []string{`Bearer realm="gw", ` +
			`header="X-User-Token", error="invalid_token", error_description="the credential is not accepted"`}},
		{"token in another header", apart, authn.Demand{Err: authn.Refuse("expired", "the token has expired", nil)},
			[]string{`Bearer realm="gw", header="X-User-Token"`}},
		{"anybody", anybody, authn.Demand{ResourceMetadata: meta, Err: authn.ErrNoCredentials}, nil},
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
	c := open(t, Config{OIDC: []jwt.Issuer{issuerConfig()}}, Options{})
	for _, bad := range []string{`a", error="x`, "a\r\nSet-Cookie: x", `a\`, "a\x00", "ü", "\x7f"} {
		got := c.Challenges(authn.Demand{Realm: bad, ResourceMetadata: bad, Err: &authn.Refused{Scheme: "Bearer", Code: bad, Reason: bad}, Scope: bad})[0]
		got += c.Challenges(authn.Demand{Realm: bad, StepUp: &authn.StepUp{ACR: []string{bad}}})[0]
		if strings.ContainsAny(got, "\r\n\x00\\\x7fü") || strings.Count(got, `"`) != 18 {
			t.Errorf("%q became %q", bad, got)
		}
	}
}
