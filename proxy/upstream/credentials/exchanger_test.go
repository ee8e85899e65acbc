package credentials

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

const (
	tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	jwtBearer     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

// TestExchangeParameters: what the authorization server is told, every parameter of it.
func TestExchangeParameters(t *testing.T) {
	t.Parallel()
	mapping := &Permissions{
		Scopes: map[string][]string{"billing.read": {"r"}, "billing.write": {"w", "r"}},
		Groups: map[string][]string{"finance": {"f"}, "others": {"o"}}, Always: []string{"openid"},
	}
	for name, tt := range map[string]struct {
		edit   func(*Exchange)
		caller func(*Caller)
		want   url.Values
	}{
		"nothing but the token": {want: url.Values{
			"grant_type": {tokenExchange}, "subject_token": {"alice-token"}, "subject_token_type": {typeAccess},
		}},
		"everything": {
			edit: func(x *Exchange) {
				x.SubjectType, x.RequestedType = typeJWT, typeAccess
				x.Audience, x.Resource = []string{"b", "a"}, []string{"https://ledger.example/api"}
				x.Identity = &Identity{Claim: "email", Subjects: map[string]string{"alice@example.com": "al"}}
				x.Permissions = mapping
			},
			want: url.Values{
				"grant_type": {tokenExchange}, "subject_token": {"alice-token"}, "subject_token_type": {typeJWT},
				"requested_token_type": {typeAccess}, "audience": {"b", "a"}, "resource": {"https://ledger.example/api"},
				"scope": {"f openid r w"},
			},
		},
		"a demand narrows": {
			edit:   func(x *Exchange) { x.Permissions = mapping },
			caller: func(c *Caller) { c.Demanded = &Demand{Scopes: []string{"admin", "r"}} },
			want: url.Values{
				"grant_type": {tokenExchange}, "subject_token": {"alice-token"}, "subject_token_type": {typeAccess},
				"scope": {"openid r"},
			},
		},
		"the workload's token": {
			edit: func(x *Exchange) { x.Subject = subjectClient },
			caller: func(c *Caller) {
				c.Workload, c.Principal.Workload = "app-token", &authn.Principal{Subject: "app", Issuer: "i", Method: "introspection"}
			},
			want: url.Values{
				"grant_type": {tokenExchange}, "subject_token": {"app-token"}, "subject_token_type": {typeAccess},
			},
		},
		"jwt-bearer": {
			edit: func(x *Exchange) { x.Grant, x.Permissions = grantBearer, &Permissions{Always: []string{"s"}} },
			want: url.Values{"grant_type": {jwtBearer}, "assertion": {"alice-token"}, "scope": {"s"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTokenServer(t)
			if tt.edit == nil {
				tt.edit = func(*Exchange) {}
			}
			caller := alice()
			if tt.caller != nil {
				tt.caller(caller)
			}
			c := exchangeAt(s, tt.edit)
			if caller.Demanded != nil {
				c.On = onAuthRequired
			}
			u := newSet(t, []Credential{c})
			got, err := authorizedAs(t, u, caller)
			must(t, err)
			requests := s.take()
			if got != "Bearer t1" || len(requests) != 1 {
				t.Fatalf("%q after %d requests", got, len(requests))
			}
			if diff := cmp.Diff(tt.want, requests[0].Form); diff != "" {
				t.Error(diff)
			}
			// RFC 6749 §2.3.1: both are encoded as in a form first.
			if r := requests[0]; r.ID != "gate+way" || r.Password != "s%26cret" || r.Header.Get("Accept") != "application/json" {
				t.Errorf("authenticated as %q %q", r.ID, r.Password)
			}
		})
	}
}

// TestExchangeActor: the gateway as the actor, by a token of its own that is fetched once.
func TestExchangeActor(t *testing.T) {
	t.Parallel()
	s := newTokenServer(t)
	var kinds []string
	u, err := made([]Credential{exchangeAt(s, func(x *Exchange) { x.Actor = actorClient })}, Options{
		Fetched: func(kind, result string) { kinds = append(kinds, kind+" "+result) }, // one after the other
	})
	must(t, err)
	t.Cleanup(u.Close)
	for _, who := range []string{"alice", "bob"} {
		caller := alice()
		caller.Principal.Subject, caller.Token = who, who+"-token"
		_, err := authorizedAs(t, u, caller)
		must(t, err)
	}
	requests := s.take()
	if len(requests) != 3 || requests[0].Form.Get("grant_type") != "client_credentials" {
		t.Fatalf("%v", requests)
	}
	for i, who := range []string{"alice", "bob"} {
		form := requests[i+1].Form
		if form.Get("subject_token") != who+"-token" || form.Get("actor_token") != "t1" || form.Get("actor_token_type") != typeAccess {
			t.Errorf("%v", form)
		}
	}
	if want := []string{"actor ok", "exchange ok", "exchange ok"}; cmp.Diff(want, kinds) != "" {
		t.Errorf("fetched %v", kinds)
	}
}

// TestNobody: who is nobody in the other system is refused, and the server not asked.
func TestNobody(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		edit   func(*Exchange)
		caller func(*Caller)
	}{
		"no principal":         {nil, func(c *Caller) { c.Principal = nil }},
		"an API key":           {nil, func(c *Caller) { c.Principal.Method = "api-key" }},
		"a certificate":        {nil, func(c *Caller) { c.Principal.Method, c.Token = "mtls", "" }},
		"no token":             {nil, func(c *Caller) { c.Token = "" }},
		"no workload":          {func(x *Exchange) { x.Subject = subjectClient }, nil},
		"no entry":             {func(x *Exchange) { x.Identity = &Identity{Subjects: map[string]string{"bob": "b"}} }, nil},
		"no claim":             {func(x *Exchange) { x.Identity = &Identity{Claim: "employee"} }, nil},
		"no text":              {func(x *Exchange) { x.Identity = &Identity{Claim: "level"} }, nil},
		"an unverified e-mail": {func(x *Exchange) { x.Identity = &Identity{Claim: "email"} }, func(c *Caller) { c.Principal.Claims["email_verified"] = false }},
		"no permission": {func(x *Exchange) {
			x.Permissions = &Permissions{Scopes: map[string][]string{"x": {"y"}}}
		}, nil},
		"a demand beyond": {
			func(x *Exchange) {
				x.Permissions = &Permissions{Always: []string{"openid"}, Groups: map[string][]string{"finance": {"r"}}}
			},
			func(c *Caller) { c.Demanded = &Demand{Scopes: []string{"admin"}} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTokenServer(t)
			if tt.edit == nil {
				tt.edit = func(*Exchange) {}
			}
			caller := alice()
			if tt.caller != nil {
				tt.caller(caller)
			}
			c := exchangeAt(s, tt.edit)
			if caller.Demanded != nil {
				c.On = onAuthRequired
			}
			u := newSet(t, []Credential{c})
			if got, err := authorizedAs(t, u, caller); got != "" || !errors.Is(err, ErrNobody) {
				t.Errorf("%q, %v", got, err)
			}
			if n := len(s.take()); n != 0 {
				t.Errorf("the server was asked %d times", n)
			}
		})
	}
}

// TestIdentity: the values that can name the caller.
func TestIdentity(t *testing.T) {
	t.Parallel()
	p := alice().Principal
	p.Tenant = "acme"
	for claim, want := range map[string]string{
		"": "alice", "subject": "alice", "client": "app", "tenant": "acme", "email": "alice@example.com", "org.id": "o-1",
	} {
		if got, err := (&Identity{Claim: claim}).subject(p); got != want || err != nil {
			t.Errorf("%q: %q, %v", claim, got, err)
		}
	}
	p.Claims["email_verified"] = true
	mapped := &Identity{Claim: "email", Subjects: map[string]string{"alice@example.com": "al"}}
	if got, err := mapped.subject(p); got != "al" || err != nil {
		t.Errorf("mapped: %q, %v", got, err)
	}
}

// TestL26_MappedSubjectsOfTwoIssuers: the map of one issuer's subjects is nothing to callers
// of another, whatever they are called.
func TestL26_MappedSubjectsOfTwoIssuers(t *testing.T) {
	t.Parallel()
	s := newTokenServer(t)
	identity := &Identity{Issuers: []string{"https://idp.example", "mtls"}, Subjects: map[string]string{"alice": "al"}}
	o, _ := signing(t)
	u, err := made([]Credential{
		exchangeAt(s, func(x *Exchange) { x.Identity = identity }),
		{Header: "X-Assertion", Assertion: &Assertion{Audience: "a", Identity: identity}},
	}, o)
	must(t, err)
	t.Cleanup(u.Close)
	for issuer, somebody := range map[string]bool{
		"https://idp.example": true, "mtls": true, "https://idp.example/": false, "https://IDP.example": false, "api-keys": false, "": false,
	} {
		c := alice()
		c.Principal.Issuer = issuer
		for i, credential := range u.list {
			value, err := credential.value(t.Context(), c)
			if somebody != (err == nil) || !somebody && (!errors.Is(err, ErrNobody) || value != "") {
				t.Errorf("credential %d for a caller of %q: %q, %v", i, issuer, value, err)
			}
		}
	}
}

// TestDeclined: what the server says of a caller is told from what it says of the gateway.
func TestDeclined(t *testing.T) {
	t.Parallel()
	for answer, declined := range map[string]bool{
		`{"error":"invalid_grant","error_description":"alice-token is no good"}`: true,
		`{"error":"invalid_target"}`:          true,
		`{"error":"invalid_scope"}`:           true,
		`{"error":"invalid_client"}`:          false,
		`{"error":"unauthorized_client"}`:     false,
		`{"error":"temporarily_unavailable"}`: false,
		`{"error":"<script>"}`:                false,
		`alice-token?`:                        false,
	} {
		s := newTokenServer(t)
		s.says(http.StatusBadRequest, answer)
		u := newSet(t, []Credential{exchangeAt(s)})
		_, err := authorizedAs(t, u, alice())
		if err == nil || errors.Is(err, ErrDeclined) != declined || errors.Is(err, ErrNobody) {
			t.Errorf("%s: %v", answer, err)
		}
		if text := err.Error(); strings.Contains(text, "alice-token") || strings.Contains(text, "cret") || strings.Contains(text, "<") {
			t.Errorf("the error says %s", text)
		}
	}
}

// TestRequestedType: another type than was requested is not shown.
func TestRequestedType(t *testing.T) {
	t.Parallel()
	for answer, ok := range map[string]bool{
		`{"access_token":"t","token_type":"N_A","issued_token_type":"` + typeJWT + `"}`:        true,
		`{"access_token":"t","token_type":"N_A"}`:                                              true,
		`{"access_token":"t","token_type":"Bearer","issued_token_type":"` + typeAccess + `"}`:  false,
		`{"access_token":"t","token_type":"Bearer","issued_token_type":"` + typeRefresh + `"}`: false,
	} {
		s := newTokenServer(t)
		s.says(http.StatusOK, answer)
		u := newSet(t, []Credential{exchangeAt(s, func(x *Exchange) { x.RequestedType = typeJWT })})
		if got, err := authorizedAs(t, u, alice()); ok != (err == nil && got == "Bearer t") {
			t.Errorf("%s: %q, %v", answer, got, err)
		}
	}
}

// TestDemandLeavesOthersAlone: what a task demands narrows what is shown for it. What is
// shown in any call stays as it is.
func TestDemandLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	s := newTokenServer(t)
	usual := exchangeAt(s, func(x *Exchange) { x.Permissions = &Permissions{Always: []string{"read"}} })
	asked := exchangeAt(s, func(x *Exchange) {
		x.Permissions = &Permissions{Groups: map[string][]string{"finance": {"pay", "read"}}}
	})
	asked.Header, asked.On = "X-Payment", onAuthRequired
	u := newSet(t, []Credential{usual, asked})
	caller := alice()
	caller.Demanded = &Demand{Scopes: []string{"pay"}}
	_, err := authorizedAs(t, u, caller)
	must(t, err)
	requests := s.take()
	if len(requests) != 2 || requests[0].Form.Get("scope") != "read" || requests[1].Form.Get("scope") != "pay" {
		t.Errorf("asked for %v", requests)
	}
}
