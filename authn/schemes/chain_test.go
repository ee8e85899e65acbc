package schemes

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
)

// Which requests carry one credential, and whose it is.
func TestL5_ExactlyOneCredential(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key := create(t, k, apikey.Spec{ID: "bob"})
	token := authntest.Good(t, nil)
	issuers, file := []jwt.Issuer{issuerConfig()}, &apikey.Config{File: path}
	configs := map[string]Config{
		"both":      {OIDC: issuers, APIKeys: file},
		"oidc":      {OIDC: issuers},
		"keys":      {APIKeys: file},
		"bearer":    {OIDC: issuers, APIKeys: &apikey.Config{File: path, Bearer: true, Header: "x-gateway-key"}},
		"open":      {Anonymous: true},
		"both+open": {OIDC: issuers, APIKeys: file, Anonymous: true},
	}
	chains := map[string]*authn.Chain{}
	for name, cfg := range configs {
		chains[name] = open(t, cfg, Options{Client: &http.Client{Transport: authntest.Standard()}})
	}
	bt, bk, ak := "Bearer "+token, "Bearer "+key, "Authorization"
	tests := []struct {
		chain   string
		headers []string
		want    string
	}{
		{"both", nil, "no credentials"},
		{"both", []string{ak, bt}, "alice"},
		{"both", []string{"x-api-key", key}, "bob"},
		{"both", []string{ak, bt, "X-API-Key", key}, authn.ErrAmbiguous.Error()},
		{"both", []string{ak, bt, ak, bt}, authn.ErrAmbiguous.Error()},
		{"both", []string{"X-API-Key", key, "X-API-Key", key}, authn.ErrAmbiguous.Error()},
		{"both", []string{"X-API-Key", key, "X-API-Key", ""}, authn.ErrAmbiguous.Error()},
		{"both", []string{ak, "Basic YTpi", "X-API-Key", key}, authn.ErrAmbiguous.Error()},
		{"both", []string{ak, "", "X-API-Key", key}, authn.ErrAmbiguous.Error()},
		{"both", []string{ak, "Basic YTpi"}, "unknown-scheme"},
		{"both", []string{ak, "DPoP " + token}, "not-bound"},
		{"both", []string{ak, token}, "unknown-scheme"},
		{"both", []string{ak, ""}, "unknown-scheme"},
		{"both", []string{ak, "Bearer"}, "malformed"},
		{"both", []string{ak, "Bearer "}, "malformed"},
		{"both", []string{ak, "Bearer" + token}, "unknown-scheme"},
		{"both", []string{ak, "Bearer\t" + token}, "unknown-scheme"},
		{"both", []string{ak, "bEARER   " + token}, "alice"},
		{"both", []string{ak, bt + ", " + bt}, "malformed"},
		{"both", []string{ak, bt + ","}, "malformed"},
		{"both", []string{ak, bk}, "malformed"},
		{"both", []string{"X-API-Key", ""}, "malformed"},
		{"both", []string{"X-API-Key", token}, "malformed"},
		{"both", []string{"Cookie", "Authorization=" + bt}, "no credentials"},
		{"oidc", []string{"X-API-Key", key}, "unknown-scheme"},
		{"oidc", []string{ak, bt, "X-API-Key", "anything"}, authn.ErrAmbiguous.Error()},
		{"keys", []string{ak, bt}, "unknown-scheme"},
		{"keys", []string{"X-API-Key", key}, "bob"},
		{"bearer", []string{ak, bk}, "bob"},
		{"bearer", []string{ak, bt}, "alice"},
		{"bearer", []string{ak, bk + "="}, "malformed"},
		{"bearer", []string{"X-Gateway-Key", key}, "bob"},
		{"bearer", []string{"X-API-Key", key}, "unknown-scheme"},
		{"bearer", []string{"X-API-Key", key, "X-Gateway-Key", key}, authn.ErrAmbiguous.Error()},
		{"open", nil, "anonymous"},
		{"open", []string{ak, bt}, "anonymous"},
		{"open", []string{ak, bt, ak, bt}, authn.ErrAmbiguous.Error()},
		{"both+open", nil, "anonymous"},
		{"both+open", []string{ak, bt}, "alice"},
		{"both+open", []string{ak, "Bearer " + otherSignature(t)}, "signature"},
		{"both+open", []string{ak, "Basic YTpi"}, "unknown-scheme"},
		{"both+open", []string{"X-API-Key", key + "="}, "malformed"},
	}
	for _, tt := range tests {
		p, err := chains[tt.chain].Authenticate(authntest.Request(tt.headers...))
		got := authntest.FaultOf(err)
		if err == nil {
			got = p.Subject
		}
		if got != tt.want {
			t.Errorf("%s with %.60q: got %s (%v), want %s", tt.chain, tt.headers, got, err, tt.want)
		}
		if (p == nil) == (err == nil) {
			t.Errorf("%s with %.60q: principal %v and error %v", tt.chain, tt.headers, p, err)
		}
	}
	if !errors.Is(func() error { _, err := chains["both"].Authenticate(authntest.Request()); return err }(),
		authn.ErrNoCredentials) {
		t.Error("no credentials is not ErrNoCredentials")
	}
	want := []string{"Authorization", "Proxy-Authorization", "X-Api-Key", "X-Gateway-Key", "Dpop"}
	if diff := cmp.Diff(want, chains["bearer"].CredentialHeaders()); diff != "" {
		t.Errorf("credential headers: %s", diff)
	}
}

// otherSignature is a token with the signature of another one.
func otherSignature(t *testing.T) string {
	t.Helper()
	input, _, _ := cutToken(authntest.Good(t, nil))
	_, sig, _ := cutToken(authntest.Good(t, map[string]any{"sub": "root"}))
	return input + "." + sig
}

// A property of every chain that is not open: no header but a good credential
// makes a principal.
func TestNoPrincipalWithoutCredential(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	create(t, k, apikey.Spec{ID: "bob"})
	c := open(t, Config{OIDC: []jwt.Issuer{issuerConfig()}, APIKeys: &apikey.Config{File: path, Bearer: true}},
		Options{Client: &http.Client{Transport: authntest.Standard()}})
	rapid.Check(t, func(t *rapid.T) {
		r := authntest.Request()
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			name := rapid.SampledFrom([]string{"Authorization", "X-Api-Key", "X-Forwarded-User",
				"X-Client-Cert"}).Draw(t, "name")
			value := rapid.SampledFrom([]string{"", "Bearer ", "bearer a2a_bob_", "Basic "}).Draw(t,
				"scheme") + rapid.String().Draw(t, "value")
			r.Header.Add(name, value)
		}
		if p, err := c.Authenticate(r); p != nil || err == nil {
			t.Fatalf("%v made %v", r.Header, p)
		}
	})
}

func TestObserve(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	key := create(t, k, apikey.Spec{ID: "bob"})
	var mu sync.Mutex
	var seen, refreshed []string
	i := authntest.Standard()
	clock := authntest.NewClock(time.Now())
	c := open(t, Config{OIDC: []jwt.Issuer{issuerConfig()}, APIKeys: &apikey.Config{File: path}},
		Options{Client: &http.Client{Transport: i}, Now: clock.Now,
			Observe:   func(p, r string) { mu.Lock(); seen = append(seen, p+" "+r); mu.Unlock() },
			Refreshed: func(is, r string) { mu.Lock(); refreshed = append(refreshed, is+" "+r); mu.Unlock() }})
	token := authntest.Good(t, nil)
	i.Set(func(i *authntest.IDP) { i.Down = true })
	for _, r := range []*http.Request{authntest.BearerOf(token)} {
		_, _ = c.Authenticate(r)
	}
	i.Set(func(i *authntest.IDP) { i.Down = false })
	clock.Pass(time.Minute)
	for _, r := range []*http.Request{authntest.Request(), authntest.BearerOf(token), authntest.BearerOf(token), authntest.BearerOf(authntest.Good(t,
		map[string]any{"iss": "https://evil.test"})),
		authntest.BearerOf("x"), authntest.BearerOf(authntest.Good(t, map[string]any{"aud": "x"})), authntest.Request("X-API-Key", key),
		authntest.Request("X-API-Key", key+"="),
		authntest.Request("Authorization", "Basic x")} {
		_, _ = c.Authenticate(r)
	}
	wantSeen := []string{authntest.TestIssuer + " unavailable", authntest.TestIssuer + " ok", authntest.TestIssuer + " ok",
		"unknown unknown-issuer", "unknown malformed",
		authntest.TestIssuer + " audience", "api-keys ok", "api-keys malformed", "unknown unknown-scheme"}
	if diff := cmp.Diff(wantSeen, seen); diff != "" {
		t.Errorf("observed -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{authntest.TestIssuer + " failed", authntest.TestIssuer + " ok"}, refreshed); diff != "" {
		t.Errorf("refreshed -want +got\n%s", diff)
	}
}

func TestIssuersAndWarm(t *testing.T) {
	t.Parallel()
	const down = "https://down.test"
	broken := authntest.NewIDP(down)
	broken.Down = true
	net := authntest.Many{authntest.TestIssuer: authntest.Standard(), down: broken}
	c := open(t, Config{OIDC: []jwt.Issuer{{Issuer: down, Audiences: []string{"x"}}, issuerConfig()}},
		Options{Client: &http.Client{Transport: net}})
	if got := c.Issuers(); !slices.Equal(got, []string{down, authntest.TestIssuer}) {
		t.Errorf("issuers %v", got)
	}
	err := c.Warm(context.Background())
	if !errors.Is(err, authn.ErrUnavailable) || !strings.Contains(err.Error(), down) ||
		strings.Contains(err.Error(), authntest.TestIssuer) {
		t.Errorf("warm: %v", err)
	}
	if err := open(t, Config{Anonymous: true}, Options{}).Warm(context.Background()); err != nil {
		t.Errorf("warm without issuers: %v", err)
	}
}

// A bearer token is in no error, log line or challenge.
func TestTokenIsNowhere(t *testing.T) {
	t.Parallel()
	var log authntest.Log
	i := authntest.Standard()
	c := open(t, Config{OIDC: []jwt.Issuer{issuerConfig()}}, Options{Client: &http.Client{Transport: i},
		Logger: log.Logger()})
	tokens := []string{authntest.Good(t, nil), authntest.Good(t, map[string]any{"aud": "x"}), authntest.Good(t, map[string]any{"sub": 1})}
	for _, alg := range []string{"none", "HS256", "RS256"} {
		tokens = append(tokens, authntest.Sign(t, authntest.EcKey(), map[string]any{"alg": alg, "kid": "zz"}, authntest.ClaimsOf(nil)))
	}
	for _, token := range tokens {
		for _, presented := range []string{token, token[:len(token)-9], strings.Replace(token, ".", "", 1)} {
			p, err := c.Authenticate(authntest.BearerOf(presented))
			text := log.String() + strings.Join(c.Challenges(authn.Demand{Realm: "r", Err: err}), "")
			if err != nil {
				text += err.Error()
			} else {
				text += p.String()
			}
			_, sig, _ := cutToken(token)
			for _, part := range []string{token, token[:40], sig[:20]} {
				if strings.Contains(text, part) {
					t.Errorf("%q shows %q", text, part)
				}
			}
		}
	}
}
