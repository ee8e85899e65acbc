package policy

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func alice() *authn.Principal {
	return &authn.Principal{
		Subject: "alice", Issuer: "https://issuer", Tenant: "acme", Method: "oidc",
		Groups: []string{"analysts", "staff"}, Scopes: []string{"openid", "billing.read"},
	}
}

func compile(t testing.TB, c Config) *Set {
	t.Helper()
	s, _, err := Compile(c, fleet)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	return s
}

func method(t testing.TB, name string) *wire.Method {
	t.Helper()
	m, ok := wire.ByName(wire.V10, name)
	if !ok {
		t.Fatalf("no method %s", name)
	}
	return m
}

// allow and deny are rules by their conditions.
func allow(name string, change ...func(*Rule)) Rule { return build(name, "allow", change) }
func deny(name string, change ...func(*Rule)) Rule  { return build(name, "deny", change) }

func build(name, effect string, change []func(*Rule)) Rule {
	r := Rule{Name: name, Effect: effect}
	for _, c := range change {
		c(&r)
	}
	return r
}

func agents(list ...string) func(*Rule)   { return func(r *Rule) { r.Agents = list } }
func skills(list ...string) func(*Rule)   { return func(r *Rule) { r.Skills = list } }
func calls(list ...string) func(*Rule)    { return func(r *Rule) { r.Methods = list } }
func subjects(list ...string) func(*Rule) { return func(r *Rule) { r.Subjects = list } }
func groups(list ...string) func(*Rule)   { return func(r *Rule) { r.Groups = list } }
func scopes(list ...string) func(*Rule)   { return func(r *Rule) { r.Scopes = list } }
func issuers(list ...string) func(*Rule)  { return func(r *Rule) { r.Issuers = list } }
func shadow(r *Rule)                      { r.Mode = "shadow" }

// verdict is what a call came to.
type verdict struct {
	Allowed bool
	Rule    string
	Shadow  []string
	Scopes  []string
	StepUp  *StepUp
	Consent []string
	Visible bool
}

func judge(t testing.TB, s *Set, q Request) verdict {
	t.Helper()
	d, err := s.Check(q)
	v := verdict{Allowed: err == nil, Rule: d.Rule, Shadow: d.Shadow, Consent: d.Consent}
	if err == nil {
		return v
	}
	var denied *Denied
	if !errors.As(err, &denied) {
		t.Fatalf("Check: %v is no *Denied", err)
	}
	if denied.Rule != d.Rule || denied.Reason == "" {
		t.Errorf("Denied{%q, %q} beside Decision{%q}", denied.Rule, denied.Reason, d.Rule)
	}
	v.Scopes, v.StepUp, v.Visible = denied.Scopes, denied.StepUp, denied.Visible
	return v
}

// Each case is a call by alice to SendMessage on billing, skill "invoices", unless
// it says otherwise.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rules  []Rule
		config Config
		change func(*Request)
		want   verdict
	}{
		"nothing allows":  {want: verdict{Rule: "default"}},
		"default allow":   {config: Config{Default: "allow"}, want: verdict{Allowed: true, Rule: "default"}},
		"empty condition": {rules: []Rule{allow("r")}, want: verdict{Allowed: true, Rule: "r"}},
		"deny wins": {
			rules: []Rule{allow("r"), deny("no", skills("invoices"))},
			want:  verdict{Rule: "no", Visible: true},
		},
		"deny before allow": {
			rules: []Rule{deny("no", skills("invoices")), allow("r")},
			want:  verdict{Rule: "no", Visible: true},
		},
		"deny everything": {rules: []Rule{allow("r"), deny("no")}, want: verdict{Rule: "no"}},
		"deny beats default": {
			config: Config{Default: "allow"},
			rules:  []Rule{deny("no")},
			want:   verdict{Rule: "no"},
		},
		"first of two allows": {
			rules: []Rule{allow("a"), allow("b", subjects("alice"))},
			want:  verdict{Allowed: true, Rule: "a"},
		},
		"first of two denies": {
			rules: []Rule{deny("a", groups("staff")), deny("b")},
			want:  verdict{Rule: "a"},
		},

		"agent": {
			rules: []Rule{allow("r", agents("weather", "billing"))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"agent glob": {rules: []Rule{allow("r", agents("b*"))}, want: verdict{Allowed: true, Rule: "r"}},
		"another agent": {
			rules: []Rule{allow("r", agents("weather", "team-*"))},
			want:  verdict{Rule: "default"},
		},
		"unknown agent": {
			rules:  []Rule{allow("r")},
			change: func(q *Request) { q.Agent = "nope" },
			want:   verdict{Rule: "default"},
		},
		"skill": {
			rules: []Rule{allow("r", skills("invoices"))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"skill glob": {rules: []Rule{allow("r", skills("inv*"))}, want: verdict{Allowed: true, Rule: "r"}},
		"another skill": {
			rules: []Rule{allow("r", skills("refunds"))},
			want:  verdict{Rule: "default", Visible: true},
		},
		"method": {
			rules: []Rule{allow("r", calls("message/send"))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"another method": {
			rules: []Rule{allow("r", calls("GetTask"))},
			want:  verdict{Rule: "default", Visible: true},
		},
		"subject": {
			rules: []Rule{allow("r", subjects("bob", "alice"))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"subject glob":    {rules: []Rule{allow("r", subjects("al*"))}, want: verdict{Allowed: true, Rule: "r"}},
		"another subject": {rules: []Rule{allow("r", subjects("Alice"))}, want: verdict{Rule: "default"}},
		"any of groups": {
			rules: []Rule{allow("r", groups("admins", "staff"))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"no such group": {
			rules: []Rule{allow("r", groups("admins", "analyst"))},
			want:  verdict{Rule: "default"},
		},
		"issuer": {
			rules: []Rule{allow("r", issuers("https://issuer"))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"another issuer": {rules: []Rule{allow("r", issuers("https://issuer/"))}, want: verdict{Rule: "default"}},
		"subject of other": {
			rules: []Rule{allow("r", subjects("alice"), issuers("api-keys"))},
			want:  verdict{Rule: "default"},
		},
		"all scopes": {
			rules: []Rule{allow("r", scopes("billing.read", "openid"))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"one scope missing": {
			rules: []Rule{allow("r", scopes("billing.read", "billing.write"))},
			want:  verdict{Rule: "default", Scopes: []string{"billing.write"}},
		},
		"scopes and more missing": {
			rules: []Rule{allow("r", scopes("billing.write"), groups("admins"))},
			want:  verdict{Rule: "default"},
		},
		"scope missing, seen otherwise": {
			rules: []Rule{allow("r", scopes("billing.write"), subjects("alice")), allow("see", calls("GetTask"))},
			want:  verdict{Rule: "default", Scopes: []string{"billing.write"}, Visible: true},
		},
		"scopes of the first rule": {
			rules: []Rule{allow("a", scopes("x", "y")), allow("b", scopes("z"))},
			want:  verdict{Rule: "default", Scopes: []string{"x", "y"}},
		},
		"scopes of a shadow":    {rules: []Rule{allow("r", scopes("x"), shadow)}, want: verdict{Rule: "default"}},
		"scopes do not undo no": {rules: []Rule{allow("r", scopes("x")), deny("no")}, want: verdict{Rule: "no"}},
		"all conditions at once": {
			rules: []Rule{
				allow("r", agents("billing"), skills("invoices"), calls("SendMessage"), subjects("alice"),
					groups("staff"), scopes("openid"), issuers("https://issuer")),
			},
			want: verdict{Allowed: true, Rule: "r"},
		},

		"shadow deny": {
			rules: []Rule{deny("soon", shadow), allow("r")},
			want:  verdict{Allowed: true, Rule: "r", Shadow: []string{"deny soon"}},
		},
		"shadow allow": {
			rules: []Rule{allow("soon", shadow)},
			want:  verdict{Rule: "default", Shadow: []string{"allow soon"}},
		},
		"shadow elsewhere": {
			rules: []Rule{allow("r"), deny("soon", shadow, skills("refunds"))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"shadows once each, in order": {
			rules: []Rule{
				allow("r"), deny("b", shadow, groups("staff", "analysts")), allow("a", shadow, agents("billing", "b*")),
				deny("c", shadow, subjects("alice")),
			},
			want: verdict{Allowed: true, Rule: "r", Shadow: []string{"deny b", "allow a", "deny c"}},
		},

		"bound credential": {
			rules:  []Rule{allow("r")},
			change: func(q *Request) { q.Principal.Agents = []string{"weather"} },
			want:   verdict{Rule: "credential"},
		},
		"credential bound here": {
			rules:  []Rule{allow("r")},
			change: func(q *Request) { q.Principal.Agents = []string{"weather", "billing"} },
			want:   verdict{Allowed: true, Rule: "r"},
		},
		"credential bound to nothing": {
			rules:  []Rule{allow("r")},
			change: func(q *Request) { q.Principal.Agents = []string{} },
			want:   verdict{Rule: "credential"},
		},
		"bound is no allowance": {
			change: func(q *Request) { q.Principal.Agents = []string{"billing"} },
			want:   verdict{Rule: "default"},
		},
		"no principal": {
			config: Config{Default: "allow"},
			change: func(q *Request) { q.Principal = nil },
			want:   verdict{Rule: "default"},
		},
		"no method": {
			config: Config{Default: "allow"},
			change: func(q *Request) { q.Method = nil },
			want:   verdict{Rule: "default"},
		},
		"extension method": {
			rules:  []Rule{allow("r")},
			change: func(q *Request) { q.Method = &wire.Method{Name: "x/Do", Subject: wire.OfTask} },
			want:   verdict{Allowed: true, Rule: "r"},
		},
		"extension method is no core method": {
			rules:  []Rule{allow("r", calls("SendMessage", "GetTask"))},
			change: func(q *Request) { q.Method = &wire.Method{Name: "SendMessage", Subject: wire.OfTask} },
			want:   verdict{Rule: "default", Visible: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.config.Rules = tc.rules
			q := Request{
				Principal: alice(), Agent: "billing", Method: method(t, wire.SendMessage),
				Skill: "invoices", Skills: []string{"invoices", "refunds"},
			}
			if tc.change != nil {
				tc.change(&q)
			}
			if diff := cmp.Diff(tc.want, judge(t, compile(t, tc.config), q)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What an unknown agent is told must not depend on the default.
func TestUnknownAgentIsNeverAllowed(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Default: "allow"})
	got := judge(t, s, Request{Principal: alice(), Agent: "nope", Method: method(t, wire.GetTask), Skill: "s"})
	if diff := cmp.Diff(verdict{Rule: "default"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
