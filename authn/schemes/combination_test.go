package schemes

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
)

// workloadIssuer signs tokens of software, which come in a header of their own.
const workloadIssuer = "https://workloads.test"

// connection is one whose client showed a good certificate with this SPIFFE id.
func connection(t testing.TB, id string, change func(*x509.Certificate)) *tls.ConnectionState {
	t.Helper()
	u, err := url.Parse(id)
	if err != nil {
		t.Fatal(err)
	}
	leaf := x509.Certificate{URIs: []*url.URL{u},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(30 * time.Minute),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature}
	if change != nil {
		change(&leaf)
	}
	chain := []*x509.Certificate{certtest.Issue(t, leaf, nil).Cert}
	return &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, PeerCertificates: chain,
		VerifiedChains: [][]*x509.Certificate{chain}}
}

// credentials are one of each kind, all good.
type credentials struct {
	cfg                   Config // without combinations
	net                   authntest.Many
	user, workload, other string // tokens: of the user, of software, of another user
	key                   string
	cert, badCert         *tls.ConnectionState
}

func newCredentials(t testing.TB) *credentials {
	t.Helper()
	k, path := keyStore(t)
	const other = "https://other.test"
	cr := &credentials{
		net: authntest.Many{authntest.TestIssuer: authntest.Standard(), workloadIssuer: authntest.NewIDP(workloadIssuer, authntest.JWK("ec", "ES256", authntest.EcKey())),
			other: authntest.NewIDP(other, authntest.JWK("ec", "ES256", authntest.EcKey()))},
		cfg: Config{OIDC: []jwt.Issuer{issuerConfig(),
			{Issuer: workloadIssuer, Audiences: []string{authntest.TestAudience}, Header: "x-workload-token"},
			{Issuer: other, Audiences: []string{authntest.TestAudience}}},
			APIKeys: &apikey.Config{File: path, Bearer: true}, MTLS: &clientcert.Config{}},
		user:     authntest.Good(t, map[string]any{"exp": time.Now().Add(time.Hour).Unix()}),
		workload: authntest.Good(t, map[string]any{"iss": workloadIssuer, "sub": "orchestrator"}),
		other:    authntest.Good(t, map[string]any{"iss": other, "sub": "olga"}),
		key:      create(t, k, apikey.Spec{ID: "bob", Agents: []string{"billing"}}),
		cert:     connection(t, "spiffe://test/worker", nil),
		badCert:  connection(t, "spiffe://test/worker", func(c *x509.Certificate) { c.ExtKeyUsage = nil }),
	}
	return cr
}

func (cr *credentials) open(t testing.TB, combinations ...authn.Combination) *authn.Chain {
	t.Helper()
	cfg := cr.cfg
	cfg.Combinations = combinations
	return open(t, cfg, Options{Client: &http.Client{Transport: cr.net}})
}

// request carries the credentials of these names.
func (cr *credentials) request(names string) *http.Request {
	r := authntest.Request()
	for name := range strings.FieldsSeq(names) {
		switch name {
		case "user":
			r.Header.Add(credential.Authorization, "Bearer "+cr.user)
		case "other":
			r.Header.Add(credential.Authorization, "Bearer "+cr.other)
		case "workload":
			r.Header.Add("X-Workload-Token", cr.workload)
		case "misplaced":
			r.Header.Add("X-Workload-Token", cr.user)
		case "bad":
			r.Header.Add("X-Workload-Token", cr.workload+"x")
		case "key":
			r.Header.Add("X-Api-Key", cr.key)
		case "bad-key":
			r.Header.Add("X-Api-Key", cr.key+"x")
		case "bearer-key":
			r.Header.Add(credential.Authorization, "Bearer "+cr.key)
		case "basic":
			r.Header.Add(credential.Authorization, "Basic YTpi")
		case "cert":
			r.TLS = cr.cert
		case "bad-cert":
			r.TLS = cr.badCert
		}
	}
	return r
}

// call says who is calling, user before workload, or why nobody is.
func (cr *credentials) call(t *testing.T, c *authn.Chain, names string) string {
	t.Helper()
	p, err := c.Authenticate(cr.request(names))
	switch {
	case (p == nil) == (err == nil):
		t.Errorf("%s: principal %v and error %v", names, p, err)
	case err != nil:
		return authntest.FaultOf(err)
	case p.Workload != nil:
		return p.Subject + " by " + p.Workload.Subject
	}
	return p.Subject
}

func TestCombinations(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	const need, worker = "combination", "spiffe://test/worker"
	many := authn.ErrAmbiguous.Error()
	oidc, keys, mtls := authn.Combination{User: "oidc"}, authn.Combination{User: "apiKeys"}, authn.Combination{User: "mtls"}
	for _, tt := range []struct {
		name         string
		combinations []authn.Combination
		want         map[string]string // by the credentials of a request
	}{
		{"none", nil, map[string]string{
			"": "no credentials", "user": "alice", "key": "bob", "workload": "orchestrator", "cert": worker,
			"bearer-key": "bob", "user cert": "alice", "user bad-cert": "alice", "key cert": "bob",
			"user workload": many, "user key": many, "user user": many, "bad-cert": "certificate-use",
			"misplaced": "unknown-issuer", "basic": "unknown-scheme", "basic cert": "unknown-scheme",
		}},
		{"user and software", []authn.Combination{{User: authntest.TestIssuer, Client: workloadIssuer}}, map[string]string{
			"": "no credentials", "user workload": "alice by orchestrator", "user": need, "workload": need,
			"user workload cert": "alice by orchestrator", "cert": "no credentials", "user cert": need,
			"user key": many, "user workload key": many, "user user workload": many, "key": "unknown-scheme",
			"other": "unknown-scheme", "other workload": many, "user misplaced": "unknown-issuer",
			"user bad": "malformed", "basic workload": "unknown-scheme", "bearer-key workload": many,
		}},
		{"any user and software", []authn.Combination{{User: "oidc", Client: workloadIssuer}}, map[string]string{
			"user workload": "alice by orchestrator", "other workload": "olga by orchestrator", "workload": need,
		}},
		{"user and certificate", []authn.Combination{{User: "oidc", Client: "mtls"}}, map[string]string{
			"user cert": "alice by " + worker, "user": need, "cert": "no credentials",
			"user bad-cert": "certificate-use", "key cert": "unknown-scheme", "user key cert": many,
		}},
		{"certificate if there is one", []authn.Combination{oidc, {User: "oidc", Client: "mtls"}, mtls}, map[string]string{
			"user": "alice", "user cert": "alice by " + worker, "cert": worker,
			"user bad-cert": "certificate-use", "bad-cert": "certificate-use", "key": "unknown-scheme",
		}},
		{"alternatives", []authn.Combination{oidc, keys, {User: "oidc", Client: "apiKeys"}}, map[string]string{
			"user": "alice", "key": "bob", "user key": "alice by bob", "bearer-key": "bob", "user cert": "alice",
			"bearer-key key": "unknown-scheme", "key workload": "orchestrator by bob", "user workload": many,
		}},
		{"key beside a certificate", []authn.Combination{{User: "mtls", Client: "apiKeys"}}, map[string]string{
			"key cert": worker + " by bob", "bearer-key cert": worker + " by bob", "key": need, "cert": "no credentials",
		}},
	} {
		c := cr.open(t, tt.combinations...)
		for names, want := range tt.want {
			if got := cr.call(t, c, names); got != want {
				t.Errorf("%s, %q: got %s, want %s", tt.name, names, got, want)
			}
		}
	}
}

// The user's principal, with the bounds of both and the workload beside it. The
// principals that others share do not change.
func TestCombinedPrincipal(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	c := cr.open(t, authn.Combination{User: "oidc"}, authn.Combination{User: "oidc", Client: "apiKeys"},
		authn.Combination{User: "oidc", Client: "mtls"})
	alone, err := c.Authenticate(cr.request("user"))
	if err != nil {
		t.Fatal(err)
	}
	both, err := c.Authenticate(cr.request("user key"))
	if err != nil {
		t.Fatal(err)
	}
	if alone.Workload != nil || both.Key() != alone.Key() || both.Workload.Workload != nil {
		t.Errorf("alone %+v, both %+v", alone, both)
	}
	if !alone.MayUse("payroll") || both.MayUse("payroll") || !both.MayUse("billing") {
		t.Error("the workload's agents do not bind the call")
	}
	withCert, err := c.Authenticate(cr.request("user cert"))
	if err != nil {
		t.Fatal(err)
	}
	if !withCert.Expires.Equal(cr.cert.PeerCertificates[0].NotAfter) || !alone.Expires.After(withCert.Expires) {
		t.Errorf("expires %v, alone %v", withCert.Expires, alone.Expires)
	}
	if again, _ := c.Authenticate(cr.request("user")); again.Workload != nil {
		t.Error("a workload stayed with the user")
	}
}

func TestCombinationsAndAnonymous(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	cr.cfg.Anonymous = true
	c := cr.open(t, authn.Combination{User: "oidc", Client: "mtls"})
	for names, want := range map[string]string{"": "anonymous", "cert": "anonymous", "user": "combination",
		"basic": "unknown-scheme", "user cert": "alice by spiffe://test/worker"} {
		if got := cr.call(t, c, names); got != want {
			t.Errorf("%q: got %s, want %s", names, got, want)
		}
	}
}

// What is missing is asked for in its own challenge.
func TestMissingCredentialIsNamed(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	for _, tt := range []struct {
		k     authn.Combination
		names string
		part  string // of the one challenge with an error
	}{
		{authn.Combination{User: authntest.TestIssuer, Client: workloadIssuer}, "user", `header="X-Workload-Token"`},
		{authn.Combination{User: authntest.TestIssuer, Client: workloadIssuer}, "workload", `Bearer realm="", error=`},
		{authn.Combination{User: "oidc", Client: "apiKeys"}, "user", "ApiKey "},
	} {
		c := cr.open(t, tt.k)
		_, err := c.Authenticate(cr.request(tt.names))
		all := c.Challenges(authn.Demand{Err: err})
		all = slices.DeleteFunc(all, func(s string) bool { return !strings.Contains(s, "another credential") })
		if len(all) != 1 || !strings.Contains(all[0], tt.part) {
			t.Errorf("%+v with %s: %q", tt.k, tt.names, all)
		}
	}
}

func TestCredentialHeadersOfAll(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	want := []string{"Authorization", "Proxy-Authorization", "X-Api-Key", "X-Workload-Token", "Dpop"}
	if diff := cmp.Diff(want, cr.open(t).CredentialHeaders()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// How a token stands in a header of its own.
func TestTokenInItsOwnHeader(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	c := cr.open(t)
	for value, want := range map[string]string{
		cr.workload: "ok", "Bearer " + cr.workload: "ok", "bearer  " + cr.workload: "ok", "": "malformed",
		"Bearer": "malformed", "DPoP " + cr.workload: "not-bound", "Basic " + cr.workload: "malformed",
		"Bearer Bearer " + cr.workload: "malformed", cr.workload + " ": "malformed", cr.key: "malformed",
		"Bearer " + cr.user: "unknown-issuer",
	} {
		r := authntest.Request("X-Workload-Token", value)
		for range 2 { // with a cold cache and a warm one
			p, err := c.Authenticate(r)
			if authntest.FaultOf(err) != want {
				t.Errorf("%.20q: got %v, want %s", value, err, want)
			}
			if err == nil && (p.Carrier != "X-Workload-Token" || c.Token(p, r.Header) != cr.workload) {
				t.Errorf("%.20q: carrier %q", value, p.Carrier)
			}
		}
	}
	// A token that was seen in its own header is not taken in another's.
	if _, err := c.Authenticate(authntest.BearerOf(cr.workload)); authntest.FaultOf(err) != "unknown-issuer" {
		t.Errorf("in Authorization: %v", err)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	c := cr.open(t, authn.Combination{User: "oidc"}, authn.Combination{User: "apiKeys"}, authn.Combination{User: "mtls"},
		authn.Combination{User: "oidc", Client: workloadIssuer}, authn.Combination{User: "mtls", Client: "apiKeys"})
	for names, want := range map[string][2]string{
		"user": {cr.user}, "key": {cr.key}, "bearer-key": {cr.key}, "cert": {}, "user workload": {cr.user, cr.workload},
		"key cert": {"", cr.key},
	} {
		r := cr.request(names)
		p, err := c.Authenticate(r)
		if err != nil {
			t.Errorf("%s: %v", names, err)
			continue
		}
		if got := [2]string{c.Token(p, r.Header), c.Token(p.Workload, r.Header)}; got != want {
			t.Errorf("%s: got %.20q, want %.20q", names, got, want)
		}
		if c.Token(p, http.Header{}) != "" {
			t.Errorf("%s: a token out of nothing", names)
		}
	}
}
