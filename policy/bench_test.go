package policy

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// estate is a fleet in which every agent has about n/agents rules of every kind,
// and a caller whom one of them allows.
func estate(b *testing.B, n, agents int) (*Set, Request) {
	b.Helper()
	ids := make([]string, agents)
	for i := range ids {
		ids[i] = fmt.Sprintf("team-%d-agent-%d", i%10, i)
	}
	var rules []Rule
	for i := range n - 1 {
		r := Rule{Name: fmt.Sprint("rule-", i), Effect: "allow", Agents: []string{ids[i%agents]}}
		switch i % 5 {
		case 0:
			r.Groups = []string{fmt.Sprint("group-", i)}
		case 1:
			r.Subjects = []string{fmt.Sprint("user-", i)}
		case 2:
			r.Scopes = []string{fmt.Sprint("scope-", i)}
		case 3:
			r.Effect, r.Groups, r.Skills = "deny", []string{fmt.Sprint("group-", i)}, []string{"refunds"}
		case 4:
			r.Agents, r.Groups = nil, []string{fmt.Sprint("group-", i)}
		}
		rules = append(rules, r)
	}
	rules = append(rules, Rule{
		Name: "caller", Effect: "allow",
		Agents: ids[:1], Skills: []string{"invoices"}, Groups: []string{"analysts"},
	})
	s, _, err := Compile(Config{Rules: rules}, ids)
	if err != nil {
		b.Fatal(err)
	}
	m, _ := wire.ByName(wire.V10, wire.SendMessage)
	return s, Request{Principal: alice(), Agent: ids[0], Method: m, Skill: "invoices"}
}

func BenchmarkCheck(b *testing.B) {
	for _, size := range []struct{ rules, agents int }{
		{1, 1}, {100, 1}, {100, 10}, {10_000, 1}, {10_000, 10_000},
	} {
		b.Run(fmt.Sprintf("rules=%d/agents=%d", size.rules, size.agents), func(b *testing.B) {
			s, q := estate(b, size.rules, size.agents)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Check(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheckUnindexed is the worst case: every rule has to be looked at,
// because each names its callers by a glob.
func BenchmarkCheckUnindexed(b *testing.B) {
	var rules []Rule
	for i := range 100 {
		rules = append(rules, Rule{
			Name: fmt.Sprint("rule-", i), Effect: "allow", Subjects: []string{fmt.Sprintf("user-%d-*", i)},
		})
	}
	rules[99].Subjects = []string{"al*"}
	s := compile(b, Config{Rules: rules})
	q := Request{Principal: alice(), Agent: "billing", Method: method(b, wire.SendMessage), Skill: "s"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Check(q); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheckEverySkill is a call that does not say its skill, to an agent
// with twenty.
func BenchmarkCheckEverySkill(b *testing.B) {
	s, q := estate(b, 100, 1)
	q.Skill = ""
	for i := range 20 {
		q.Skills = append(q.Skills, fmt.Sprint("skill-", i))
	}
	s.allow = true
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Check(q); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckDenied(b *testing.B) {
	s, q := estate(b, 100, 1)
	q.Skill = "refunds"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Check(q); err == nil {
			b.Fatal("allowed")
		}
	}
}

// BenchmarkCheckManyGroups is a caller whose directory put it into 200 groups.
func BenchmarkCheckManyGroups(b *testing.B) {
	s, q := estate(b, 100, 10)
	p := *q.Principal
	for i := range 200 {
		p.Groups = append(p.Groups, fmt.Sprint("cn=group-of-people-", i))
	}
	q.Principal = &p
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Check(q); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSkills(b *testing.B) {
	s, q := estate(b, 100, 1)
	all := []string{"invoices", "refunds", "audit", "report"}
	b.ReportAllocs()
	for b.Loop() {
		if len(s.Skills(q.Principal, q.Agent, all)) != 1 {
			b.Fatal("want one skill")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("team-%d-agent-%d", i%10, i)
	}
	rules := make([]Rule, 10_000)
	for i := range rules {
		team := fmt.Sprintf("team-%d-*", i%10)
		rules[i] = Rule{Name: fmt.Sprint(i), Effect: "allow", Agents: []string{ids[i], team}}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Compile(Config{Rules: rules}, ids); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheckTerms is a rule that asks for everything a rule can ask for.
func BenchmarkCheckTerms(b *testing.B) {
	q := signedIn(b)
	s := compile(b, Config{Rules: []Rule{allow("r", clients("app"), acting("none"), claiming("a", "1"),
		claiming("consents", "reports"), agreed(Consent{Scope: "openid"}),
		signIn(Authentication{ACR: []string{"silver"}, AMR: []string{"pwd"}, MaxAge: seconds(300)}))}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Check(q); err != nil {
			b.Fatal(err)
		}
	}
}
