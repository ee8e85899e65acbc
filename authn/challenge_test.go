package authn

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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
	tests := []struct {
		name        string
		chain       *Chain
		meta, scope string
		err         error
		want        []string
	}{
		{"nothing presented", both, meta, "", ErrNoCredentials,
			[]string{`Bearer realm="gw", resource_metadata="` + meta + `"`, `ApiKey realm="gw", header="X-Api-Key"`}},
		{"nothing presented, scope known", oidc, "", "a b", fmt.Errorf("call: %w", ErrNoCredentials),
			[]string{`Bearer realm="gw", scope="a b"`}},
		{"bad token", both, meta, "", fmt.Errorf("call: %w", refuse(faultExpired, nil)),
			[]string{`Bearer realm="gw", error="invalid_token", error_description="the token has expired", resource_metadata="` + meta + `"`,
				`ApiKey realm="gw", header="X-Api-Key"`}},
		{"bad key", both, "", "", refusedKey, []string{`Bearer realm="gw"`,
			`ApiKey realm="gw", header="X-Api-Key", error="invalid_token", error_description="the API key is not known"`}},
		{"two credentials", oidc, "", "", ErrAmbiguous,
			[]string{`Bearer realm="gw", error="invalid_request", error_description="more than one credential in the request"`}},
		{"scope missing", both, "", "billing.read", errors.New("denied"),
			[]string{`Bearer realm="gw", error="insufficient_scope", scope="billing.read"`,
				`ApiKey realm="gw", header="X-Api-Key"`}},
		{"scope missing, no error", oidc, "", "billing.read", nil,
			[]string{`Bearer realm="gw", error="insufficient_scope", scope="billing.read"`}},
		{"denied for another reason", oidc, "", "", errors.New("denied"), []string{`Bearer realm="gw"`}},
		{"other header", keys, meta, "", ErrNoCredentials, []string{`ApiKey realm="gw", header="X-Key"`}},
		{"keys as bearer", bearer, "", "", ErrNoCredentials, []string{`Bearer realm="gw"`,
			`ApiKey realm="gw", header="X-Api-Key"`}},
		{"anybody", anybody, meta, "", ErrNoCredentials, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.chain.Challenges(Demand{Realm: "gw", ResourceMetadata: tt.meta, Err: tt.err, Scope: tt.scope})); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// No value can end its string or the header line.
func TestChallengeQuoting(t *testing.T) {
	t.Parallel()
	c := open(t, Config{OIDC: []Issuer{issuerConfig()}}, Options{})
	for _, bad := range []string{`a", error="x`, "a\r\nSet-Cookie: x", `a\`, "a\x00", "ü", "\x7f"} {
		got := c.Challenges(Demand{Realm: bad, ResourceMetadata: bad, Err: &Refused{Scheme: "Bearer", Code: bad, Reason: bad}, Scope: bad})[0]
		if strings.ContainsAny(got, "\r\n\x00\\\x7fü") || strings.Count(got, `"`) != 10 {
			t.Errorf("%q became %q", bad, got)
		}
	}
}

// Each fault has a sentence of its own but for those that must look alike.
func TestReasons(t *testing.T) {
	t.Parallel()
	seen := map[string]fault{}
	for _, f := range []fault{faultMalformed, faultScheme, faultHeader, faultAlgorithm, faultType,
		faultIssuer, faultAudience, faultExpired,
		faultNotYet, faultClaims, faultIDToken, faultBound, faultUnknownKey, faultSignature, faultAPIKey,
		faultKeyExpired} {
		if was, ok := seen[f.reason()]; ok || f.reason() == "" {
			t.Errorf("%s says the same as %s: %q", f, was, f.reason())
		}
		seen[f.reason()] = f
	}
	cause := errors.New("cause")
	r := refuse(faultIssuer, cause)
	if !errors.Is(r, cause) || !strings.HasSuffix(r.Error(), ": cause") || refuse(faultIssuer,
		nil).Error() != r.Reason {
		t.Errorf("error text %q", r.Error())
	}
}
