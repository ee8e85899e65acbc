package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func TestTrace(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Rules: []Rule{
		allow("agent", agents("weather")),
		allow("method", calls("GetTask")),
		allow("issuer", issuers("api-keys")),
		allow("subject", subjects("bob")),
		allow("group", groups("admins")),
		allow("scope", scopes("admin")),
		deny("skill", skills("refunds")),
		deny("soon", shadow),
		allow("yes", agents("billing"), skills("invoices")),
		{Name: "says", Extensions: &RuleExtensions{Deny: []string{"urn:x"}}},
	}})
	q := Request{Principal: alice(), Agent: "billing", Method: method(t, wire.SendMessage), Skill: "invoices"}
	want := []step{
		{Rule: "agent", Effect: "allow", Failed: "agents"},
		{Rule: "method", Effect: "allow", Failed: "methods"},
		{Rule: "issuer", Effect: "allow", Failed: "issuers"},
		{Rule: "subject", Effect: "allow", Failed: "subjects"},
		{Rule: "group", Effect: "allow", Failed: "groups"},
		{Rule: "scope", Effect: "allow", Failed: "scopes"},
		{Rule: "skill", Effect: "deny", Failed: "skills"},
		{Rule: "soon", Effect: "deny", Shadow: true},
		{Rule: "yes", Effect: "allow"},
		{Rule: "says", Effect: "extensions"},
	}
	if diff := cmp.Diff(want, s.Trace(q)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := s.Trace(Request{}); got != nil {
		t.Errorf("a trace of nothing: %v", got)
	}
}

// The first condition that does not hold is named, those last that the caller can do
// something about.
func TestTraceTerms(t *testing.T) {
	t.Parallel()
	q := signedIn(t)
	for want, r := range map[string]Rule{
		"clients":               allow("r", clients("shop"), acting("planner")),
		"actors":                allow("r", acting("planner"), claiming("a", "2")),
		"claims.b":              allow("r", claiming("c", "2"), claiming("b", "2"), claiming("a", "1"), scopes("x")),
		"scopes":                allow("r", scopes("x"), agreed(Consent{Scope: "agreed"})),
		"skills":                allow("r", skills("x"), signIn(Authentication{ACR: []string{"gold"}})),
		"authentication.acr":    allow("r", signIn(Authentication{ACR: []string{"gold"}, AMR: []string{"hwk"}})),
		"authentication.amr":    allow("r", signIn(Authentication{AMR: []string{"pwd", "hwk"}, MaxAge: seconds(1)})),
		"authentication.maxAge": allow("r", signIn(Authentication{MaxAge: seconds(299)}), agreed(Consent{Scope: "x"})),
		"consent.scope":         allow("r", agreed(Consent{Scope: "agreed"})),
		"consent.claim":         allow("r", agreed(Consent{Claim: "consents", Value: "refunds"})),
		"": allow("r", clients("app"), acting("none"), claiming("a", "1"), agreed(Consent{Claim: "ok"}),
			signIn(Authentication{ACR: []string{"gold", "silver"}, AMR: []string{"pwd"}, MaxAge: seconds(300)})),
	} {
		s := compile(t, Config{Rules: []Rule{r}})
		if got := s.Trace(q)[0].Failed; got != want {
			t.Errorf("%q does not hold, want %q", got, want)
		}
		if _, err := s.Check(q); (err == nil) != (want == "") {
			t.Errorf("but for %q: %v", want, err)
		}
	}
}

// A rule without a condition on skills is about a call for some skill: where an agent has none,
// and skills have to be declared, neither Check nor Trace says that it holds.
func TestTraceOfNoSkill(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Skills: SkillsConfig{Undeclared: "deny"}, Rules: []Rule{allow("would", agents("billing"), shadow)}})
	q := Request{Principal: alice(), Agent: "billing", Method: method(t, wire.SendMessage)}
	want := []step{{Rule: "would", Effect: "allow", Shadow: true, Failed: "skills"}}
	if diff := cmp.Diff(want, s.Trace(q)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d, _ := s.Check(q); d.Shadow != nil {
		t.Errorf("Check has the shadows %q", d.Shadow)
	}
}
