package jwt

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

func TestActors(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	nested := func(n int) any {
		var act any = m{"sub": "last"}
		for range n - 1 {
			act = m{"sub": "next", "act": act}
		}
		return act
	}
	is := func(s string) authn.Actor { return authn.Actor{Subject: s, Issuer: authntest.TestIssuer} }
	for _, tt := range []struct {
		name   string
		change m
		want   []authn.Actor
		ok     bool
	}{
		{"nobody", nil, nil, true},
		{"one", m{"act": m{"sub": "svc"}}, []authn.Actor{is("svc")}, true},
		{"another issuer's", m{"act": m{"sub": "svc", "iss": "https://other.test"}},
			[]authn.Actor{{Subject: "svc", Issuer: "https://other.test"}}, true},
		{"behind one another, the caller first", m{"act": m{"sub": "b", "act": m{"sub": "a", "exp": 1}}},
			[]authn.Actor{is("b"), is("a")}, true},
		{"who may act does not", m{"may_act": m{"sub": "svc"}}, nil, true},
		{"as many as may be", m{"act": nested(3)}, []authn.Actor{is("next"), is("next"), is("last")}, true},
		{"one more", m{"act": nested(4)}, nil, false},
		{"far more", m{"act": nested(20)}, nil, false},
		{"text", m{"act": "svc"}, nil, false},
		{"list", m{"act": []any{m{"sub": "svc"}}}, nil, false},
		{"empty", m{"act": m{}}, nil, false},
		{"sub empty", m{"act": m{"sub": ""}}, nil, false},
		{"sub a number", m{"act": m{"sub": 1}}, nil, false},
		{"sub with a line break", m{"act": m{"sub": "a\nb"}}, nil, false},
		{"iss a list", m{"act": m{"sub": "a", "iss": []any{"x"}}}, nil, false},
		{"null within", m{"act": m{"sub": "a", "act": []any{nil}}}, nil, false},
	} {
		c := openTokens(t, Config{OIDC: []Issuer{issuerConfig()}, Actors: Actors{Depth: new(3)}},
			Options{Client: &http.Client{Transport: authntest.Standard()}})
		p, err := c.Authenticate(authntest.BearerOf(authntest.Good(t, tt.change)))
		if !tt.ok {
			if authntest.FaultOf(err) != "claims" {
				t.Errorf("%s: got %v, %v", tt.name, p, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if diff := cmp.Diff(tt.want, p.Actors); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// A narrower bound is in force with the reload, also for tokens known already.
func TestActorsDepthChanges(t *testing.T) {
	t.Parallel()
	o := Options{Client: &http.Client{Transport: authntest.Standard()}}
	cfg := Config{OIDC: []Issuer{issuerConfig()}, Actors: Actors{Depth: new(2)}}
	token := authntest.Good(t, map[string]any{"act": map[string]any{"sub": "b", "act": map[string]any{"sub": "a"}}})
	c := openTokens(t, cfg, o)
	p, err := c.Authenticate(authntest.BearerOf(token))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Actors.Depth, o.Previous = new(1), From(c)
	next := openTokens(t, cfg, o)
	if _, err := next.Authenticate(authntest.BearerOf(token)); authntest.FaultOf(err) != "claims" {
		t.Errorf("got %v", err)
	}
	if err := next.Stands(p); authntest.FaultOf(err) != "claims" {
		t.Errorf("stands: %v", err)
	}
}

func TestAuthenticationClaims(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	own := issuerConfig()
	own.Claims = Claims{ACR: "how.level", AMR: "how.methods", AuthTime: "how.since"}
	now := time.Now()
	in := func(d time.Duration) int64 { return now.Add(d).Unix() }
	for _, tt := range []struct {
		name   string
		issuer Issuer
		change m
		want   string
	}{
		{"none", issuerConfig(), nil, " [] -"},
		{"all", issuerConfig(), m{"acr": "gold", "amr": []string{"pwd", "otp"}, "auth_time": 1000}, "gold [pwd otp] 1000"},
		{"one method", issuerConfig(), m{"amr": "pwd"}, " [pwd] -"},
		{"fractions of a second", issuerConfig(), m{"auth_time": 1000.7}, " [] 1000"},
		{"claims of other names", own, m{"acr": "x", "how": m{"level": "gold", "methods": "otp", "since": 5}}, "gold [otp] 5"},
		{"acr a number", issuerConfig(), m{"acr": 1}, "claims"},
		{"acr a list", issuerConfig(), m{"acr": []string{"gold"}}, "claims"},
		{"amr a number", issuerConfig(), m{"amr": 1}, "claims"},
		{"amr a mixed list", issuerConfig(), m{"amr": []any{"pwd", 1}}, "claims"},
		{"auth_time text", issuerConfig(), m{"auth_time": "1000"}, "claims"},
		{"auth_time negative", issuerConfig(), m{"auth_time": -1}, "claims"},
		{"auth_time huge", issuerConfig(), m{"auth_time": 1e300}, "claims"},
		{"auth_time in an hour", issuerConfig(), m{"auth_time": in(time.Hour)}, "not-yet-valid"},
		{"auth_time within what clocks differ", issuerConfig(), m{"auth_time": in(50 * time.Second)}, fmt.Sprint(" [] ", in(50*time.Second))},
		{"a claim of another name in an hour", own, m{"how": m{"since": in(time.Hour)}}, "not-yet-valid"},
		{"auth_time in an hour, where another counts", own, m{"auth_time": in(time.Hour)}, " [] -"},
	} {
		c := openTokens(t, Config{OIDC: []Issuer{tt.issuer}}, Options{Client: &http.Client{Transport: authntest.Standard()}})
		p, err := c.Authenticate(authntest.BearerOf(authntest.Good(t, tt.change)))
		got := authntest.FaultOf(err)
		if err == nil {
			at := "-"
			if !p.AuthTime.IsZero() {
				at = strconv.FormatInt(p.AuthTime.Unix(), 10)
			}
			got = p.ACR + " [" + strings.Join(p.AMR, " ") + "] " + at
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
