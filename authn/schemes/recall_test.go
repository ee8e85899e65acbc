package schemes

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

func remembering(t testing.TB, p *authn.Principal) []byte {
	t.Helper()
	data, err := p.Remember()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRecallKeys: what was written down is the key's as it is now, and nobody's once that
// is revoked.
func TestRecallKeys(t *testing.T) {
	t.Parallel()
	store, path := keyStore(t)
	key, bound := create(t, store, apikey.Spec{ID: "bob", Groups: []string{"a"}}), create(t, store, apikey.Spec{ID: "eve", Agents: []string{"billing"}})
	c := open(t, Config{APIKeys: &apikey.Config{File: path}}, Options{})
	var written [][]byte
	for _, tt := range []struct {
		key   string
		agent string
		may   bool
	}{{key, "any", true}, {bound, "billing", true}, {bound, "any", false}} {
		p, err := c.Authenticate(authntest.Request("X-API-Key", tt.key))
		if err != nil {
			t.Fatal(err)
		}
		data := remembering(t, p)
		if bytes.Contains(data, []byte(tt.key)) {
			t.Errorf("the key is written down: %s", data)
		}
		again, err := c.Recall(data)
		if err != nil || again.Key() != p.Key() || !slices.Equal(again.Groups, p.Groups) || again.MayUse(tt.agent) != tt.may {
			t.Errorf("recalled %+v, %v", again, err)
		}
		written = append(written, data)
	}
	if err := errors.Join(store.Revoke("bob"), store.Revoke("eve")); err != nil {
		t.Fatal(err)
	}
	later := open(t, Config{APIKeys: &apikey.Config{File: path}}, Options{})
	for _, data := range written {
		_, err := later.Recall(data)
		authntest.Want(t, "revoked", authntest.FaultOf(err), "unknown-api-key")
	}
}

// TestRecallTokens: a token that has ended is still somebody's, one of an issuer that is
// gone nobody's, and a list of agents is what it was.
func TestRecallTokens(t *testing.T) {
	t.Parallel()
	c := openIDP(t, authntest.Standard())
	for name, tt := range map[string]struct {
		p    authn.Principal
		want string
	}{
		"ended":          {authn.Principal{Subject: "alice", Issuer: issuerConfig().Issuer, Method: "oidc", Expires: time.Unix(1, 0)}, "ok"},
		"another issuer": {authn.Principal{Subject: "alice", Issuer: "https://other.example", Method: "oidc"}, "scheme"},
		"a key":          {authn.Principal{Subject: "alice", Issuer: "api-keys", Method: "api-key"}, "scheme"},
		"nobody":         {authn.Principal{Subject: "anonymous", Issuer: authn.IssuerAnonymous, Method: authn.MethodAnonymous}, "scheme"},
		"combined": {authn.Principal{
			Subject: "alice", Issuer: issuerConfig().Issuer, Method: "oidc",
			Workload: &authn.Principal{Subject: "service", Issuer: issuerConfig().Issuer, Method: "oidc"},
		}, string(authn.FaultCombination)},
	} {
		tt.p.Claims, tt.p.Agents = map[string]any{"team": "a", "level": 3.0}, []string{}
		got, err := c.Recall(remembering(t, &tt.p))
		if tt.want == "scheme" {
			tt.want = string(authn.FaultScheme)
		}
		authntest.Want(t, name, authntest.FaultOf(err), tt.want)
		if err == nil && (got.Claims["level"] != 3.0 || got.MayUse("any") || !got.Expires.Equal(tt.p.Expires)) {
			t.Errorf("%s: recalled %+v", name, got)
		}
	}
	if _, err := c.Recall([]byte("hush")); err == nil || bytes.Contains([]byte(err.Error()), []byte("hush")) {
		t.Errorf("what is no principal: %v", err)
	}
}

// FuzzRecall: whatever was written down, whoever comes back is somebody that the
// configuration still knows, each part of them, and the error quotes nothing.
func FuzzRecall(f *testing.F) {
	c := openIDP(f, authntest.Standard())
	issuer := issuerConfig().Issuer
	for _, p := range []authn.Principal{
		{Subject: "alice", Issuer: issuer, Method: "oidc"},
		{Subject: "alice", Issuer: "https://other.example", Method: "oidc"},
		{Subject: "anonymous", Issuer: authn.IssuerAnonymous, Method: authn.MethodAnonymous},
		{Subject: "alice", Issuer: issuer, Method: "oidc", Workload: &authn.Principal{Subject: "s", Issuer: issuer, Method: "mtls"}},
	} {
		f.Add(remembering(f, &p))
	}
	f.Add([]byte(`{"Workload":{"Workload":{}}}`))
	f.Add([]byte("hush-hush-hush"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := c.Recall(data)
		if err != nil {
			if len(data) > 8 && strings.Contains(err.Error(), string(data)) {
				t.Errorf("%q is in %v", data, err)
			}
			return
		}
		if p.Issuer != issuer || p.Workload != nil {
			t.Errorf("%q is %+v", data, p)
		}
	})
}
