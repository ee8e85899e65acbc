package policy

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// model is policy as the documentation says it, rule by rule, without an index.
type model struct{ Config }

// signedIn is the model with callers who lack no authentication and no consent, and with
// calls that no rule denies for what they are.
func (m model) signedIn() model {
	var rules []Rule
	for _, r := range m.Rules {
		r.Authentication, r.Consent = nil, nil
		if onCall := r.Bindings != nil || r.Sources != nil || r.Times != nil || r.Content != nil || r.Expr != ""; onCall {
			if r.Effect == "deny" {
				continue
			}
			r.Bindings, r.Sources, r.Times, r.Content, r.Expr = nil, nil, nil, nil, ""
			if e := r.Extensions; e != nil {
				r.Extensions = &RuleExtensions{Allow: e.Allow, Require: e.Require, Inject: e.Inject}
				if e.Allow == nil && e.Require == nil && e.Inject == nil {
					r.Extensions = nil
				}
			}
		}
		rules = append(rules, r)
	}
	m.Rules = rules
	return m
}

// holds reports whether a rule's conditions hold for a call to one skill; wide
// and known say how the skills condition is read.
func (m model) holds(r Rule, q Request, skill string, known bool) bool {
	p := q.Principal
	anyOf := func(list []string, has func(string) bool) bool {
		return list == nil || slices.ContainsFunc(list, has)
	}
	named := func(s string) bool {
		return s == q.Method.Name || s != "" && (s == q.Method.V03 || s == q.Method.V01)
	}
	fits := func(s string) func(string) bool {
		return func(pattern string) bool { return reference(pattern, s) }
	}
	skills := anyOf(r.Skills, fits(skill))
	if !known {
		skills = r.Skills == nil || slices.Contains(r.Skills, "*")
		if r.Effect == "allow" && slices.Contains(wideNames, q.Method.Name) {
			skills = true
		}
	}
	return skills &&
		anyOf(r.Agents, fits(q.Agent)) &&
		anyOf(r.Subjects, fits(p.Subject)) &&
		anyOf(r.Methods, named) &&
		anyOf(r.Groups, func(s string) bool { return slices.Contains(p.Groups, s) }) &&
		anyOf(r.Issuers, func(s string) bool { return s == p.Issuer }) &&
		m.terms(r, q) && m.circumstances(r, q) && m.expr(r, q, known) &&
		!slices.ContainsFunc(r.Scopes, func(s string) bool { return !slices.Contains(p.Scopes, s) })
}

// one decides for one skill.
func (m model) one(q Request, skill string, known bool) (bool, string) {
	for _, effect := range []string{"deny", "allow"} {
		for _, r := range m.Rules {
			if r.Effect == effect && r.Mode != "shadow" && m.holds(r, q, skill, known) {
				return m.carded(q, skill, known, effect == "allow", r.Name)
			}
		}
	}
	return m.carded(q, skill, known, m.Default == "allow", "default")
}

// carded takes a yes back where the card asks for scopes that are lacking.
func (m model) carded(q Request, skill string, known, ok bool, by string) (bool, string) {
	if !ok || !known || m.Skills.Scopes != "card" || len(q.SkillScopes[skill]) == 0 {
		return ok, by
	}
	for _, alternative := range q.SkillScopes[skill] {
		if !slices.ContainsFunc(alternative, func(s string) bool { return !slices.Contains(q.Principal.Scopes, s) }) {
			return ok, by
		}
	}
	return false, "skill-scopes"
}

func (m model) check(q Request) bool {
	lists := slices.Contains(wideNames, q.Method.Name)
	switch {
	case q.Principal.Agents != nil && !slices.Contains(q.Principal.Agents, q.Agent):
		return false
	case q.Skill != "":
		ok, _ := m.one(q, q.Skill, true)
		return ok
	case lists, q.Agentwide, m.Skills.Undeclared == "agent",
		len(q.Skills) == 0 && m.Skills.Undeclared != "deny":
		ok, _ := m.one(q, "", false)
		return ok
	case m.Skills.Undeclared == "deny":
		return false
	case m.Skills.Undeclared == "require-any":
		return len(m.allowed(q)) > 0
	}
	return len(m.allowed(q)) == len(q.Skills)
}

// allowed are the skills of q.Skills that are allowed.
func (m model) allowed(q Request) []string {
	var list []string
	for _, skill := range q.Skills {
		if ok, _ := m.one(q, skill, true); ok {
			list = append(list, skill)
		}
	}
	return list
}

// sees tries every method, for any skill.
func (m model) sees(q Request) bool {
	m = m.signedIn()
	for _, method := range everyMethod() {
		q.Method = method
		r := m
		r.Rules = nil
		for _, rule := range m.Rules { // the skills of allow rules do not matter
			if rule.Effect == "allow" {
				rule.Skills = nil
			}
			r.Rules = append(r.Rules, rule)
		}
		q.Skill, q.Skills, q.Agentwide = "", nil, true
		r.Skills.Undeclared = ""
		if r.check(q) {
			return true
		}
	}
	return false
}

var (
	someAgents   = []string{"a", "ab", "b"}
	someSkills   = []string{"s", "st", "t"}
	somePatterns = []string{"a", "b", "ab", "a*", "*b", "*", "s", "t", "s*", "*t"}
)

func drawList(rt *rapid.T, label string, from []string) []string {
	if rapid.IntRange(0, 2).Draw(rt, label+"?") > 0 {
		return nil
	}
	return rapid.SliceOfN(rapid.SampledFrom(from), 1, 3).Draw(rt, label)
}

func drawConfig(rt *rapid.T) Config {
	c := Config{Default: rapid.SampledFrom([]string{"", "deny", "allow"}).Draw(rt, "default")}
	c.Skills.Undeclared = rapid.SampledFrom([]string{"", "require-all", "require-any", "deny", "agent"}).Draw(rt, "undeclared")
	c.Skills.Scopes = rapid.SampledFrom([]string{"", "off", "card"}).Draw(rt, "scopes of cards")
	for i := range rapid.IntRange(0, 8).Draw(rt, "rules") {
		c.Rules = append(c.Rules, Rule{
			Name:     string(rune('A' + i)),
			Effect:   rapid.SampledFrom([]string{"allow", "allow", "deny", ""}).Draw(rt, "effect"),
			Mode:     rapid.SampledFrom([]string{"", "enforce", "shadow"}).Draw(rt, "mode"),
			Agents:   drawList(rt, "agents", []string{"a", "b", "ab", "a*", "*b", "*", "c*"}),
			Skills:   drawList(rt, "skills", []string{"s", "t", "s*", "*t", "*"}),
			Methods:  drawList(rt, "methods", []string{wire.SendMessage, wire.SendStreamingMessage, "tasks/get", wire.ListTasks, "x/send", "x/find"}),
			Subjects: drawList(rt, "subjects", somePatterns),
			Groups:   drawList(rt, "groups", []string{"g", "h"}),
			Scopes:   drawList(rt, "scopes", []string{"x", "y"}),
			Issuers:  drawList(rt, "issuers", []string{"i", "j"}),
		})
		drawTerms(rt, &c.Rules[i])
		drawCircumstances(rt, &c.Rules[i])
		drawExpr(rt, &c.Rules[i])
		if r := &c.Rules[i]; r.Effect == "" || r.Effect == "allow" && rapid.Bool().Draw(rt, "speaks") {
			r.Extensions = rapid.SampledFrom([]*RuleExtensions{
				{Require: []string{"urn:" + r.Name}}, {Deny: []string{"urn:" + r.Name}},
				{Allow: []string{"urn:" + r.Name}, Deny: []string{"urn:x"}},
			}).Draw(rt, "extensions")
		}
	}
	return c
}

func drawRequest(rt *rapid.T) Request {
	q := Request{
		Principal: &authn.Principal{
			Subject: rapid.SampledFrom([]string{"a", "b", "ab", "ss"}).Draw(rt, "subject"),
			Issuer:  rapid.SampledFrom([]string{"i", "j"}).Draw(rt, "issuer"),
			Groups:  rapid.SliceOfN(rapid.SampledFrom([]string{"g", "h"}), 0, 2).Draw(rt, "groups of"),
			Scopes:  rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y"}), 0, 2).Draw(rt, "scopes of"),
			Agents:  drawList(rt, "bound to", someAgents),
		},
		Now:       drawnNow,
		Agent:     rapid.SampledFrom(someAgents).Draw(rt, "agent"),
		Method:    rapid.SampledFrom(everyMethod()).Draw(rt, "method"),
		Agentwide: rapid.IntRange(0, 4).Draw(rt, "agentwide") == 0,
		Skills:    rapid.SliceOfNDistinct(rapid.SampledFrom(someSkills), 0, 3, rapid.ID).Draw(rt, "all skills"),
	}
	q.SkillScopes = rapid.MapOf(rapid.SampledFrom(someSkills), rapid.SliceOfN(
		rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 2), 0, 2)).Draw(rt, "scopes of skills")
	if rapid.Bool().Draw(rt, "declares") {
		q.Skill = rapid.SampledFrom(someSkills).Draw(rt, "skill")
	}
	drawSignIn(rt, q.Principal)
	drawCall(rt, &q)
	return q
}

// Whatever the rules and the call: the compiled set decides as the documentation
// says, and its other answers agree with its decisions.
func TestSetIsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := drawConfig(rt)
		s, _, err := Compile(c, someAgents, extra...)
		if err != nil {
			rt.Fatalf("Compile: %v", err)
		}
		m, q := model{c}, drawRequest(rt)
		d, err := s.Check(q)
		if want := m.check(q); (err == nil) != want {
			rt.Fatalf("Check: %v, want allowed %v", err, want)
		}
		if q.Skill != "" && q.Principal.MayUse(q.Agent) {
			if _, by := m.one(q, q.Skill, true); by != d.Rule {
				rt.Fatalf("decided by %q, want %q", d.Rule, by)
			}
		}
		if got, want := s.Sees(q.Principal, q.Agent), m.sees(q); got != want {
			rt.Fatalf("Sees: %v, want %v", got, want)
		}
		if known := q.Skill != "" || m.Skills.Undeclared != "require-any" ||
			q.Agentwide || slices.Contains(wideNames, q.Method.Name); !known && err == nil && len(q.Skills) > 0 {
			if want := m.allowed(q); !slices.Equal(d.Skills, want) {
				rt.Fatalf("Decision.Skills: %q, want %q", d.Skills, want)
			}
		} else if d.Skills != nil {
			rt.Fatalf("Decision.Skills: %q, want none", d.Skills)
		}
		agreeTrace(rt, s, q, d)
		agreeConsent(rt, m, q, d, err)
		agreeFaults(rt, m, q, d)
		agreeExtensions(rt, m, s, q, d, err)
		agreeDenied(rt, s, q, err)
		agreeSkills(rt, s, m.signedIn(), q)
	})
}
