package policy

import (
	"slices"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// extra are methods of extensions, one of each subject that there may be.
var extra = []*wire.Method{
	{Name: "x/send", Extension: "https://x", Subject: wire.OfMessage},
	{Name: "x/task", Extension: "https://x", Subject: wire.OfTask},
	{Name: "x/find", Extension: "https://y", Subject: wire.OfCaller},
	{Name: "x/about", Extension: "https://y", Subject: wire.OfAgent},
}

// wideNames are the methods that are about no skill.
var wideNames = []string{wire.ListTasks, wire.GetExtendedAgentCard, "x/find", "x/about"}

// everyMethod is every method that a set compiled with extra knows.
func everyMethod() []*wire.Method {
	list := slices.Clone(extra)
	table := wire.Methods()
	for i := range table {
		list = append(list, &table[i])
	}
	return list
}

// matches reports whether a rule is about any skill that an allowed call needs.
func (m model) matches(r Rule, q Request) bool {
	needed := q.Skills
	switch {
	case q.Skill != "":
		needed = []string{q.Skill}
	case slices.Contains(wideNames, q.Method.Name), q.Agentwide, m.Skills.Undeclared == "agent", len(q.Skills) == 0:
		return m.holds(r, q, "", false)
	}
	if m.Skills.Undeclared == "require-any" && q.Skill == "" {
		needed = m.allowed(q)
	}
	return slices.ContainsFunc(needed, func(skill string) bool { return m.holds(r, q, skill, true) })
}

// agreeExtensions: what the rules that match say, once each and in their order; of
// a refused call nothing. For a card the rules for sending to each skill speak.
func agreeExtensions(rt *rapid.T, m model, s *Set, q Request, d Decision, err error) {
	var want []Extensions
	for _, r := range m.Rules {
		if err == nil && r.Extensions != nil && m.matches(r, q) {
			want = append(want, Extensions{r.Name, r.Mode == "shadow", *r.Extensions})
		}
	}
	if diff := cmp.Diff(want, d.Extensions); diff != "" {
		rt.Fatalf("Decision.Extensions (-want +got):\n%s", diff)
	}
	m = m.signedIn()
	for _, skill := range someSkills {
		var card []string
		for _, r := range m.Rules {
			for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				send := q
				send.Method, _ = wire.ByName(wire.V10, name)
				if r.Extensions != nil && m.holds(r, send, skill, true) && !slices.Contains(card, r.Name) &&
					q.Principal.MayUse(q.Agent) {
					card = append(card, r.Name)
				}
			}
		}
		lists := s.Extensions(q.Principal, q.Agent, []string{skill, skill})
		if len(lists) != 1 {
			rt.Fatalf("%d lists for one skill", len(lists))
		}
		if !slices.EqualFunc(card, lists[0], func(name string, e Extensions) bool { return e.Rule == name }) {
			rt.Fatalf("the card for %q has %v, want %q", skill, lists[0], card)
		}
	}
}
