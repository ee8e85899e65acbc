package main

import (
	"fmt"
)

var (
	// growthRules is a policy of many hands: rules about this agent and all agents, for
	// groups, persons and scopes, one in five of them forbidding something. One lets the
	// caller pass.
	growthRules = workload{
		name: "growth-rules", unit: "request", rounds: growthRounds,
		what:    "SendMessage by how many rules there are about the agent, of which one is about the caller",
		columns: append([]column{cpuColumn}, growthColumns[1:]...),
		growth:  &growth{of: "rules", sizes: []int{1, 10, 100, 1000, 10_000}, settle: manyRules(mixedRule)},
	}
	// growthSkills is the hardest: every rule is about this agent and this caller, and only
	// their skills differ.
	growthSkills = workload{
		name: "growth-skills", unit: "request", rounds: growthRounds,
		what:    "the same where all rules are about the caller too, each for another skill",
		columns: append([]column{cpuColumn}, growthColumns[1:]...),
		growth:  &growth{of: "rules", sizes: []int{1, 10, 100, 1000, 10_000}, settle: manyRules(skillRule)},
	}
)

func manyRules(rule func(i int) string) func(*stage, int, *gatewaySettings) (crowd, error) {
	return func(st *stage, n int, s *gatewaySettings) (crowd, error) {
		s.rules = nil
		for i := range n - 1 {
			s.rules = append(s.rules, rule(i))
		}
		l := &lane{stage: st, subject: gateway}
		return crowd{each: []shot{{gateway.path, l.header(), l.unaryCall()}}}, nil
	}
}

func mixedRule(i int) string {
	switch i % 5 {
	case 0:
		return fmt.Sprintf("effect: allow, agents: [billing], groups: [group-%d]", i)
	case 1:
		return fmt.Sprintf("effect: allow, agents: [billing], subjects: [user-%d]", i)
	case 2:
		return fmt.Sprintf("effect: allow, agents: [billing], scopes: [scope-%d]", i)
	case 3:
		return fmt.Sprintf("effect: deny, agents: [billing], groups: [group-%d], skills: [summarize]", i)
	}
	return fmt.Sprintf("effect: allow, groups: [group-%d], methods: [SendMessage]", i)
}

func skillRule(i int) string {
	return fmt.Sprintf("effect: allow, agents: [billing], groups: [finance], skills: [skill-%d]", i)
}
