package authn

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	with := func(change func(*Issuer)) Config {
		is := issuerConfig()
		change(&is)
		return Config{OIDC: []Issuer{is}}
	}
	header := func(h string) Config { return Config{APIKeys: &APIKeys{File: "k", Header: h}} }
	combos := func(k ...Combination) Config {
		own := Issuer{Issuer: "https://own.test", Audiences: []string{"x"}, Header: "x-own"}
		return Config{OIDC: []Issuer{issuerConfig(), own}, APIKeys: &APIKeys{File: "k"}, MTLS: &MTLS{}, Combinations: k}
	}
	without := func(c Config, change func(*Config)) Config { change(&c); return c }
	asked := func(header ...string) Config {
		var c Config
		for i, h := range header {
			in := &Introspection{ClientID: "gw", ClientSecret: secret.New("s")}
			c.OIDC = append(c.OIDC, Issuer{Issuer: "https://i" + string(rune('a'+i)), Audiences: []string{"x"}, Header: h,
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
		{"issuer", with(func(*Issuer) {}), ""},
		{"issuer with slash", with(func(is *Issuer) { is.Issuer += "/" }), ""},
		{"http issuer", with(func(is *Issuer) { is.Issuer = "http://127.0.0.1:9000" }), ""},
		{"issuer missing", with(func(is *Issuer) { is.Issuer = "" }), "authn.oidc[0].issuer"},
		{"issuer a word", with(func(is *Issuer) { is.Issuer = "api-keys" }), "https://"},
		{"issuer a file", with(func(is *Issuer) { is.Issuer = "file:///etc/idp" }), "https://"},
		{"issuer with query", with(func(is *Issuer) { is.Issuer += "?a=b" }), "query"},
		{"issuer with fragment", with(func(is *Issuer) { is.Issuer += "#" }), "fragment"},
		{"issuer with credentials", with(func(is *Issuer) { is.Issuer = "https://u:p4ss@idp.test" }),
			"credentials"},
		{"issuer without host", with(func(is *Issuer) { is.Issuer = "https:///x" }), "no host"},
		{"issuer twice", Config{OIDC: []Issuer{issuerConfig(), issuerConfig()}}, "listed twice"},
		{"no audience", with(func(is *Issuer) { is.Audiences = nil }), "audiences"},
		{"empty audience", with(func(is *Issuer) { is.Audiences = []string{"a", ""} }), "audiences"},
		{"alg none", with(func(is *Issuer) { is.Algorithms = []string{"none"} }), `"none" is not one of`},
		{"alg HS256", with(func(is *Issuer) { is.Algorithms = []string{"RS256", "HS256"} }),
			`"HS256" is not one of`},
		{"alg in another case", with(func(is *Issuer) { is.Algorithms = []string{"es256"} }),
			`"es256" is not one of`},
		{"all algs", with(func(is *Issuer) { is.Algorithms = profile.Algorithms }), ""},
		{"http key set", with(func(is *Issuer) { is.JWKS = "http://idp.test/jwks" }), "jwks"},
		{"http key set of http issuer", with(func(is *Issuer) {
			is.Issuer, is.JWKS = "http://idp.test",
				"http://idp.test/k"
		}), ""},
		{"skew too large", with(func(is *Issuer) { is.ClockSkew = new(secret.Duration(2 * time.Minute)) }), "clockSkew"},
		{"skew negative", with(func(is *Issuer) { is.ClockSkew = new(secret.Duration(-1)) }), "clockSkew"},
		{"keys without file", Config{APIKeys: &APIKeys{}}, "authn.apiKeys.file"},
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
		{"certificates alone", Config{MTLS: &MTLS{}}, ""},
		{"token header", with(func(is *Issuer) { is.Header = "x-user-token" }), ""},
		{"token header Authorization", with(func(is *Issuer) { is.Header = "authorization" }), ""},
		{"token header Cookie", with(func(is *Issuer) { is.Header = "cookie" }), "authn.oidc[0].header"},
		{"token header with underscore", with(func(is *Issuer) { is.Header = "x_t" }), "letters, digits and hyphens"},
		{"token header of the keys", without(combos(), func(c *Config) { c.OIDC[1].Header = "x-api-key" }),
			"authn.oidc[1].header"},
		{"opaque tokens of one", asked("", "x-a"), ""},
		{"opaque tokens of two", asked("x-a", "x-b", "X-A"), "authn.oidc[2].introspection"},
		{"combinations", combos(Combination{"oidc", ""}, Combination{"oidc", "mtls"}, Combination{"apiKeys", "mtls"},
			Combination{testIssuer, "https://own.test"}, Combination{"oidc", "https://own.test"},
			Combination{"https://own.test", "oidc"}, Combination{"oidc", "apiKeys"}, Combination{"mtls", "oidc"}), ""},
		{"combination of nobody", combos(Combination{}), "authn.combinations[0].user"},
		{"combination of a word", combos(Combination{"oidc", ""}, Combination{"jwt", ""}), "authn.combinations[1].user"},
		{"combination of a stranger", combos(Combination{"oidc", "https://evil.test"}), "combinations[0].client"},
		{"combination with itself", combos(Combination{"oidc", "oidc"}), "the same as user"},
		{"combination of one issuer", combos(Combination{testIssuer, testIssuer}), "the same as user"},
		{"combination twice", combos(Combination{"oidc", ""}, Combination{"oidc", ""}), "listed twice"},
		{"combination in one header", without(combos(Combination{testIssuer, "https://own.test"}),
			func(c *Config) { c.OIDC[1].Header = "" }), "same header"},
		{"combination of any two in one header", without(combos(Combination{"oidc", "https://own.test"}),
			func(c *Config) { c.OIDC[1].Header = "" }), "same header"},
		{"combination of a single issuer with any", without(combos(Combination{"oidc", testIssuer}),
			func(c *Config) { c.OIDC = c.OIDC[:1] }), "same header"},
		{"keys not configured", without(combos(Combination{"apiKeys", ""}), func(c *Config) { c.APIKeys = nil }),
			"combinations[0].user"},
		{"certificates not configured", without(combos(Combination{"oidc", "mtls"}), func(c *Config) { c.MTLS = nil }),
			"combinations[0].client"},
		{"tokens not configured", without(combos(Combination{"oidc", ""}), func(c *Config) { c.OIDC = nil }),
			"combinations[0].user"},
		{"no depth", Config{Anonymous: true, Actors: Actors{Depth: new(-1)}}, "authn.actors.depth"},
		{"depth without end", Config{Anonymous: true, Actors: Actors{Depth: new(17)}}, "authn.actors.depth"},
		{"depth", Config{Anonymous: true, Actors: Actors{Depth: new(16)}}, ""},
		{"no limit of failures", Config{Anonymous: true, Failures: Failures{PerMinute: -1}}, ""},
		{"failures too many", Config{Anonymous: true, Failures: Failures{PerMinute: 1e9}}, "authn.failures.perMinute"},
		{"failures, negative burst", Config{Anonymous: true, Failures: Failures{Burst: -1}}, "authn.failures.burst"},
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
	err := (&Config{OIDC: []Issuer{{Algorithms: []string{"x"}}, {ClockSkew: new(secret.Duration(-1))}},
		APIKeys: &APIKeys{Header: "Host"}}).Validate()
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
	want := Config{OIDC: []Issuer{{Issuer: "https://idp.test", Audiences: []string{"https://gateway.test"},
		Algorithms: []string{"ES256"},
		JWKS:       "https://idp.test/jwks", Claims: Claims{Subject: "sub", Groups: "realm_access.roles", Scopes: "scp", Client: "azp", Tenant: "tid"},
		Tenant:    "acme",
		ClockSkew: new(secret.Duration(30 * time.Second))}}, APIKeys: &APIKeys{File: "keys.yaml", Header: "X-Key",
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
		p := &Principal{Agents: tt.user}
		if !tt.alone {
			p.Workload = &Principal{Agents: tt.workload}
		}
		if got := p.Only(); got != tt.want {
			t.Errorf("%q with %q: got %q, want %q", tt.user, tt.workload, got, tt.want)
		}
	}
}

func TestPrincipalKey(t *testing.T) {
	t.Parallel()
	seen := map[string]*Principal{}
	for _, p := range []*Principal{{Issuer: "a", Subject: "bc"}, {Issuer: "ab", Subject: "c"}, {Issuer: "",
		Subject: "abc"},
		{Issuer: "a1:b", Subject: "c"}, {Issuer: "a", Subject: "1:b1:c"}, {Issuer: "1:a", Subject: "c"}} {
		if was, ok := seen[p.Key()]; ok {
			t.Errorf("%v and %v share %q", p, was, p.Key())
		}
		seen[p.Key()] = p
	}
}
