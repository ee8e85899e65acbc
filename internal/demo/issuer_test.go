package demo_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

func startIssuer(t *testing.T, o demo.IssuerOptions) *demo.Issuer {
	t.Helper()
	issuer, err := demo.NewIssuer(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := issuer.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return issuer
}

// verifier is a real OpenID Connect verifier, set up by discovery.
func verifier(t *testing.T, issuer *demo.Issuer) *oidc.IDTokenVerifier {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	ctx := oidc.ClientContext(context.Background(), &http.Client{Transport: transport})
	provider, err := oidc.NewProvider(ctx, issuer.URL)
	if err != nil {
		t.Fatal(err)
	}
	return provider.VerifierContext(ctx, &oidc.Config{
		ClientID: "a2a-gateway", SupportedSigningAlgs: []string{"ES256"},
	})
}

func TestIssue(t *testing.T) {
	t.Parallel()
	issuer := startIssuer(t, demo.IssuerOptions{})
	v := verifier(t, issuer)
	tests := []struct {
		name string
		o    demo.IssueOptions
		ok   bool
	}{
		{"zero", demo.IssueOptions{}, true},
		{"expired", demo.IssueOptions{TTL: -time.Hour}, false},
		{"other audience", demo.IssueOptions{Audience: []string{"elsewhere"}}, false},
		{"forged", demo.IssueOptions{ForeignKey: true}, false},
		{"other issuer", demo.IssueOptions{Claims: map[string]any{"iss": "https://evil.example"}}, false},
		{"no expiry", demo.IssueOptions{Claims: map[string]any{"exp": nil}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			token, err := issuer.Issue("alice", tt.o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = v.Verify(t.Context(), token)
			if (err == nil) != tt.ok {
				t.Errorf("verify: %v", err)
			}
		})
	}
}

func TestIssuedClaims(t *testing.T) {
	t.Parallel()
	issuer := startIssuer(t, demo.IssuerOptions{})
	token, err := issuer.Issue("alice", demo.IssueOptions{
		Scopes: []string{"a", "b"}, Groups: []string{"g"}, Client: "cli", Tenant: "acme",
	})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	if typ := parsed.Headers[0].ExtraHeaders["typ"]; typ != "at+jwt" {
		t.Errorf("typ is %v", typ)
	}
	var got map[string]any
	if err := parsed.UnsafeClaimsWithoutVerification(&got); err != nil {
		t.Fatal(err)
	}
	for _, varies := range []string{"iat", "exp", "jti"} {
		if got[varies] == nil {
			t.Errorf("no %s", varies)
		}
		delete(got, varies)
	}
	want := map[string]any{
		"iss": issuer.URL, "sub": "alice", "aud": []any{"a2a-gateway"}, "client_id": "cli",
		"scope": "a b", "groups": []any{"g"}, "tenant": "acme",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

// Tokens survive one rotation and not two.
func TestRotate(t *testing.T) {
	t.Parallel()
	issuer := startIssuer(t, demo.IssuerOptions{})
	old, err := issuer.Issue("alice", demo.IssueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for rotations, ok := range []bool{true, true, false} {
		// A fresh verifier each time: none of the keys is cached.
		if _, err := verifier(t, issuer).Verify(t.Context(), old); (err == nil) != ok {
			t.Errorf("after %d rotations: %v", rotations, err)
		}
		if err := issuer.Rotate(); err != nil {
			t.Fatal(err)
		}
	}
	fresh, err := issuer.Issue("alice", demo.IssueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verifier(t, issuer).Verify(t.Context(), fresh); err != nil {
		t.Error(err)
	}
}

func TestTokenEndpoint(t *testing.T) {
	t.Parallel()
	issuer := startIssuer(t, demo.IssuerOptions{})
	grant := "client_credentials"
	tests := []struct {
		name   string
		basic  [2]string
		form   url.Values
		status int
		code   string
		scope  string
		aud    []any
	}{
		{
			name: "basic, everything", basic: [2]string{"alice", "alice-secret"},
			form:   url.Values{"grant_type": {grant}},
			status: 200, scope: "billing.read billing.refund weather.read", aud: []any{"a2a-gateway"},
		},
		{
			name: "form, one scope, a resource", form: url.Values{
				"grant_type": {grant}, "client_id": {"bob"}, "client_secret": {"bob-secret"},
				"scope": {"weather.read"}, "resource": {"https://gw.example"},
			},
			status: 200, scope: "weather.read", aud: []any{"https://gw.example"},
		},
		{
			name: "audience and resources", basic: [2]string{"bob", "bob-secret"},
			form: url.Values{
				"grant_type": {grant}, "scope": {"weather.read"}, "resource": {"r1", "r2"}, "audience": {"a"},
			},
			status: 200, scope: "weather.read", aud: []any{"r1", "r2", "a"},
		},
		{
			name: "foreign scope", basic: [2]string{"bob", "bob-secret"},
			form:   url.Values{"grant_type": {grant}, "scope": {"gateway.admin"}},
			status: 400, code: "invalid_scope",
		},
		{
			name: "wrong secret", basic: [2]string{"bob", "alice-secret"},
			form: url.Values{"grant_type": {grant}}, status: 401, code: "invalid_client",
		},
		{name: "nobody", form: url.Values{"grant_type": {grant}}, status: 401, code: "invalid_client"},
		{
			name: "other grant", basic: [2]string{"bob", "bob-secret"},
			form: url.Values{"grant_type": {"password"}}, status: 400, code: "unsupported_grant_type",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			status, body := ask(t, issuer, tt.basic, tt.form)
			if status != tt.status {
				t.Fatalf("status %d: %v", status, body)
			}
			if code, _ := body["error"].(string); code != tt.code {
				t.Errorf("error %q, want %q", code, tt.code)
			}
			if tt.status != http.StatusOK {
				return
			}
			if body["scope"] != tt.scope || body["token_type"] != "Bearer" || body["expires_in"] != 3600.0 {
				t.Errorf("answer is %v", body)
			}
			parsed, err := jwt.ParseSigned(body["access_token"].(string), []jose.SignatureAlgorithm{jose.ES256})
			if err != nil {
				t.Fatal(err)
			}
			var claims map[string]any
			if err := parsed.UnsafeClaimsWithoutVerification(&claims); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.aud, claims["aud"]); diff != "" {
				t.Errorf("aud (-want +got):\n%s", diff)
			}
		})
	}
}

// ask posts to the token endpoint.
func ask(t *testing.T, issuer *demo.Issuer, basic [2]string, form url.Values) (int, map[string]any) {
	t.Helper()
	posted := strings.NewReader(form.Encode())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, issuer.URL+"/token", posted)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if basic[0] != "" {
		r.SetBasicAuth(basic[0], basic[1])
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.Header.Get("Cache-Control") != "no-store" {
		t.Error("the answer may be cached")
	}
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return answer.StatusCode, body
}

func TestIssuerStaysOnLoopback(t *testing.T) {
	t.Parallel()
	if issuer, err := demo.NewIssuer(demo.IssuerOptions{Address: "0.0.0.0:0"}); err == nil {
		_ = issuer.Close(t.Context())
		t.Fatal("listening on every interface was allowed")
	}
}

// TestChoicePage: names of users are text on the page to choose on, and each link says whom it is about.
func TestChoicePage(t *testing.T) {
	t.Parallel()
	issuer := startIssuer(t, demo.IssuerOptions{Users: []demo.User{{Name: "alice"}, {Name: `<b>"&mallory`}}})
	q := url.Values{
		"client_id": {demo.SignInClient}, "redirect_uri": {`http://127.0.0.1:1/"><script>`}, "response_type": {"code"},
		"code_challenge": {"x"}, "code_challenge_method": {"S256"},
	}
	resp, err := http.Get(issuer.URL + "/authorize?" + q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`login_hint=alice`, `>alice</a>`, `>&lt;b&gt;&#34;&amp;mallory</a>`, `login_hint=%3Cb%3E%22%26mallory`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	for _, bad := range []string{"<b>", "<script>"} {
		if strings.Contains(string(page), bad) {
			t.Errorf("%s in %s", bad, page)
		}
	}
}
