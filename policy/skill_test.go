package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// How calls are judged that are not for one skill. The agent has invoices and
// refunds unless the case says otherwise.
func TestSkillUnknown(t *testing.T) {
	t.Parallel()
	both := []string{"invoices", "refunds"}
	for name, tc := range map[string]struct {
		undeclared string
		rules      []Rule
		skills     []string
		agentwide  bool
		want       verdict
	}{
		"all allowed": {rules: []Rule{allow("r")}, skills: both, want: verdict{Allowed: true, Rule: "r"}},
		"all one by one": {
			rules:  []Rule{allow("b", skills("refunds")), allow("a", skills("invoices"))},
			skills: both,
			want:   verdict{Allowed: true, Rule: "a"},
		},
		"one of two": {
			rules:  []Rule{allow("a", skills("invoices"))},
			skills: both,
			want:   verdict{Rule: "default", Visible: true},
		},
		"one denied": {
			rules:  []Rule{allow("r"), deny("no", skills("refunds"))},
			skills: both, want: verdict{Rule: "no", Visible: true},
		},
		"scopes for the second": {
			rules:  []Rule{allow("a", skills("invoices")), allow("b", skills("refunds"), scopes("billing.write"))},
			skills: both, want: verdict{Rule: "default", Scopes: []string{"billing.write"}, Visible: true},
		},
		"scopes for both, once each": {
			rules: []Rule{
				allow("a", skills("invoices"), scopes("x", "openid")),
				allow("b", skills("refunds"), scopes("x", "y")),
			},
			skills: both, want: verdict{Rule: "default", Scopes: []string{"x", "y"}},
		},
		"scopes that do not help": {
			rules:  []Rule{allow("a", skills("invoices"), scopes("x"))},
			skills: both, want: verdict{Rule: "default"},
		},
		"shadow on the second": {
			rules:  []Rule{allow("r"), deny("soon", skills("refunds"), shadow)},
			skills: both, want: verdict{Allowed: true, Rule: "r", Shadow: []string{"deny soon"}},
		},
		"no skills, agent rule": {rules: []Rule{allow("r")}, want: verdict{Allowed: true, Rule: "r"}},
		"no skills, star rule": {
			rules: []Rule{allow("r", skills("*"))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"no skills, skill rule": {
			rules: []Rule{allow("r", skills("invoices"))},
			want:  verdict{Rule: "default", Visible: true},
		},
		"no skills, skill glob rule": {
			rules: []Rule{allow("r", skills("i*"))},
			want:  verdict{Rule: "default", Visible: true},
		},

		"agent: agent rule": {
			undeclared: "agent",
			rules:      []Rule{allow("r")},
			skills:     both,
			want:       verdict{Allowed: true, Rule: "r"},
		},
		"agent: skill rules do not allow": {
			undeclared: "agent", rules: []Rule{allow("a", skills("invoices")), allow("b", skills("refunds"))},
			skills: both, want: verdict{Rule: "default", Visible: true},
		},
		"agent: skill rules do not deny": {
			undeclared: "agent", rules: []Rule{allow("r"), deny("no", skills("refunds"))},
			skills: both, want: verdict{Allowed: true, Rule: "r"},
		},
		"agentwide by request": {
			rules: []Rule{allow("r"), deny("no", skills("refunds"))}, agentwide: true,
			skills: both, want: verdict{Allowed: true, Rule: "r"},
		},
		"deny": {
			undeclared: "deny",
			rules:      []Rule{allow("r")},
			skills:     both,
			want:       verdict{Rule: "undeclared", Visible: true},
		},
		"deny without skills": {
			undeclared: "deny",
			rules:      []Rule{allow("r")},
			want:       verdict{Rule: "undeclared", Visible: true},
		},
		"deny beats no default": {undeclared: "deny", skills: both, want: verdict{Rule: "undeclared"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, Config{Rules: tc.rules, Skills: SkillsConfig{Undeclared: tc.undeclared}})
			got := judge(t, s, Request{
				Principal: alice(), Agent: "billing", Method: method(t, wire.SendMessage),
				Skills: tc.skills, Agentwide: tc.agentwide,
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Listing tasks and reading the extended card are about no skill: see wide.
func TestWideMethods(t *testing.T) {
	t.Parallel()
	for _, name := range []string{wire.ListTasks, wire.GetExtendedAgentCard} {
		for label, tc := range map[string]struct {
			undeclared string
			rules      []Rule
			skill      string
			want       verdict
		}{
			"one skill is enough": {
				rules: []Rule{allow("r", skills("invoices"))},
				want:  verdict{Allowed: true, Rule: "r"},
			},
			"one skill is enough where undeclared is denied": {
				undeclared: "deny", rules: []Rule{allow("r", skills("invoices"))},
				want: verdict{Allowed: true, Rule: "r"},
			},
			"a denied skill does not end it": {
				rules: []Rule{allow("r"), deny("no", skills("refunds"))},
				want:  verdict{Allowed: true, Rule: "r"},
			},
			"a denied agent ends it": {
				rules: []Rule{allow("r"), deny("no", subjects("alice"))},
				want:  verdict{Rule: "no"},
			},
			"a denied method ends it": {
				rules: []Rule{allow("r"), deny("no", calls(name))},
				want:  verdict{Rule: "no", Visible: true},
			},
			"the method must be allowed": {
				rules: []Rule{allow("r", calls("SendMessage"))},
				want:  verdict{Rule: "default", Visible: true},
			},
			"under a skill's path the skill counts": {
				rules: []Rule{allow("r", skills("invoices"))}, skill: "refunds",
				want: verdict{Rule: "default", Visible: true},
			},
			"nothing allowed": {want: verdict{Rule: "default"}},
		} {
			s := compile(t, Config{Rules: tc.rules, Skills: SkillsConfig{Undeclared: tc.undeclared}})
			got := judge(t, s, Request{
				Principal: alice(), Agent: "billing", Method: method(t, name),
				Skill: tc.skill, Skills: []string{"invoices", "refunds"},
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, label, diff)
			}
		}
	}
}
