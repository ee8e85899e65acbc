package policy

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawBoth compiles rules without and with one of them.
func drawBoth(rt *rapid.T, effect string) (without, with *Set) {
	c := drawConfig(rt)
	c.Rules = append(c.Rules, Rule{
		Name: "more", Effect: effect, Agents: drawList(rt, "agents", []string{"a", "*b"}),
		Skills: drawList(rt, "skills", []string{"s", "*t"}), Groups: drawList(rt, "groups", []string{"g"}),
	})
	r := &c.Rules[len(c.Rules)-1]
	drawTerms(rt, r)
	drawCircumstances(rt, r)
	drawExpr(rt, r)
	var sets [2]*Set
	for i, rules := range [][]Rule{c.Rules[:len(c.Rules)-1], c.Rules} {
		part := c
		part.Rules = rules
		s, _, err := Compile(part, someAgents, extra...)
		if err != nil {
			rt.Fatal(err)
		}
		sets[i] = s
	}
	return sets[0], sets[1]
}

// One deny rule more never lets a call pass, and never shows anything that was hidden.
func TestDenyRuleTakesAway(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		without, with := drawBoth(rt, "deny")
		q := drawRequest(rt)
		before, err := without.Check(q)
		after, err2 := with.Check(q)
		if err != nil && err2 == nil {
			rt.Fatalf("a deny rule more allows what was refused: %v", err)
		}
		if slices.ContainsFunc(after.Skills, func(skill string) bool { return !slices.Contains(before.Skills, skill) }) {
			rt.Fatalf("a deny rule more allows %q, before %q", after.Skills, before.Skills)
		}
		if with.Sees(q.Principal, q.Agent) && !without.Sees(q.Principal, q.Agent) {
			rt.Fatal("a deny rule more shows an agent")
		}
	})
}

// One allow rule more never stops a call, and never undoes what a deny rule says.
func TestAllowRuleAdds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		without, with := drawBoth(rt, "allow")
		q := drawRequest(rt)
		before, err := without.Check(q)
		_, err2 := with.Check(q)
		if err == nil && err2 != nil {
			rt.Fatalf("an allow rule more stops a call: %v", err2)
		}
		byRule := slices.ContainsFunc(without.rules, func(r *rule) bool { return r.name == before.Rule })
		// Where one skill is enough, all of them were denied.
		if err != nil && byRule && err2 == nil {
			rt.Fatalf("an allow rule more undoes what %q denies", before.Rule)
		}
		if without.Sees(q.Principal, q.Agent) && !with.Sees(q.Principal, q.Agent) {
			rt.Fatal("an allow rule more hides an agent")
		}
	})
}

// The steps of Trace without a failed condition are what decides: for each skill a deny
// step refuses, an allow step allows, and else the default does.
func TestTraceDecides(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c, q := drawConfig(rt), drawRequest(rt)
		s, _, err := Compile(c, someAgents, extra...)
		if err != nil {
			rt.Fatal(err)
		}
		_, err = s.Check(q)
		n := s.need(&q)
		if n.level == unsettled || !q.Principal.MayUse(q.Agent) {
			return
		}
		hasStepUp, yes := s.Trace(q), 0
		for i := range n.count() {
			decides := func(effect string) bool {
				return slices.ContainsFunc(hasStepUp, func(step step) bool {
					return step.Effect == effect && step.Failed == "" && !step.Shadow &&
						(n.all == nil || slices.Contains(step.Skills, n.skill(i)))
				})
			}
			if !decides("deny") && (decides("allow") || s.allow) {
				yes++
			}
		}
		if want := yes == n.count() || n.level == anySkill && yes > 0; want != (err == nil) {
			rt.Fatalf("Check says %v, by the steps %+v it is %v", err, hasStepUp, want)
		}
	})
}
