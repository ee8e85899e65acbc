package policy

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// walked has the rules of all piles walked, as if there were no skills to find them by.
func (s *Set) walked() *Set {
	for _, buckets := range s.agents {
		for _, b := range buckets {
			b.scoped, b.rest = ruleList{all: b.scoped.all}, ruleList{all: b.rest.all}
			for _, shelf := range []*shelf{&b.subjects, &b.groups, &b.scopes, &b.issuers} {
				for key, p := range shelf.rules {
					shelf.rules[key] = &ruleList{all: p.all}
				}
			}
		}
	}
	return s
}

// narrows counts the piles that are looked up by skill.
func (s *Set) narrows() (n int) {
	for _, buckets := range s.agents {
		for _, b := range buckets {
			piles := []*ruleList{&b.rest, &b.scoped}
			for _, shelf := range []*shelf{&b.subjects, &b.groups, &b.scopes, &b.issuers} {
				for _, p := range shelf.rules {
					piles = append(piles, p)
				}
			}
			for _, p := range piles {
				if p.named != nil {
					n++
				}
			}
		}
	}
	return n
}

// TestPilesAreWalks: many rules are decided by, explained and listed as if each were
// looked at.
func TestPilesAreWalks(t *testing.T) {
	testenv.Alone(t, "sets of rules are compiled a hundred times")
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := drawConfig(rt)
		few := slices.Clone(c.Rules)
		for i := range 2 * shortList {
			for _, r := range few {
				r.Name += fmt.Sprint("-", i)
				if r.Expr != "" && i > 0 {
					continue // takes long to compile
				}
				c.Rules = append(c.Rules, r)
			}
		}
		compile := func() *Set {
			s, _, err := Compile(c, someAgents, extra...)
			if err != nil {
				rt.Fatalf("Compile: %v", err)
			}
			return s
		}
		piled, walked := compile(), compile().walked()
		for range 5 {
			q := drawRequest(rt)
			d, err := piled.Check(q)
			want, wantErr := walked.Check(q)
			if !reflect.DeepEqual(d, want) || !reflect.DeepEqual(err, wantErr) {
				rt.Fatalf("%+v, %+v; walking %+v, %+v", d, err, want, wantErr)
			}
			if got, want := piled.Sees(q.Principal, q.Agent), walked.Sees(q.Principal, q.Agent); got != want {
				rt.Fatalf("Sees: %v, walking %v", got, want)
			}
			if got, want := piled.SkillsWith(q.Principal, q.Agent, someSkills, q.SkillScopes),
				walked.SkillsWith(q.Principal, q.Agent, someSkills, q.SkillScopes); !slices.Equal(got, want) {
				rt.Fatalf("Skills: %q, walking %q", got, want)
			}
		}
	})
}

// bySkills are n rules about one agent and one group, each for a skill of its own.
func bySkills(tb testing.TB, n int) (*Set, Request) {
	rules := make([]Rule, n)
	for i := range rules {
		rules[i] = Rule{
			Name: fmt.Sprint("rule-", i), Effect: "allow",
			Agents: []string{"billing"}, Groups: []string{"analysts"}, Skills: []string{fmt.Sprint("skill-", i)},
		}
	}
	s := compile(tb, Config{Rules: rules})
	return s, Request{Principal: alice(), Agent: "billing", Method: method(tb, wire.SendMessage), Skill: fmt.Sprint("skill-", n/2)}
}

// TestPileIsNarrowed: of many rules for one group, those for one skill are found.
func TestPileIsNarrowed(t *testing.T) {
	t.Parallel()
	s, q := bySkills(t, 100)
	if s.narrows() == 0 {
		t.Fatal("no pile is looked up by skill")
	}
	n := s.need(&q)
	hits := gather(nil, s.agents[q.Agent], q.Principal, s.ops.bit(q.Method), &n)
	if len(hits) != 1 || hits[0].name != "rule-50" {
		t.Errorf("%d rules are looked at", len(hits))
	}
	if d, err := s.Check(q); err != nil || d.Rule != "rule-50" {
		t.Errorf("%+v, %v", d, err)
	}
}

// BenchmarkCheckSkills is a caller whom every rule is about.
func BenchmarkCheckSkills(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint("rules=", n), func(b *testing.B) {
			s, q := bySkills(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Check(q); err != nil || !s.Sees(q.Principal, q.Agent) {
					b.Fatal(err)
				}
			}
		})
	}
}
