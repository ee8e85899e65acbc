package policy

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
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
		"all allowed":    {rules: []Rule{allow("r")}, skills: both, want: verdict{Allowed: true, Rule: "r"}},
		"all one by one": {rules: []Rule{allow("b", skills("refunds")), allow("a", skills("invoices"))}, skills: both, want: verdict{Allowed: true, Rule: "a"}},
		"one of two":     {rules: []Rule{allow("a", skills("invoices"))}, skills: both, want: verdict{Rule: "default", Visible: true}},
		"one denied": {
			rules:  []Rule{allow("r"), deny("no", skills("refunds"))},
			skills: both, want: verdict{Rule: "no", Visible: true},
		},
		"scopes for the second": {
			rules:  []Rule{allow("a", skills("invoices")), allow("b", skills("refunds"), scopes("billing.write"))},
			skills: both, want: verdict{Rule: "default", Scopes: []string{"billing.write"}, Visible: true},
		},
		"scopes for both, once each": {
			rules:  []Rule{allow("a", skills("invoices"), scopes("x", "openid")), allow("b", skills("refunds"), scopes("x", "y"))},
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
		"no skills, agent rule":      {rules: []Rule{allow("r")}, want: verdict{Allowed: true, Rule: "r"}},
		"no skills, star rule":       {rules: []Rule{allow("r", skills("*"))}, want: verdict{Allowed: true, Rule: "r"}},
		"no skills, skill rule":      {rules: []Rule{allow("r", skills("invoices"))}, want: verdict{Rule: "default", Visible: true}},
		"no skills, skill glob rule": {rules: []Rule{allow("r", skills("i*"))}, want: verdict{Rule: "default", Visible: true}},

		"agent: agent rule": {undeclared: "agent", rules: []Rule{allow("r")}, skills: both, want: verdict{Allowed: true, Rule: "r"}},
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
		"deny":                  {undeclared: "deny", rules: []Rule{allow("r")}, skills: both, want: verdict{Rule: "undeclared", Visible: true}},
		"deny without skills":   {undeclared: "deny", rules: []Rule{allow("r")}, want: verdict{Rule: "undeclared", Visible: true}},
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
			"one skill is enough": {rules: []Rule{allow("r", skills("invoices"))}, want: verdict{Allowed: true, Rule: "r"}},
			"one skill is enough where undeclared is denied": {
				undeclared: "deny", rules: []Rule{allow("r", skills("invoices"))},
				want: verdict{Allowed: true, Rule: "r"},
			},
			"a denied skill does not end it": {
				rules: []Rule{allow("r"), deny("no", skills("refunds"))},
				want:  verdict{Allowed: true, Rule: "r"},
			},
			"a denied agent ends it": {rules: []Rule{allow("r"), deny("no", subjects("alice"))}, want: verdict{Rule: "no"}},
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

func TestResolve(t *testing.T) {
	t.Parallel()
	both := []string{"invoices", "refunds"}
	list := method(t, wire.ListTasks)
	for name, tc := range map[string]struct {
		undeclared string
		in         SkillSource
		skill      string
		agentwide  bool
		denied     bool
	}{
		"path":                     {in: SkillSource{Path: "refunds", All: both}, skill: "refunds"},
		"task":                     {in: SkillSource{Task: "refunds", All: both}, skill: "refunds"},
		"declared":                 {in: SkillSource{Declared: "refunds", All: both}, skill: "refunds"},
		"all agree":                {in: SkillSource{Path: "refunds", Task: "refunds", Declared: "refunds", All: both}, skill: "refunds"},
		"path beside a plain task": {in: SkillSource{Path: "refunds", All: both}, skill: "refunds"},
		"only skill":               {in: SkillSource{All: both[:1]}, skill: "invoices"},
		"unknown":                  {in: SkillSource{All: both}},
		"unknown, no skills":       {in: SkillSource{}, agentwide: true},
		"unknown, agent":           {undeclared: "agent", in: SkillSource{All: both}, agentwide: true},
		"unknown, deny":            {undeclared: "deny", in: SkillSource{All: both}, denied: true},
		"unknown, deny, no skills": {undeclared: "deny", in: SkillSource{}, denied: true},
		"only skill, deny":         {undeclared: "deny", in: SkillSource{All: both[:1]}, skill: "invoices"},
		"declared, deny":           {undeclared: "deny", in: SkillSource{Declared: "refunds", All: both}, skill: "refunds"},

		"path of no skill":      {in: SkillSource{Path: "refund", All: both}, denied: true},
		"declared no skill":     {in: SkillSource{Declared: "Refunds", All: both}, denied: true},
		"path without skills":   {in: SkillSource{Path: "refunds"}, denied: true},
		"task's skill is gone":  {in: SkillSource{Task: "gone", All: both}, skill: "gone"},
		"path against task":     {in: SkillSource{Path: "refunds", Task: "invoices", All: both}, denied: true},
		"declared against task": {in: SkillSource{Task: "invoices", Declared: "refunds", All: both}, denied: true},
		"declared against path": {in: SkillSource{Path: "invoices", Declared: "refunds", All: both}, denied: true},

		"list":                {in: SkillSource{Method: list, All: both}, agentwide: true},
		"list, deny":          {undeclared: "deny", in: SkillSource{Method: list, All: both}, agentwide: true},
		"list under a path":   {in: SkillSource{Method: list, Path: "refunds", All: both}, skill: "refunds"},
		"list of a one-skill": {in: SkillSource{Method: list, All: both[:1]}, agentwide: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, Config{
				Rules:  []Rule{allow("r", agents("billing"))},
				Skills: SkillsConfig{Undeclared: tc.undeclared},
			})
			tc.in.Principal, tc.in.Agent = alice(), "billing"
			skill, agentwide, err := s.Resolve(tc.in)
			var denied *Denied
			if (err != nil) != tc.denied || err != nil && !errors.As(err, &denied) {
				t.Fatalf("Resolve: %v, want denied %v", err, tc.denied)
			}
			if skill != tc.skill || agentwide != tc.agentwide {
				t.Errorf("Resolve: %q, %v; want %q, %v", skill, agentwide, tc.skill, tc.agentwide)
			}
			if denied != nil && (!denied.Visible || denied.Rule != "undeclared") {
				t.Errorf("Denied %+v, want visible, by undeclared", denied)
			}
			tc.in.Agent = "weather"
			if _, _, err := s.Resolve(tc.in); errors.As(err, &denied) && denied.Visible {
				t.Error("a refusal on an agent that the caller may not see is visible")
			}
		})
	}
}

func TestSees(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		config Config
		change func(*authn.Principal)
		want   bool
	}{
		"no rules":          {},
		"default allow":     {config: Config{Default: "allow"}, want: true},
		"allowed":           {config: Config{Rules: []Rule{allow("r")}}, want: true},
		"one skill":         {config: Config{Rules: []Rule{allow("r", skills("x"))}}, want: true},
		"one method":        {config: Config{Rules: []Rule{allow("r", calls("GetTask"))}}, want: true},
		"other agent":       {config: Config{Rules: []Rule{allow("r", agents("weather"))}}},
		"other subject":     {config: Config{Rules: []Rule{allow("r", subjects("bob"))}}},
		"scope missing":     {config: Config{Rules: []Rule{allow("r", scopes("admin"))}}},
		"shadow allow":      {config: Config{Rules: []Rule{allow("r", shadow)}}},
		"denied":            {config: Config{Rules: []Rule{allow("r"), deny("no")}}},
		"denied by default": {config: Config{Default: "allow", Rules: []Rule{deny("no", groups("staff"))}}},
		"shadow deny":       {config: Config{Rules: []Rule{allow("r"), deny("no", shadow)}}, want: true},
		"one skill denied":  {config: Config{Rules: []Rule{allow("r"), deny("no", skills("x"))}}, want: true},
		"one method denied": {config: Config{Rules: []Rule{allow("r"), deny("no", calls("GetTask"))}}, want: true},
		"all it allows is denied": {
			config: Config{Rules: []Rule{allow("r", calls("GetTask", "SendMessage")), deny("a", calls("GetTask")), deny("b", calls("SendMessage"))}},
		},
		"bound elsewhere": {
			config: Config{Rules: []Rule{allow("r")}},
			change: func(p *authn.Principal) { p.Agents = []string{"weather"} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := compile(t, tc.config), alice()
			if tc.change != nil {
				tc.change(p)
			}
			if got := s.Sees(p, "billing"); got != tc.want {
				t.Errorf("Sees: %v, want %v", got, tc.want)
			}
		})
	}
	s := compile(t, Config{Default: "allow"})
	if s.Sees(nil, "billing") || s.Sees(alice(), "nope") {
		t.Error("nobody sees an agent, or somebody sees one that does not exist")
	}
}

func TestSkills(t *testing.T) {
	t.Parallel()
	all := []string{"refunds", "invoices", "audit"}
	bound := alice()
	bound.Agents = []string{"weather"}
	for name, tc := range map[string]struct {
		config    Config
		principal *authn.Principal
		want      []string
	}{
		"none":             {principal: alice(), want: []string{}},
		"all, in order":    {config: Config{Default: "allow"}, principal: alice(), want: all},
		"some":             {config: Config{Rules: []Rule{allow("r", skills("a*", "refunds"))}}, principal: alice(), want: []string{"refunds", "audit"}},
		"all but one":      {config: Config{Rules: []Rule{allow("r"), deny("no", skills("audit"))}}, principal: alice(), want: all[:2]},
		"streaming only":   {config: Config{Rules: []Rule{allow("r", calls("SendStreamingMessage"))}}, principal: alice(), want: all},
		"not to send":      {config: Config{Rules: []Rule{allow("r", calls("GetTask"))}}, principal: alice(), want: []string{}},
		"one way denied":   {config: Config{Rules: []Rule{allow("r"), deny("no", calls("message/send"))}}, principal: alice(), want: all},
		"both ways denied": {config: Config{Rules: []Rule{allow("r"), deny("no", calls("message/send", "message/stream"))}}, principal: alice(), want: []string{}},
		"shadow":           {config: Config{Rules: []Rule{allow("r", shadow)}}, principal: alice(), want: []string{}},
		"bound elsewhere":  {config: Config{Default: "allow"}, principal: bound, want: []string{}},
		"nobody":           {config: Config{Default: "allow"}, want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := compile(t, tc.config).Skills(tc.principal, "billing", all)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got; nil would mean all):\n%s", diff)
			}
		})
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Rules: []Rule{
		allow("agent", agents("weather")),
		allow("method", calls("GetTask")),
		allow("issuer", issuers("api-keys")),
		allow("subject", subjects("bob")),
		allow("group", groups("admins")),
		allow("scope", scopes("admin")),
		deny("skill", skills("refunds")),
		deny("soon", shadow),
		allow("yes", agents("billing"), skills("invoices")),
	}})
	q := Request{Principal: alice(), Agent: "billing", Method: method(t, wire.SendMessage), Skill: "invoices"}
	want := []Step{
		{Rule: "agent", Effect: "allow", Failed: "agents"},
		{Rule: "method", Effect: "allow", Failed: "methods"},
		{Rule: "issuer", Effect: "allow", Failed: "issuers"},
		{Rule: "subject", Effect: "allow", Failed: "subjects"},
		{Rule: "group", Effect: "allow", Failed: "groups"},
		{Rule: "scope", Effect: "allow", Failed: "scopes"},
		{Rule: "skill", Effect: "deny", Failed: "skills"},
		{Rule: "soon", Effect: "deny", Shadow: true},
		{Rule: "yes", Effect: "allow"},
	}
	if diff := cmp.Diff(want, s.Trace(q)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := s.Trace(Request{}); got != nil {
		t.Errorf("a trace of nothing: %v", got)
	}
}
