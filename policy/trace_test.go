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
	want := []Step{
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
