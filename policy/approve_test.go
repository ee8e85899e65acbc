package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
)

// finance are approvers of a group.
func finance() *approval.Approvers { return &approval.Approvers{Groups: []string{"finance-leads"}} }

// TestApprove: a call that is allowed waits where approve rules match, a call that is denied does not, and
// an approve rule allows nothing.
func TestApprove(t *testing.T) {
	t.Parallel()
	allow := Rule{Name: "all", Effect: "allow", Agents: []string{"billing"}, Skills: []string{"read", "refund"}}
	refunds := Rule{Name: "refunds", Effect: "approve", Skills: []string{"refund"}, Approvers: finance(), Within: quantity.Duration(time.Hour)}
	large := Rule{Name: "large", Effect: "approve", Expr: `message.parts.exists(p, p.text.contains("large"))`, Approvers: &approval.Approvers{Subjects: []string{"cfo"}, Count: 2}}
	for name, c := range map[string]struct {
		rules         []Rule
		method, skill string
		text          string
		want          string // rules that ask, or what is wrong
	}{
		"another skill":      {[]Rule{allow, refunds}, wire.SendMessage, "read", "", ""},
		"the skill":          {[]Rule{allow, refunds}, wire.SendMessage, "refund", "", "refunds"},
		"order":              {[]Rule{refunds, allow}, wire.SendStreamingMessage, "refund", "", "refunds"},
		"a read":             {[]Rule{allow, refunds}, wire.GetTask, "refund", "", ""},
		"nothing allows":     {[]Rule{refunds}, wire.SendMessage, "refund", "", "denied by default"},
		"denied":             {[]Rule{allow, refunds, {Name: "no", Effect: "deny"}}, wire.SendMessage, "refund", "", "denied by no"},
		"two":                {[]Rule{allow, large, refunds}, wire.SendMessage, "refund", "a large one", "large refunds"},
		"by what it says":    {[]Rule{allow, large}, wire.SendMessage, "read", "a small one", ""},
		"shadow":             {[]Rule{allow, {Name: "s", Effect: "approve", Mode: "shadow", Approvers: finance()}}, wire.SendMessage, "read", "", ""},
		"in doubt":           {[]Rule{allow, {Name: "odd", Effect: "approve", Expr: `principal.claims.amount > 3`, Approvers: finance()}}, wire.SendMessage, "read", "", "odd"},
		"for nobody's skill": {[]Rule{allow, refunds}, wire.SendMessage, "", "", "refunds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, Config{Rules: c.rules})
			q := Request{Principal: alice(), Agent: "billing", Method: method(t, c.method), Skill: c.skill, Skills: []string{"read", "refund"}, Now: time.Now()}
			if q.Method.Subject == wire.OfMessage {
				q.Message = parts(wire.Part{Kind: wire.PartText, Text: c.text})
			}
			d, err := s.Check(q)
			got := []string{}
			for _, a := range d.Approvals {
				got = append(got, a.Name)
			}
			text := strings.Join(got, " ")
			if err != nil {
				text = "denied by " + d.Rule
			} else if len(got) > 0 && d.Rule != got[0] {
				t.Errorf("decided by %q", d.Rule)
			}
			if text != c.want {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
}

// TestApproversOfRules: who agrees is one of the approvers, and not the caller.
func TestApproversOfRules(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Rules: []Rule{
		{Name: "all", Effect: "allow"},
		{Name: "a", Effect: "approve", Approvers: finance()},
		{Name: "b", Effect: "approve", Approvers: &approval.Approvers{Subjects: []string{"ops-*"}, NotSelf: new(bool), Count: 3}},
	}})
	d, err := s.Check(Request{Principal: alice(), Agent: "billing", Method: method(t, wire.SendMessage), Skill: "read", Now: time.Now()})
	if err != nil || len(d.Approvals) != 2 {
		t.Fatal(d, err)
	}
	lead := approval.Approver{Subject: "alice", Groups: []string{"finance-leads"}}
	for i, c := range []struct {
		a    *approval.Rule
		who  approval.Approver
		self string
		may  bool
	}{
		{d.Approvals[0], lead, "bob", true},
		{d.Approvals[0], lead, "alice", false},
		{d.Approvals[0], approval.Approver{Subject: "carol", Groups: []string{"finance"}}, "bob", false},
		{d.Approvals[1], lead, "bob", false},
		{d.Approvals[1], approval.Approver{Subject: "ops-anna"}, "ops-anna", true},
	} {
		if why := c.a.Refuses(c.who, []string{"x", c.self}); (why == "") != c.may {
			t.Errorf("%d: %q", i, why)
		}
	}
	if got := d.Approvals[0].Asks() + "; " + d.Approvals[1].Asks(); got != "one of the group finance-leads; 3 of ops-*" {
		t.Error(got)
	}
	if a := d.Approvals[0]; a.Count != 1 || a.Within != 4*time.Hour || a.Remember != 0 || len(a.Digest) != 64 || a.Digest == d.Approvals[1].Digest {
		t.Errorf("%+v", a)
	}
}

// TestApproveRefusals: each names the key.
func TestApproveRefusals(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Rule{
		`rule "r": a rule with effect approve needs approvers, with subjects, groups or agents`: {Effect: "approve"},
		`rule "r": approvers is for rules with effect approve`:                                  {Effect: "allow", Approvers: finance()},
		`rule "r": within is for rules with effect approve`:                                     {Effect: "deny", Within: 1},
		`rule "r": remember is for rules with effect approve`:                                   {Effect: "deny", Remember: &approval.Remember{}},
		`rule "r": approvers.count is 11; it must be between 1 and 10`:                          {Effect: "approve", Approvers: &approval.Approvers{Subjects: []string{"x"}, Count: 11}},
		`rule "r": advisers is for rules with effect approve`:                                   {Effect: "allow", Advisers: []string{"x"}},
		`rule "r": approvers.agents has "risk-*"; agents are named by their ids, without *`: {
			Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk-*"}}},
		`rule "r": approvers.agents has "risk" twice`: {Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk", "risk"}}},
		`rule "r": approvers.count is 2, and approvers has 1 agents and no people`: {
			Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk"}, Count: 2}},
		`rule "r": advisers has "risk", which is one of approvers.agents: an agent either decides or advises`: {
			Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk"}}, Advisers: []string{"risk"}},
		`rule "r": approvers.subjects is empty, or has an empty entry, so that nobody could agree`: {
			Effect: "approve", Approvers: &approval.Approvers{Subjects: []string{}}},
		`rule "r": within is 1ms; it must be between 1s and 30d`:      {Effect: "approve", Approvers: finance(), Within: quantity.Duration(time.Millisecond)},
		`rule "r": remember.for is 0s; it must be between 1s and 30d`: {Effect: "approve", Approvers: finance(), Remember: &approval.Remember{}},
		`rule "r": remember.by has "day"; it must be of caller, agent, skill and context`: {
			Effect: "approve", Approvers: finance(), Remember: &approval.Remember{For: quantity.Duration(time.Hour), By: []string{"day"}}},
		`rule "r": people agree to messages alone: to SendMessage and SendStreamingMessage`: {
			Effect: "approve", Approvers: finance(), Methods: []string{"SendMessage", "CancelTask"}},
		`rule "r": authentication is for rules with effect allow`: {Effect: "approve", Approvers: finance(), Authentication: &Authentication{AMR: []string{"mfa"}}},
		`rule "r": it has calls wait that other rules allow; extensions are for those`: {
			Effect: "approve", Approvers: finance(), Extensions: &RuleExtensions{Deny: []string{"x:y"}}},
	} {
		r.Name = "r"
		_, _, err := Compile(Config{Rules: []Rule{r}}, someAgents)
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
