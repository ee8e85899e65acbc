package policy

import (
	"slices"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// A10: an operation is decided the same whatever the version calls it, because
// policy only ever sees the row of the method table.
func TestA10_EveryNameOfAMethodIsDecidedAlike(t *testing.T) {
	t.Parallel()
	table := wire.Methods()
	for i := range table {
		m := &table[i]
		s := compile(t, Config{Default: "allow", Rules: []Rule{deny("no", calls(m.Name), groups("staff"))}})
		names := map[wire.Version]string{wire.V10: m.Name, wire.V03: m.V03, wire.V01: m.V01}
		for v, name := range names {
			if name == "" {
				continue
			}
			called, ok := wire.ByName(v, name)
			if !ok {
				t.Fatalf("%s is no method of %s", name, v)
			}
			d, err := s.Check(Request{Principal: alice(), Agent: "billing", Method: called, Skill: "s"})
			if err == nil || d.Rule != "no" {
				t.Errorf("%s of %s, denied as %s, gave %v", name, v, m.Name, err)
			}
		}
	}
}

// A12: a caller with one skill gets no other by naming it in any way, by naming
// none, or by naming two.
func TestA12_OneSkillIsNotAnother(t *testing.T) {
	t.Parallel()
	all := []string{"invoices", "refunds"}
	for _, mode := range []string{"", "deny", "agent"} {
		s := compile(t, Config{
			Rules:  []Rule{allow("analysts", agents("billing"), skills("invoices"), groups("analysts"))},
			Skills: SkillsConfig{Undeclared: mode},
		})
		for name, tc := range map[string]struct {
			src     SkillSource
			allowed bool
		}{
			"path, own":                {SkillSource{Path: "invoices"}, true},
			"metadata, own":            {SkillSource{Declared: "invoices"}, true},
			"task, own":                {SkillSource{Task: "invoices"}, true},
			"path, other":              {SkillSource{Path: "refunds"}, false},
			"metadata, other":          {SkillSource{Declared: "refunds"}, false},
			"task, other":              {SkillSource{Task: "refunds"}, false},
			"nothing":                  {SkillSource{}, false},
			"own path, other metadata": {SkillSource{Path: "invoices", Declared: "refunds"}, false},
			"own path, other task":     {SkillSource{Path: "invoices", Task: "refunds"}, false},
			"own metadata, other task": {SkillSource{Declared: "invoices", Task: "refunds"}, false},
			"other in other case":      {SkillSource{Path: "Refunds"}, false},
			"own with a space":         {SkillSource{Declared: "invoices "}, false},
			"pattern instead of an id": {SkillSource{Path: "*"}, false},
		} {
			tc.src.All, tc.src.Principal, tc.src.Agent = all, alice(), "billing"
			if got := passes(t, s, tc.src, wire.SendMessage); got != tc.allowed {
				t.Errorf("undeclared %q, %s: allowed %v, want %v", mode, name, got, tc.allowed)
			}
		}
		if got := s.Skills(alice(), "billing", all); !slices.Equal(got, all[:1]) {
			t.Errorf("undeclared %q: the card shows %q, want %q", mode, got, all[:1])
		}
	}
}

// A12, the other half: a caller with one skill can list its tasks and read the
// card that names it, under every way of treating undeclared skills.
func TestA12_OneSkillIsEnoughForTheAgentsOwnMethods(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "deny", "agent"} {
		s := compile(t, Config{
			Rules:  []Rule{allow("analysts", agents("billing"), skills("invoices"))},
			Skills: SkillsConfig{Undeclared: mode},
		})
		for _, name := range []string{wire.ListTasks, wire.GetExtendedAgentCard} {
			src := SkillSource{All: []string{"invoices", "refunds"}, Principal: alice(), Agent: "billing"}
			src.Method = method(t, name)
			if !passes(t, s, src, name) {
				t.Errorf("undeclared %q: %s is denied", mode, name)
			}
		}
	}
}

// passes does what the proxy does: find the skill, then ask the rules.
func passes(t *testing.T, s *Set, src SkillSource, name string) bool {
	t.Helper()
	skill, agentwide, err := s.Resolve(src)
	if err != nil {
		return false
	}
	_, err = s.Check(Request{
		Principal: src.Principal, Agent: src.Agent, Method: method(t, name),
		Skill: skill, Skills: src.All, Agentwide: agentwide,
	})
	return err == nil
}

// L26: two issuers with the same subject are two principals, to rules that say
// whose subject they mean.
func TestL26_SubjectsOfTwoIssuersAreTwo(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Rules: []Rule{allow("r", subjects("alice"), issuers("https://issuer"))}})
	for issuer, want := range map[string]bool{
		"https://issuer": true, "https://other": false, "api-keys": false,
	} {
		p := &authn.Principal{Subject: "alice", Issuer: issuer}
		if got := s.Sees(p, "billing"); got != want {
			t.Errorf("alice of %s is let in: %v, want %v", issuer, got, want)
		}
	}
}
