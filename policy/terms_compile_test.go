package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

func TestTermsRefused(t *testing.T) {
	t.Parallel()
	mfa := Authentication{ACR: []string{"mfa"}}
	for want, r := range map[string]Rule{
		"clients is empty":                allow("r", func(r *Rule) { r.Clients = []string{} }),
		"clients has an empty entry":      allow("r", clients("")),
		"actors is empty":                 allow("r", func(r *Rule) { r.Actors = []string{} }),
		"actors has an empty entry":       allow("r", acting("x", "")),
		`actors has "none" beside others`: allow("r", acting("none", "x")),
		"claims is empty":                 allow("r", func(r *Rule) { r.Claims = map[string][]string{} }),
		"claims has an empty name":        allow("r", claiming("", "x")),
		"claims.a is empty":               allow("r", claiming("a")),
		"claims.a has an empty entry":     allow("r", claiming("a", "")),
		"claims.a: values are compared":   allow("r", claiming("a", "*")),

		"authentication has none of":             allow("r", signIn(Authentication{})),
		"authentication.acr is empty":            allow("r", signIn(Authentication{ACR: []string{}})),
		"authentication.amr is empty":            allow("r", signIn(Authentication{AMR: []string{}})),
		`authentication.acr: "" is not`:          allow("r", signIn(Authentication{ACR: []string{""}})),
		`authentication.acr: "a b" is not`:       allow("r", signIn(Authentication{ACR: []string{"a b"}})),
		`authentication.amr: "a\"" is not`:       allow("r", signIn(Authentication{AMR: []string{`a"`}})),
		`authentication.acr: "a\\b" is not`:      allow("r", signIn(Authentication{ACR: []string{`a\b`}})),
		`authentication.acr: "é" is not`:         allow("r", signIn(Authentication{ACR: []string{"é"}})),
		`authentication.acr: "a\n" is not`:       allow("r", signIn(Authentication{ACR: []string{"a\n"}})),
		`authentication.acr has "a" twice`:       allow("r", signIn(Authentication{ACR: []string{"a", "b", "a"}})),
		`authentication.amr has "a" twice`:       allow("r", signIn(Authentication{AMR: []string{"a", "a"}})),
		"authentication.maxAge: 500ms is not":    allow("r", signIn(Authentication{MaxAge: quantity.Duration(time.Second / 2)})),
		"authentication.maxAge: -1s is not":      allow("r", signIn(Authentication{MaxAge: seconds(-1)})),
		"authentication is for rules with":       deny("r", signIn(mfa)),
		"consent is for rules with":              deny("r", agreed(Consent{Scope: "x"})),
		"consent needs exactly one":              allow("r", agreed(Consent{})),
		"consent needs exactly one of scope and": allow("r", agreed(Consent{Scope: "x", Claim: "y"})),
		"consent needs exactly one of scope":     allow("r", agreed(Consent{Value: "x"})),
		"consent.value is for a claim":           allow("r", agreed(Consent{Scope: "x", Value: "y"})),
		`consent.scope: "x y" is not one scope`:  allow("r", agreed(Consent{Scope: "x y"})),
	} {
		_, _, err := Compile(Config{Rules: []Rule{r}}, fleet)
		if err == nil || !strings.Contains(err.Error(), `rule "r": `+want) {
			t.Errorf("Compile: %v, want %q in the error", err, want)
		}
	}
	only := says("r", RuleExtensions{Deny: []string{"urn:x"}}, signIn(mfa), agreed(Consent{Scope: "x"}))
	if _, _, err := Compile(Config{Rules: []Rule{only}}, fleet); err == nil || strings.Count(err.Error(), "with effect allow") != 2 {
		t.Errorf("Compile: %v, want two problems of a rule about extensions", err)
	}
}

func TestTermsWarn(t *testing.T) {
	t.Parallel()
	mfa := signIn(Authentication{ACR: []string{"mfa"}})
	strict := allow("strict", agents("billing", "team-a"), skills("refunds"), groups("staff"), scopes("x"), mfa)
	for name, tc := range map[string]struct {
		in   []Rule
		want []warning
	}{
		"alone":        {in: []Rule{strict}},
		"all":          {[]Rule{allow("all"), strict}, []warning{{"strict", `rule "all" allows the same calls`}}},
		"the same":     {[]Rule{strict, allow("x", agents("billing", "team-a"), skills("refunds"), groups("staff"), scopes("x"))}, []warning{{"strict", `rule "x" allows`}}},
		"wider":        {[]Rule{strict, allow("x", agents("billing", "team-*"), skills("re*", "y"), groups("a", "staff"))}, []warning{{"strict", `rule "x" allows`}}},
		"other agents": {in: []Rule{strict, allow("x", agents("billing"))}},
		"other skills": {in: []Rule{strict, allow("x", skills("invoices"))}},
		"others":       {in: []Rule{strict, allow("x", groups("finance"))}},
		"more scopes":  {in: []Rule{strict, allow("x", scopes("x", "y"))}},
		"other people": {in: []Rule{strict, allow("x", subjects("alice"))}},
		"other calls":  {in: []Rule{strict, allow("x", calls("GetTask"))}},
		"other issuer": {in: []Rule{strict, allow("x", issuers("https://a"))}},
		"a client":     {in: []Rule{strict, allow("x", clients("app"))}},
		"an actor":     {in: []Rule{strict, allow("x", acting("none"))}},
		"a claim":      {in: []Rule{strict, allow("x", claiming("a", "1"))}},
		"its claim": {
			[]Rule{allow("r", claiming("a", "1"), claiming("b", "1"), agreed(Consent{Claim: "c"})), allow("x", claiming("a", "2", "1"))},
			[]warning{{"r", `rule "x" allows`}},
		},
		"another value":       {in: []Rule{allow("r", claiming("a", "1"), agreed(Consent{Claim: "c"})), allow("x", claiming("a", "2"))}},
		"as strict":           {[]Rule{strict, allow("x", mfa)}, []warning{{"strict", `rule "x" allows the same calls already`}}},
		"stricter":            {in: []Rule{strict, allow("x", signIn(Authentication{ACR: []string{"mfa"}, AMR: []string{"hwk"}}))}},
		"a shadow":            {in: []Rule{strict, allow("x", shadow)}},
		"a denial":            {in: []Rule{strict, deny("x", subjects("bob"))}},
		"a denial of clients": {in: []Rule{allow("r"), deny("x", clients("shop"))}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := Compile(Config{Rules: tc.in}, fleet)
			if err != nil {
				t.Fatal(err)
			}
			diffWarnings(t, tc.want, got)
		})
	}
	s := compile(t, Config{Rules: []Rule{
		allow("client", clients("app")), allow("actor", acting("planner")), allow("claim", claiming("a", "1")),
		allow("nobody", acting("none")), allow("sign-in", mfa), allow("said", clients("app"), issuers("https://a")), deny("no", clients("x")),
	}})
	diffWarnings(t, []warning{
		{"client", "names clients or actors but no issuers"}, {"actor", "clients or actors"}, {"claim", "names claims but"},
	}, s.Lint(Known{Issuers: []string{"https://a", "https://b"}}))
}

// Deciding such rules costs no allocation either.
func TestTermsAllocateNothing(t *testing.T) {
	q := signedIn(t)
	q.Principal.Claims["n"] = 12.5
	q.Principal.Actors = []authn.Actor{{Subject: "planner"}}
	s := compile(t, Config{Rules: []Rule{
		deny("no", claiming("n", "13", "14")), deny("nor", acting("intern"), clients("x*")),
		allow("r", clients("app"), acting("pl*"), claiming("n", "12.5"), claiming("ok", "true"), claiming("consents", "reports"),
			signIn(Authentication{ACR: []string{"silver"}, AMR: []string{"pwd"}, MaxAge: seconds(300)})),
	}})
	if n := testing.AllocsPerRun(100, func() {
		if _, err := s.Check(q); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
