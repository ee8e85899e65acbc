package policy

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// agreeTrace: Trace shows a match of whatever decided and of each shadow rule.
func agreeTrace(rt *rapid.T, s *Set, q Request, d Decision) {
	var shadows []string
	decided := false
	for _, step := range s.Trace(q) {
		if step.Shadow && step.Failed == "" && step.Effect != "extensions" {
			shadows = append(shadows, step.Effect+" "+step.Rule)
		}
		decided = decided || step.Rule == d.Rule && step.Failed == "" && !step.Shadow
	}
	if d.Rule == byCredential {
		return
	}
	if !slices.Equal(shadows, d.Shadow) {
		rt.Fatalf("Trace has the shadows %q, Check %q", shadows, d.Shadow)
	}
	if !decided && d.Rule != byDefault && d.Rule != byUndeclared { // the scopes of the card have a step
		rt.Fatalf("Check was decided by %q, which does not match in Trace", d.Rule)
	}
}

// agreeSkills: Skills are those for which sending is allowed, once signed in.
func agreeSkills(rt *rapid.T, s *Set, m model, q Request) {
	got := s.SkillsWith(q.Principal, q.Agent, someSkills, q.SkillScopes)
	for _, skill := range someSkills {
		allowed := false
		for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			send := q
			send.Skill = skill
			send.Method, _ = wire.ByName(wire.V10, name)
			allowed = allowed || m.check(send)
		}
		if allowed != slices.Contains(got, skill) {
			rt.Fatalf("Skills %q, but sending for %q is allowed: %v", got, skill, allowed)
		}
	}
}

// agreeDenied: with the scopes and the authentication that a refusal asks for, no
// allow rule is missing any more; and it is visible if and only if the agent is.
func agreeDenied(rt *rapid.T, s *Set, q Request, err error) {
	if err == nil {
		return
	}
	denied := err.(*Denied) // Check returns nothing else
	if denied.Visible != s.Sees(q.Principal, q.Agent) {
		rt.Fatalf("Visible %v, Sees says otherwise", denied.Visible)
	}
	if denied.Scopes == nil && denied.StepUp == nil {
		return
	}
	p := *q.Principal
	p.Scopes = append(slices.Clone(p.Scopes), denied.Scopes...)
	if step := denied.StepUp; step != nil {
		p.AMR, p.AuthTime = step.AMR, q.Now
		if p.ACR = ""; step.ACR != nil {
			p.ACR = rapid.SampledFrom(step.ACR).Draw(rt, "the class asked for")
		}
	}
	q.Principal = &p
	// A deny rule that asks for one of the scopes may come in between, and leave another
	// skill that is enough.
	between := s.undeclared == requireAny && slices.ContainsFunc(s.Trace(q), func(step step) bool {
		return step.Effect == "deny" && step.Failed == "" && step.Rule != byScopes
	})
	if d, err := s.Check(q); err != nil && (d.Rule == byDefault || d.Rule == byScopes) && !between {
		rt.Fatalf("still refused with the scopes %q and %+v: %v", p.Scopes, denied.StepUp, err)
	}
}
