package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

var fleet = []string{"billing", "weather", "team-a", "team-b"}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	ok := Rule{Name: "r", Effect: "allow"}
	with := func(change func(*Rule)) Config {
		r := ok
		change(&r)
		return Config{Rules: []Rule{r}}
	}
	for name, tc := range map[string]struct {
		in   Config
		want string
	}{
		"default":         {Config{Default: "Deny"}, `default is "Deny"`},
		"undeclared":      {Config{Skills: SkillsConfig{Undeclared: "all"}}, `skills.undeclared is "all"`},
		"skill scopes":    {Config{Skills: SkillsConfig{Scopes: "on"}}, `skills.scopes is "on"; it must be "off" or "card"`},
		"scope":           {Config{Tasks: TasksConfig{Scope: "group"}}, `tasks.scope is "group"`},
		"no name":         {with(func(r *Rule) { r.Name = "" }), "rule 1: name is missing"},
		"reserved name":   {with(func(r *Rule) { r.Name = "default" }), `rule "default": the name is reserved`},
		"long name":       {with(func(r *Rule) { r.Name = strings.Repeat("x", 129) }), "longer than 128 bytes"},
		"control in name": {with(func(r *Rule) { r.Name = "a\nb" }), "cannot be printed"},
		"bidi in name":    {with(func(r *Rule) { r.Name = "a\u202eb" }), "cannot be printed"},
		"bytes in name":   {with(func(r *Rule) { r.Name = "a\xffb" }), "cannot be printed"},
		"same name":       {Config{Rules: []Rule{ok, ok}}, `rule "r": another rule has the same name`},
		"no effect":       {with(func(r *Rule) { r.Effect = "" }), `rule "r": effect is missing`},
		"effect":          {with(func(r *Rule) { r.Effect = "Allow" }), `rule "r": effect is "Allow"`},
		"mode":            {with(func(r *Rule) { r.Mode = "audit" }), `rule "r": mode is "audit"`},
		"no agents":       {with(func(r *Rule) { r.Agents = []string{} }), `rule "r": agents is empty`},
		"no skills":       {with(func(r *Rule) { r.Skills = []string{} }), "skills is empty"},
		"no methods":      {with(func(r *Rule) { r.Methods = []string{} }), "methods is empty"},
		"no subjects":     {with(func(r *Rule) { r.Subjects = []string{} }), "subjects is empty"},
		"no groups":       {with(func(r *Rule) { r.Groups = []string{} }), "groups is empty"},
		"no scopes":       {with(func(r *Rule) { r.Scopes = []string{} }), "scopes is empty"},
		"no issuers":      {with(func(r *Rule) { r.Issuers = []string{} }), "issuers is empty"},
		"empty entry":     {with(func(r *Rule) { r.Groups = []string{"a", ""} }), "groups has an empty entry"},
		"empty agent":     {with(func(r *Rule) { r.Agents = []string{""} }), "agents has an empty entry"},
		"empty method":    {with(func(r *Rule) { r.Methods = []string{""} }), "methods has an empty entry"},
		"star group":      {with(func(r *Rule) { r.Groups = []string{"*"} }), "groups are compared exactly"},
		"star scope":      {with(func(r *Rule) { r.Scopes = []string{"*"} }), "scopes are compared exactly"},
		"star issuer":     {with(func(r *Rule) { r.Issuers = []string{"*"} }), "issuers are compared exactly"},
		"star method":     {with(func(r *Rule) { r.Methods = []string{"*"} }), "leave methods out"},
		"unknown agent": {
			with(func(r *Rule) { r.Agents = []string{"billng"} }),
			`agent "billng" is not configured`,
		},
		"case of an agent": {with(func(r *Rule) { r.Agents = []string{"Billing"} }), `agent "Billing"`},
		"unknown method": {
			with(func(r *Rule) { r.Methods = []string{"sendMessage"} }),
			`method "sendMessage" is not`,
		},
		"glob of methods":  {with(func(r *Rule) { r.Methods = []string{"Get*"} }), `method "Get*" is not`},
		"NUL after method": {with(func(r *Rule) { r.Methods = []string{"GetTask\x00"} }), "is not an A2A method"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, err := Compile(tc.in, fleet)
			if err == nil || !strings.Contains(err.Error(), tc.want) || s != nil {
				t.Errorf("Compile: %v, want %q in the error", err, tc.want)
			}
		})
	}
}

// One look at the error must be enough to repair the whole file.
func TestCompileReportsEverything(t *testing.T) {
	t.Parallel()
	_, _, err := Compile(Config{Default: "no", Rules: []Rule{
		{Name: "one", Effect: "permit", Agents: []string{"x"}},
		{Effect: "deny", Methods: []string{"Send", "Get"}},
	}}, fleet)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`default is "no"`, `rule "one": effect is "permit"`, `rule "one": agent "x"`,
		"rule 2: name is missing", `rule 2: method "Send"`, `rule 2: method "Get"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the error:\n%v", want, err)
		}
	}
}

func TestCompileWarns(t *testing.T) {
	t.Parallel()
	team := Rule{Name: "team", Effect: "allow"}
	for name, tc := range map[string]struct {
		in   Config
		want []warning
	}{
		"nothing to say": {in: Config{Rules: []Rule{team}}},
		"no rules":       {want: []warning{{"", "no rule allows anything"}}},
		"default allow":  {in: Config{Default: "allow"}},
		"only denials": {
			in:   Config{Rules: []Rule{{Name: "no", Effect: "deny", Groups: []string{"g"}}}},
			want: []warning{{"", "no rule allows anything"}},
		},
		"allow beside default allow": {
			in:   Config{Default: "allow", Rules: []Rule{team}},
			want: []warning{{"team", "the default is allow"}},
		},
		"glob without agents": {
			in:   Config{Rules: []Rule{team, {Name: "x", Effect: "deny", Agents: []string{"crew-*"}}}},
			want: []warning{{"x", "no configured agent"}},
		},
		"glob with agents": {
			in: Config{Rules: []Rule{team, {Name: "x", Effect: "deny", Agents: []string{"crew-*", "*m-a"}}}},
		},
		"overruled": {
			in: Config{Rules: []Rule{
				{Name: "a", Effect: "allow", Agents: []string{"team-a", "team-b*"}},
				{Name: "b", Effect: "allow", Agents: []string{"team-a", "billing"}},
				{Name: "no", Effect: "deny", Agents: []string{"team-*"}},
			}},
			want: []warning{{"a", "can never allow"}},
		},
		"overruled everywhere": {
			in:   Config{Rules: []Rule{team, {Name: "no", Effect: "deny"}}},
			want: []warning{{"team", "can never allow"}},
		},
		"not overruled by a shadow": {
			in: Config{Rules: []Rule{team, {Name: "no", Effect: "deny", Mode: "shadow"}}},
		},
		"skills of methods without": {
			in: Config{Rules: []Rule{team, {
				Name: "no", Effect: "deny", Skills: []string{"s"},
				Methods: []string{"ListTasks", "agent/getAuthenticatedExtendedCard"},
			}}},
			want: []warning{{"no", "about no skill"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := Compile(tc.in, fleet)
			if err != nil {
				t.Fatal(err)
			}
			diffWarnings(t, tc.want, got)
		})
	}
}

// diffWarnings compares warnings; those wanted hold only a part of the text.
func diffWarnings(t *testing.T, want, got []warning) {
	t.Helper()
	same := slices.EqualFunc(want, got, func(w, g warning) bool {
		return w.Rule == g.Rule && strings.Contains(g.Text, w.Text)
	})
	if !same {
		t.Errorf("warnings %v, want %v", got, want)
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Rules: []Rule{
		{Name: "where", Effect: "allow", Issuers: []string{"https://a", "https://gone"}},
		{Name: "who", Effect: "allow", Subjects: []string{"alice"}},
		{Name: "whose", Effect: "allow", Groups: []string{"g"}, Issuers: []string{"https://a"}},
		{Name: "nobody", Effect: "deny", Subjects: []string{"mallory"}},
		{Name: "what", Effect: "allow", Agents: []string{"billing"}, Skills: []string{"invoices", "refund", "x*"}},
		{Name: "team", Effect: "allow", Agents: []string{"team-*"}, Skills: []string{"plan", "paint"}},
		{Name: "any", Effect: "allow", Skills: []string{"nowhere"}},
	}})
	diffWarnings(t, nil, s.Lint(Known{}))
	diffWarnings(t, []warning{
		{"where", `issuer "https://gone" is not configured`},
		{"who", "any of 2 issuers"},
		{"what", `no skill`},
		{"team", "no skill"},
	}[:2], s.Lint(Known{Issuers: []string{"https://a", "https://b"}}))
	known := map[string][]string{"billing": {"invoices"}, "team-a": {"plan"}}
	diffWarnings(t, []warning{{"what", `none of its agents has a skill "refund"`}}, s.Lint(Known{Skills: known}))
	known["team-b"], known["weather"] = []string{"dance"}, nil
	diffWarnings(t, []warning{
		{"what", `a skill "refund"`},
		{"team", `a skill "paint"`},
		{"any", `a skill "nowhere"`},
	}, s.Lint(Known{Skills: known}))
}

// Every name that an operation ever had means that operation, in rules as well.
func TestMethodAliases(t *testing.T) {
	t.Parallel()
	table := wire.Methods()
	for i := range table {
		for _, name := range []string{table[i].Name, table[i].V03, table[i].V01} {
			if name == "" {
				continue
			}
			s := compile(t, Config{Rules: []Rule{{Name: "r", Effect: "allow", Methods: []string{name}}}})
			for j := range table {
				_, err := s.Check(Request{Principal: alice(), Agent: "billing", Method: &table[j], Skill: "s"})
				if (err == nil) != (i == j) {
					t.Errorf("a rule for %s and a call of %s: %v", name, table[j].Name, err)
				}
			}
		}
	}
}

func TestIndexFindsAgents(t *testing.T) {
	t.Parallel()
	s := &Set{ids: []string{"a", "a-1", "a-2", "ab", "b", "z-1"}}
	for pattern, want := range map[string][]string{
		"a":    {"a"},
		"a-":   nil,
		"zz":   nil,
		"a*":   {"a", "a-1", "a-2", "ab"},
		"a-*":  {"a-1", "a-2"},
		"*-1":  {"a-1", "z-1"},
		"*":    s.ids,
		"c*":   nil,
		"a*2*": {"a-2"},
	} {
		if diff := cmp.Diff(want, s.ids.matching(pattern)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
}

// Rules about all agents are stored once, whatever the size of the fleet.
func TestIndexShares(t *testing.T) {
	t.Parallel()
	var agents []string
	for i := range 100 {
		agents = append(agents, fmt.Sprint("agent-", i))
	}
	s, _, err := Compile(Config{Rules: []Rule{
		{Name: "all", Effect: "allow"},
		{Name: "star", Effect: "allow", Agents: []string{"*"}},
		{Name: "glob", Effect: "allow", Agents: []string{"agent-*", "agent-*"}},
	}}, agents)
	if err != nil {
		t.Fatal(err)
	}
	buckets := map[*bucket]bool{}
	for _, list := range s.agents {
		for _, b := range list {
			buckets[b] = true
		}
	}
	if len(buckets) != 2 {
		t.Errorf("%d buckets, want one for all agents and one for the glob", len(buckets))
	}
}
