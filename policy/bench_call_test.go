package policy

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// mixed is an estate of which a tenth of the rules has each of the conditions on the call,
// and a caller whom a rule with all of them allows. Half of the rules with such a
// condition are about the caller, so that they are looked at.
func mixed(b *testing.B, n, agents int) (*Set, Request) {
	b.Helper()
	ids := make([]string, agents)
	for i := range ids {
		ids[i] = fmt.Sprintf("team-%d-agent-%d", i%10, i)
	}
	texts := Content{Parts: []string{"text", "data"}, MediaTypes: []string{"text/*", "application/json"}, MaxBytes: 1 << 20}
	office := Window{Days: []string{"mon-fri"}, From: "06:00", To: "18:00", Zone: "Europe/Vienna"}
	conditions := []func(*Rule){over("GRPC"), from("192.0.2.0/24", "2001:db8::/32"), during(office), containing(texts)}
	rules := []Rule{allow("caller", agentsOf(ids[:1]), groups("analysts"), skills("invoices"),
		over("JSONRPC"), from("10.0.0.0/8"), during(office), containing(texts))}
	for i := range n - 1 {
		r := allow(fmt.Sprint("rule-", i), agentsOf(ids[i%agents:i%agents+1]), groups(fmt.Sprint("group-", i)))
		if i%10 < len(conditions) {
			conditions[i%10](&r)
			if i%20 < 10 {
				r.Effect, r.Groups, r.Skills = "deny", []string{"analysts"}, []string{"refunds"}
				if r.Content != nil {
					r.Content = &Content{Parts: texts.Parts, MediaTypes: texts.MediaTypes}
				}
			}
		}
		rules = append(rules, r)
	}
	s, _, err := Compile(Config{Rules: rules}, ids)
	if err != nil {
		b.Fatal(err)
	}
	q := signedIn(b)
	q.Agent, q.Binding, q.Source = ids[0], wire.JSONRPC, netip.MustParseAddr("10.1.2.3")
	q.Message = parts(text(2), data(40))
	return s, q
}

func agentsOf(list []string) func(*Rule) { return agents(list...) }

// BenchmarkCheckMixed grows the rules: with the fleet, and for one agent alone.
func BenchmarkCheckMixed(b *testing.B) {
	for _, size := range []struct{ rules, agents int }{
		{1, 1}, {10, 1}, {100, 1}, {1000, 1}, {100, 100}, {1000, 100}, {10_000, 100},
	} {
		b.Run(fmt.Sprintf("rules=%d/agents=%d", size.rules, size.agents), func(b *testing.B) {
			s, q := mixed(b, size.rules, size.agents)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Check(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheckAnySkill is a call of any of twenty skills, of which one is allowed.
func BenchmarkCheckAnySkill(b *testing.B) {
	s, q := estate(b, 1000, 100)
	s.undeclared, q.Skill = requireAny, ""
	for i := range 19 {
		q.Skills = append(q.Skills, fmt.Sprint("skill-", i))
	}
	q.Skills = append(q.Skills, "invoices")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Check(q); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompileAlike is the dearest to warn about: ten thousand rules that no index
// tells apart, each to be held against the others.
func BenchmarkCompileAlike(b *testing.B) {
	rules := make([]Rule, 10_000)
	for i := range rules {
		rules[i] = allow(fmt.Sprint(i), subjects(fmt.Sprintf("user-%d-*", i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Compile(Config{Rules: rules}, fleet); err != nil {
			b.Fatal(err)
		}
	}
}
