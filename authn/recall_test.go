package authn

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func remembering(t testing.TB, p *Principal) []byte {
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
	key, bound := create(t, store, KeySpec{ID: "bob", Groups: []string{"a"}}), create(t, store, KeySpec{ID: "eve", Agents: []string{"billing"}})
	c := open(t, Config{APIKeys: &APIKeys{File: path}}, Options{})
	var written [][]byte
	for _, tt := range []struct {
		key   string
		agent string
		may   bool
	}{{key, "any", true}, {bound, "billing", true}, {bound, "any", false}} {
		p, err := c.Authenticate(request("X-API-Key", tt.key))
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
	later := open(t, Config{APIKeys: &APIKeys{File: path}}, Options{})
	for _, data := range written {
		_, err := later.Recall(data)
		want(t, "revoked", faultOf(err), "unknown-api-key")
	}
}

// TestRecallTokens: a token that has ended is still somebody's, one of an issuer that is
// gone nobody's, and a list of agents is what it was.
func TestRecallTokens(t *testing.T) {
	t.Parallel()
	c := openIDP(t, standard())
	for name, tt := range map[string]struct {
		p    Principal
		want string
	}{
		"ended":          {Principal{Subject: "alice", Issuer: issuerConfig().Issuer, Method: methodOIDC, Expires: time.Unix(1, 0)}, "ok"},
		"another issuer": {Principal{Subject: "alice", Issuer: "https://other.example", Method: methodOIDC}, "scheme"},
		"a key":          {Principal{Subject: "alice", Issuer: issuerAPIKeys, Method: methodAPIKey}, "scheme"},
		"nobody":         {Principal{Subject: "anonymous", Issuer: issuerAnonymous, Method: methodAnonymous}, "scheme"},
		"combined": {Principal{
			Subject: "alice", Issuer: issuerConfig().Issuer, Method: methodOIDC,
			Workload: &Principal{Subject: "service", Issuer: issuerConfig().Issuer, Method: methodOIDC},
		}, string(faultCombination)},
	} {
		tt.p.Claims, tt.p.Agents = map[string]any{"team": "a", "level": 3.0}, []string{}
		got, err := c.Recall(remembering(t, &tt.p))
		if tt.want == "scheme" {
			tt.want = string(faultScheme)
		}
		want(t, name, faultOf(err), tt.want)
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
	c := openIDP(f, standard())
	issuer := issuerConfig().Issuer
	for _, p := range []Principal{
		{Subject: "alice", Issuer: issuer, Method: methodOIDC},
		{Subject: "alice", Issuer: "https://other.example", Method: methodOIDC},
		{Subject: "anonymous", Issuer: issuerAnonymous, Method: methodAnonymous},
		{Subject: "alice", Issuer: issuer, Method: methodOIDC, Workload: &Principal{Subject: "s", Issuer: issuer, Method: methodMTLS}},
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
