package schemes

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	with := func(change func(*jwt.Issuer)) Config {
		is := issuerConfig()
		change(&is)
		return Config{OIDC: []jwt.Issuer{is}}
	}
	header := func(h string) Config { return Config{APIKeys: &apikey.Config{File: "k", Header: h}} }
	combos := func(k ...authn.Combination) Config {
		own := jwt.Issuer{Issuer: "https://own.test", Audiences: []string{"x"}, Header: "x-own"}
		return Config{OIDC: []jwt.Issuer{issuerConfig(), own}, APIKeys: &apikey.Config{File: "k"}, MTLS: &clientcert.Config{}, Combinations: k}
	}
	without := func(c Config, change func(*Config)) Config { change(&c); return c }
	asked := func(header ...string) Config {
		var c Config
		for i, h := range header {
			in := &jwt.Introspection{ClientID: "gw", ClientSecret: secret.New("s")}
			c.OIDC = append(c.OIDC, jwt.Issuer{Issuer: "https://i" + string(rune('a'+i)), Audiences: []string{"x"}, Header: h,
				Introspection: in})
		}
		return c
	}
	tests := []struct {
		name string
		cfg  Config
		want string // part of the error; empty for none
	}{
		{"nobody", Config{}, "write `anonymous: true`"},
		{"anybody", Config{Anonymous: true}, ""},
		{"issuer", with(func(*jwt.Issuer) {}), ""},
		{"issuer with slash", with(func(is *jwt.Issuer) { is.Issuer += "/" }), ""},
		{"http issuer", with(func(is *jwt.Issuer) { is.Issuer = "http://127.0.0.1:9000" }), ""},
		{"issuer missing", with(func(is *jwt.Issuer) { is.Issuer = "" }), "authn.oidc[0].issuer"},
		{"issuer a word", with(func(is *jwt.Issuer) { is.Issuer = "api-keys" }), "https://"},
		{"issuer a file", with(func(is *jwt.Issuer) { is.Issuer = "file:///etc/idp" }), "https://"},
		{"issuer with query", with(func(is *jwt.Issuer) { is.Issuer += "?a=b" }), "query"},
		{"issuer with fragment", with(func(is *jwt.Issuer) { is.Issuer += "#" }), "fragment"},
		{"issuer with credentials", with(func(is *jwt.Issuer) { is.Issuer = "https://u:p4ss@idp.test" }),
			"credentials"},
		{"issuer without host", with(func(is *jwt.Issuer) { is.Issuer = "https:///x" }), "no host"},
		{"issuer twice", Config{OIDC: []jwt.Issuer{issuerConfig(), issuerConfig()}}, "listed twice"},
		{"no audience", with(func(is *jwt.Issuer) { is.Audiences = nil }), "audiences"},
		{"empty audience", with(func(is *jwt.Issuer) { is.Audiences = []string{"a", ""} }), "audiences"},
		{"alg none", with(func(is *jwt.Issuer) { is.Algorithms = []string{"none"} }), `"none" is not one of`},
		{"alg HS256", with(func(is *jwt.Issuer) { is.Algorithms = []string{"RS256", "HS256"} }),
			`"HS256" is not one of`},
		{"alg in another case", with(func(is *jwt.Issuer) { is.Algorithms = []string{"es256"} }),
			`"es256" is not one of`},
		{"all algs", with(func(is *jwt.Issuer) { is.Algorithms = authn.Signatures.Algorithms }), ""},
		{"http key set", with(func(is *jwt.Issuer) { is.JWKS = "http://idp.test/jwks" }), "jwks"},
		{"http key set of http issuer", with(func(is *jwt.Issuer) {
			is.Issuer, is.JWKS = "http://idp.test",
				"http://idp.test/k"
		}), ""},
		{"skew too large", with(func(is *jwt.Issuer) { is.ClockSkew = new(quantity.Duration(2 * time.Minute)) }), "clockSkew"},
		{"skew negative", with(func(is *jwt.Issuer) { is.ClockSkew = new(quantity.Duration(-1)) }), "clockSkew"},
		{"keys without file", Config{APIKeys: &apikey.Config{}}, "authn.apiKeys.file"},
		{"key header", header("x-my-key"), ""},
		{"key header with underscore", header("x_key"), "letters, digits and hyphens"},
		{"key header with a blank", header("x key"), "letters, digits and hyphens"},
		{"key header Authorization", header("authorization"), "meaning of its own"},
		{"key header Cookie", header("cookie"), "meaning of its own"},
		{"key header A2A-Version", header("a2a-version"), "meaning of its own"},
		{"key header DPoP", header("DPoP"), "meaning of its own"},
		{"key header that agents get", header("user-agent"), "meaning of its own"},
		{"key header that agents get", header("Idempotency-Key"), "meaning of its own"},
		{"key header that agents get", header("last-event-id"), "meaning of its own"},
		{"key header that agents get", header("Accept-Language"), "meaning of its own"},
		{"certificates alone", Config{MTLS: &clientcert.Config{}}, ""},
		{"token header", with(func(is *jwt.Issuer) { is.Header = "x-user-token" }), ""},
		{"token header Authorization", with(func(is *jwt.Issuer) { is.Header = "authorization" }), ""},
		{"token header Cookie", with(func(is *jwt.Issuer) { is.Header = "cookie" }), "authn.oidc[0].header"},
		{"token header with underscore", with(func(is *jwt.Issuer) { is.Header = "x_t" }), "letters, digits and hyphens"},
		{"token header of the keys", without(combos(), func(c *Config) { c.OIDC[1].Header = "x-api-key" }),
			"authn.oidc[1].header"},
		{"opaque tokens of one", asked("", "x-a"), ""},
		{"opaque tokens of two", asked("x-a", "x-b", "X-A"), "authn.oidc[2].introspection"},
		{"combinations", combos(authn.Combination{User: "oidc", Client: ""}, authn.Combination{User: "oidc", Client: "mtls"}, authn.Combination{User: "apiKeys", Client: "mtls"},
			authn.Combination{User: authntest.TestIssuer, Client: "https://own.test"}, authn.Combination{User: "oidc", Client: "https://own.test"},
			authn.Combination{User: "https://own.test", Client: "oidc"}, authn.Combination{User: "oidc", Client: "apiKeys"}, authn.Combination{User: "mtls", Client: "oidc"}), ""},
		{"combination of nobody", combos(authn.Combination{}), "authn.combinations[0].user"},
		{"combination of a word", combos(authn.Combination{User: "oidc", Client: ""}, authn.Combination{User: "jwt", Client: ""}), "authn.combinations[1].user"},
		{"combination of a stranger", combos(authn.Combination{User: "oidc", Client: "https://evil.test"}), "combinations[0].client"},
		{"combination with itself", combos(authn.Combination{User: "oidc", Client: "oidc"}), "the same as user"},
		{"combination of one issuer", combos(authn.Combination{User: authntest.TestIssuer, Client: authntest.TestIssuer}), "the same as user"},
		{"combination twice", combos(authn.Combination{User: "oidc", Client: ""}, authn.Combination{User: "oidc", Client: ""}), "listed twice"},
		{"combination in one header", without(combos(authn.Combination{User: authntest.TestIssuer, Client: "https://own.test"}),
			func(c *Config) { c.OIDC[1].Header = "" }), "same header"},
		{"combination of any two in one header", without(combos(authn.Combination{User: "oidc", Client: "https://own.test"}),
			func(c *Config) { c.OIDC[1].Header = "" }), "same header"},
		{"combination of a single issuer with any", without(combos(authn.Combination{User: "oidc", Client: authntest.TestIssuer}),
			func(c *Config) { c.OIDC = c.OIDC[:1] }), "same header"},
		{"keys not configured", without(combos(authn.Combination{User: "apiKeys", Client: ""}), func(c *Config) { c.APIKeys = nil }),
			"combinations[0].user"},
		{"certificates not configured", without(combos(authn.Combination{User: "oidc", Client: "mtls"}), func(c *Config) { c.MTLS = nil }),
			"combinations[0].client"},
		{"tokens not configured", without(combos(authn.Combination{User: "oidc", Client: ""}), func(c *Config) { c.OIDC = nil }),
			"combinations[0].user"},
		{"no depth", Config{Anonymous: true, Actors: jwt.Actors{Depth: new(-1)}}, "authn.actors.depth"},
		{"depth without end", Config{Anonymous: true, Actors: jwt.Actors{Depth: new(17)}}, "authn.actors.depth"},
		{"depth", Config{Anonymous: true, Actors: jwt.Actors{Depth: new(16)}}, ""},
		{"no limit of failures", Config{Anonymous: true, Failures: failures.Config{PerMinute: -1}}, ""},
		{"failures too many", Config{Anonymous: true, Failures: failures.Config{PerMinute: 1e9}}, "authn.failures.perMinute"},
		{"failures, negative burst", Config{Anonymous: true, Failures: failures.Config{Burst: -1}}, "authn.failures.burst"},
	}
	for _, tt := range tests {
		err := tt.cfg.Validate()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "p4ss") {
			t.Errorf("%s: error shows a password: %v", tt.name, err)
		}
		if c, newErr := New(t.Context(), tt.cfg, Options{}); (newErr == nil) != (err == nil) {
			t.Errorf("%s: New says %v, Validate %v", tt.name, newErr, err)
		} else if newErr == nil {
			c.Close()
		}
	}
}

// Everything that is wrong is said at once.
func TestValidateReportsAll(t *testing.T) {
	t.Parallel()
	err := (&Config{OIDC: []jwt.Issuer{{Algorithms: []string{"x"}}, {ClockSkew: new(quantity.Duration(-1))}},
		APIKeys: &apikey.Config{Header: "Host"}}).Validate()
	for _, part := range []string{"oidc[0]", "algorithms", "oidc[1]", "clockSkew", "apiKeys", "meaning"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in: %v", part, err)
		}
	}
}

func TestConfigFromYAML(t *testing.T) {
	t.Parallel()
	const doc = `
oidc:
  - issuer: https://idp.test
    audiences: [https://gateway.test]
    algorithms: [ES256]
    jwks: https://idp.test/jwks
    claims: {subject: sub, groups: realm_access.roles, scopes: scp, client: azp, tenant: tid}
    tenant: acme
    clockSkew: 30s
apiKeys: {file: keys.yaml, header: X-Key, bearer: true}
anonymous: true
`
	var got Config
	if err := yaml.Load([]byte(doc), &got, yaml.WithKnownFields(true)); err != nil {
		t.Fatal(err)
	}
	want := Config{OIDC: []jwt.Issuer{{Issuer: "https://idp.test", Audiences: []string{"https://gateway.test"},
		Algorithms: []string{"ES256"},
		JWKS:       "https://idp.test/jwks", Claims: jwt.Claims{Subject: "sub", Groups: "realm_access.roles", Scopes: "scp", Client: "azp", Tenant: "tid"},
		Tenant:    "acme",
		ClockSkew: new(quantity.Duration(30 * time.Second))}}, APIKeys: &apikey.Config{File: "keys.yaml", Header: "X-Key",
		Bearer: true}, Anonymous: true}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// Credentials that go together may be bound to several agents each, and to one together.
func TestPrincipalOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		user, workload []string
		alone          bool
		want           string
	}{
		{nil, nil, true, ""}, {[]string{}, nil, true, ""}, {[]string{"a"}, nil, true, "a"},
		{[]string{"a", "b"}, nil, true, ""}, {[]string{"a", "a"}, nil, true, "a"},
		{nil, nil, false, ""}, {nil, []string{"a"}, false, "a"}, {[]string{"a"}, nil, false, "a"},
		{[]string{"a"}, []string{"b"}, false, ""}, {[]string{"a"}, []string{}, false, ""},
		{[]string{"a", "b"}, []string{"b", "c"}, false, "b"}, {[]string{"a", "b"}, []string{"b", "a"}, false, ""},
	} {
		p := &authn.Principal{Agents: tt.user}
		if !tt.alone {
			p.Workload = &authn.Principal{Agents: tt.workload}
		}
		if got := p.Only(); got != tt.want {
			t.Errorf("%q with %q: got %q, want %q", tt.user, tt.workload, got, tt.want)
		}
	}
}

func TestPrincipalKey(t *testing.T) {
	t.Parallel()
	seen := map[string]*authn.Principal{}
	for _, p := range []*authn.Principal{{Issuer: "a", Subject: "bc"}, {Issuer: "ab", Subject: "c"}, {Issuer: "",
		Subject: "abc"},
		{Issuer: "a1:b", Subject: "c"}, {Issuer: "a", Subject: "1:b1:c"}, {Issuer: "1:a", Subject: "c"}} {
		if was, ok := seen[p.Key()]; ok {
			t.Errorf("%v and %v share %q", p, was, p.Key())
		}
		seen[p.Key()] = p
	}
}
