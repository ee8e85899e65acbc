package schemes

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// What each change of the configuration does to callers that are there already.
func TestStandsAfterReload(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	user := []authn.Combination{{User: "oidc", Client: "mtls"}, {User: "oidc"}, {User: "apiKeys"}, {User: "mtls"}}
	const is, gone = "ok", "unknown-scheme"
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   map[string]string // by the credentials that the caller came with
	}{
		{"nothing", func(*Config) {}, map[string]string{"user": is, "workload": is, "key": is, "bearer-key": is,
			"cert": is}},
		{"an issuer less", func(c *Config) { c.OIDC = c.OIDC[1:] },
			map[string]string{"user": "unknown-issuer", "workload": is}},
		{"no issuer", func(c *Config) { c.OIDC = nil }, map[string]string{"user": gone, "key": is}},
		{"no API keys", func(c *Config) { c.APIKeys = nil }, map[string]string{"user": is, "key": gone}},
		{"no keys as bearer tokens", func(c *Config) { c.APIKeys = &apikey.Config{File: c.APIKeys.File} },
			map[string]string{"key": is, "bearer-key": gone}},
		{"keys in another header", func(c *Config) { c.APIKeys = &apikey.Config{File: c.APIKeys.File, Header: "x-k"} },
			map[string]string{"key": gone}},
		{"no certificates", func(c *Config) { c.MTLS = nil }, map[string]string{"user": is, "cert": gone}},
		{"another audience", func(c *Config) { c.OIDC[0].Audiences = []string{"x"} },
			map[string]string{"user": "audience", "workload": is}},
		{"one audience more", func(c *Config) { c.OIDC[0].Audiences = []string{"x", authntest.TestAudience} },
			map[string]string{"user": is}},
		{"other algorithms", func(c *Config) { c.OIDC[0].Algorithms = []string{"RS256"} },
			map[string]string{"user": "algorithm"}},
		{"fewer algorithms", func(c *Config) { c.OIDC[0].Algorithms = []string{"ES256"} }, map[string]string{"user": is}},
		{"another tenant", func(c *Config) { c.OIDC[0].Tenant = "acme" }, map[string]string{"user": "claims"}},
		{"another subject claim", func(c *Config) { c.OIDC[0].Claims.Subject = "iss" },
			map[string]string{"user": "claims"}},
		{"another skew", func(c *Config) { c.OIDC[0].ClockSkew = new(quantity.Duration(time.Second)) },
			map[string]string{"user": is}},
		{"another header", func(c *Config) { c.OIDC[1].Header = "x-other" },
			map[string]string{"user": is, "workload": "unknown-issuer"}},
		{"another key set, not loaded yet", func(c *Config) { c.OIDC[0].JWKS = authntest.TestIssuer + "/jwks" },
			map[string]string{"user": is}},
		{"bound tokens only", func(c *Config) { c.OIDC[0].SenderConstrained = true },
			map[string]string{"user": "not-bound"}},
		{"combinations with it", func(c *Config) { c.Combinations = user }, map[string]string{"user": is, "key": is}},
		{"combinations without it", func(c *Config) { c.Combinations = user[:1] },
			map[string]string{"user": "combination", "cert": "combination"}},
	} {
		o := Options{Client: &http.Client{Transport: cr.net}}
		before := open(t, cr.cfg, o)
		cfg := cr.cfg
		cfg.OIDC = append([]jwt.Issuer(nil), cr.cfg.OIDC...)
		tt.change(&cfg)
		o.Previous = before
		after := open(t, cfg, o)
		for names, want := range tt.want {
			p, err := before.Authenticate(cr.request(names))
			if err != nil {
				t.Fatalf("%s: %v", names, err)
			}
			if err := before.Stands(p); err != nil {
				t.Errorf("%s: %s does not stand in its own chain: %v", tt.name, names, err)
			}
			if err := after.Stands(p); authntest.FaultOf(err) != want {
				t.Errorf("%s: %s: got %v, want %s", tt.name, names, err, want)
			}
		}
	}
}

func TestStandsCombined(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	both := []authn.Combination{{User: "oidc", Client: "mtls"}}
	c := cr.open(t, both...)
	p, err := c.Authenticate(cr.request("user cert"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"nothing", func(*Config) {}, "ok"},
		{"more combinations", func(c *Config) { c.Combinations = append(c.Combinations, authn.Combination{User: "oidc"}) }, "ok"},
		{"no combinations", func(c *Config) { c.Combinations = nil }, "combination"},
		{"the user alone", func(c *Config) { c.Combinations = []authn.Combination{{User: "oidc"}} }, "combination"},
		{"other workloads", func(c *Config) { c.MTLS = &clientcert.Config{TrustDomains: []string{"elsewhere"}} }, "certificate-name"},
		{"other users", func(c *Config) { c.OIDC = c.OIDC[1:] }, "unknown-issuer"},
	} {
		cfg := cr.cfg
		cfg.Combinations = append([]authn.Combination(nil), both...)
		tt.change(&cfg)
		next := open(t, cfg, Options{Client: &http.Client{Transport: cr.net}, Previous: c})
		if err := next.Stands(p); authntest.FaultOf(err) != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestStandsAnonymous(t *testing.T) {
	t.Parallel()
	c := open(t, Config{Anonymous: true}, Options{})
	p, err := c.Authenticate(authntest.Request())
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, Config{Anonymous: true}, Options{Previous: c}).Stands(p); err != nil {
		t.Errorf("got %v", err)
	}
	beside := Config{Anonymous: true, MTLS: &clientcert.Config{}, Combinations: []authn.Combination{{User: "mtls"}}}
	if err := open(t, beside, Options{Previous: c}).Stands(p); err != nil {
		t.Errorf("beside combinations: %v", err)
	}
	if err := open(t, Config{MTLS: &clientcert.Config{}}, Options{Previous: c}).Stands(p); err == nil {
		t.Error("nobody in particular stands where everybody has to be somebody")
	}
	if err := c.Stands(&authn.Principal{Subject: "alice", Issuer: authntest.TestIssuer}); err == nil {
		t.Error("a principal that no chain made stands")
	}
}

// Time passes, and issuers withdraw keys.
func TestStandsWhileTheTokenDoes(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	i.Cache = "max-age=60"
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		short, err := c.Authenticate(authntest.BearerOf(authntest.Good(t, map[string]any{"exp": time.Now().Add(5 * time.Minute).Unix()})))
		if err != nil {
			t.Fatal(err)
		}
		long, err := c.Authenticate(authntest.BearerOf(authntest.Good(t, nil)))
		if err != nil {
			t.Fatal(err)
		}
		both := func(when, wantShort, wantLong string) {
			t.Helper()
			authntest.Want(t, when+": short", authntest.FaultOf(c.Stands(short)), wantShort)
			authntest.Want(t, when+": long", authntest.FaultOf(c.Stands(long)), wantLong)
		}
		both("at first", "ok", "ok")
		time.Sleep(5*time.Minute + 59*time.Second)
		both("within tolerance", "ok", "ok")
		time.Sleep(2 * time.Second)
		both("past tolerance", "expired", "ok")
		i.Set(func(i *authntest.IDP) { i.Down = true })
		time.Sleep(10 * time.Minute)
		_ = c.Warm(t.Context())
		both("issuer down", "expired", "ok")
		i.Set(func(i *authntest.IDP) { i.Down = false; i.Keys = i.Keys[:1] })
		time.Sleep(10 * time.Minute)
		_ = c.Warm(t.Context())
		synctest.Wait()
		both("key withdrawn", "expired", "unknown-key")
	})
}

func TestStandsOfAPIKeys(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key, other := create(t, k, apikey.Spec{ID: "bob"}), create(t, k, apikey.Spec{ID: "eve"})
	c := open(t, Config{APIKeys: &apikey.Config{File: path}}, Options{})
	p, err := c.Authenticate(authntest.Request("X-API-Key", key))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := c.Authenticate(authntest.Request("X-API-Key", other))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	authntest.Eventually(t, "the file is read", func() bool { return c.Stands(p) != nil })
	authntest.Want(t, "revoked", authntest.FaultOf(c.Stands(p)), "unknown-api-key")
	authntest.Want(t, "kept", authntest.FaultOf(c.Stands(kept)), "ok")
}

func BenchmarkStands(b *testing.B) {
	c := openIDP(b, authntest.Standard())
	p, err := c.Authenticate(authntest.BearerOf(authntest.BenchToken(b, "ES256", "ec", authntest.EcKey())))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Stands(p); err != nil {
			b.Fatal(err)
		}
	}
}
