package credentials

import (
	"encoding/base64"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestOccasions: what is shown when.
func TestOccasions(t *testing.T) {
	t.Parallel()
	s, own := newTokenServer(t), newTokenServer(t)
	own.says(http.StatusOK, `{"access_token":"own","token_type":"bearer"}`)
	token := ""
	onDemand := exchangeAt(s, func(x *Exchange) { x.Audience, x.Resource = []string{"ledger"}, []string{"https://ledger.example"} })
	onDemand.On = onAuthRequired
	u := newSet(t, []Credential{
		onDemand,
		{OAuth2: &OAuth2{TokenURL: secret.URL(own.URL), ClientID: "gw"}},
		{Header: "x-key", On: always, Value: secret.New("k")},
		{Header: "x-own", Prefix: &token, OAuth2: &OAuth2{TokenURL: secret.URL(own.URL), ClientID: "gw"}},
		{Header: "x-late", On: onAuthRequired, Value: secret.New("late")},
		{Header: "x-user", Passthrough: true},
	})
	user := http.Header{"X-User": {"me"}}
	demanding := func(audiences ...string) *Caller {
		c := alice()
		c.Header, c.Demanded = user, &Demand{Audiences: audiences}
		return c
	}
	usual := alice()
	usual.Header = user
	for name, tt := range map[string]struct {
		caller *Caller
		want   http.Header
	}{
		"the gateway's own": {nil, http.Header{"Authorization": {"Bearer own"}, "X-Key": {"k"}, "X-Own": {"own"}}},
		"a call":            {usual, http.Header{"Authorization": {"Bearer own"}, "X-Key": {"k"}, "X-Own": {"own"}, "X-User": {"me"}}},
		"any demand": {demanding(), http.Header{
			"Authorization": {"Bearer t1"}, "X-Key": {"k"}, "X-Own": {"own"}, "X-User": {"me"}, "X-Late": {"late"},
		}},
		"the audience's demand": {demanding("other", "ledger"), http.Header{"Authorization": {"Bearer t1"}, "X-Key": {"k"}, "X-Own": {"own"}, "X-User": {"me"}}},
		"the resource's demand": {demanding("https://ledger.example"), http.Header{"Authorization": {"Bearer t1"}, "X-Key": {"k"}, "X-Own": {"own"}, "X-User": {"me"}}},
		"another's demand":      {demanding("other"), http.Header{"Authorization": {"Bearer own"}, "X-Key": {"k"}, "X-Own": {"own"}, "X-User": {"me"}}},
	} {
		got := http.Header{}
		must(t, u.Authorize(t.Context(), got, tt.caller))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for audience, want := range map[string]bool{"ledger": true, "https://ledger.example": true, "other": false, "Ledger": false} {
		if got := u.Answers(&Demand{Audiences: []string{audience}}); got != want {
			t.Errorf("answers %s: %v", audience, got)
		}
	}
	if !u.Answers(&Demand{}) || u.Answers(nil) || newSet(t, nil).Answers(&Demand{}) {
		t.Error("answers the wrong demands")
	}
	want := []string{"oauth2 Authorization", "value X-Key", "oauth2 X-Own", "passthrough X-User"}
	if diff := cmp.Diff(want, u.Shown()); diff != "" {
		t.Error(diff)
	}
	want = []string{"value X-Key", "oauth2 X-Own", "passthrough X-User", "exchange Authorization", "value X-Late"}
	if diff := cmp.Diff(want, u.ShownTo(&Demand{})); diff != "" {
		t.Error(diff)
	}
}

// TestPassthroughAudience: a token goes on to those it names only.
func TestPassthroughAudience(t *testing.T) {
	t.Parallel()
	jwt := func(payload string) string {
		return "Bearer e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2ln"
	}
	verified := alice().Principal
	verified.Claims = map[string]any{"aud": []any{"gateway", "billing"}}
	elsewhere := *verified
	elsewhere.Carrier = "X-Other"
	workload := &authn.Principal{Subject: "s", Issuer: "i", Carrier: "X-User", Workload: verified}
	for name, tt := range map[string]struct {
		header string
		p      *authn.Principal
		ok     bool
	}{
		"one":                       {jwt(`{"aud":"billing"}`), nil, true},
		"several":                   {jwt(`{"aud":["gateway","billing"]}`), nil, true},
		"DPoP":                      {"dpop" + jwt(`{"aud":"billing"}`)[6:], nil, true},
		"no scheme":                 {jwt(`{"aud":"billing"}`)[7:], nil, true},
		"another":                   {jwt(`{"aud":"gateway"}`), nil, false},
		"none":                      {jwt(`{}`), nil, false},
		"a number":                  {jwt(`{"aud":["billing",1]}`), nil, false},
		"an object":                 {jwt(`{"aud":{"billing":1}}`), nil, false},
		"named twice":               {jwt(`{"aud":"gateway","aud":"billing"}`), nil, false},
		"no base64":                 {"Bearer a.!.b", nil, false},
		"opaque":                    {"Bearer billing", nil, false},
		"no header":                 {"", nil, false},
		"verified, opaque":          {"Bearer opaque", verified, true},
		"verified, of the workload": {"Bearer opaque", workload, true},
		"verified in another":       {"Bearer opaque", &elsewhere, false},
		"verified, and it lies":     {jwt(`{"aud":"other"}`), verified, true},
	} {
		u := newSet(t, []Credential{{Passthrough: true, Audience: "billing"}})
		in := http.Header{}
		if tt.header != "" {
			in.Set("Authorization", tt.header)
		}
		got, err := authorizedAs(t, u, &Caller{Header: in, Principal: tt.p})
		if tt.ok && (err != nil || got != tt.header) || !tt.ok && (!errors.Is(err, ErrNobody) || got != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestAsks: where a caller is not asked for, the agent is shown the same without one.
func TestAsks(t *testing.T) {
	t.Parallel()
	s := newTokenServer(t)
	s.says(http.StatusOK, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`)
	o, _ := signing(t)
	for name, tt := range map[string]struct {
		credential Credential
		asks       bool
	}{
		"value":          {Credential{Value: secret.New("v")}, false},
		"oauth2":         {Credential{OAuth2: &OAuth2{TokenURL: secret.URL(s.URL), ClientID: "gw"}}, false},
		"exchange":       {exchangeAt(s), true},
		"assertion":      {Credential{Assertion: &Assertion{Audience: "a"}}, true},
		"passthrough":    {Credential{Passthrough: true}, true},
		"only on demand": {Credential{On: onAuthRequired, Value: secret.New("v")}, true},
	} {
		u, err := made([]Credential{{Header: "X-Other", Value: secret.New("w")}, tt.credential}, o)
		must(t, err)
		t.Cleanup(u.Close)
		if got := u.Asks(); got != tt.asks {
			t.Errorf("%s: asks %v", name, got)
		}
		if tt.asks {
			continue
		}
		with, without := http.Header{}, http.Header{}
		c := alice()
		c.Demanded = &Demand{}
		must(t, u.Authorize(t.Context(), with, c))
		must(t, u.Authorize(t.Context(), without, nil))
		if diff := cmp.Diff(with, without); diff != "" || len(with) != 2 {
			t.Errorf("%s: %v\n%s", name, with, diff)
		}
	}
	if newSet(t, nil).Asks() {
		t.Error("no credential asks for a caller")
	}
}
