package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// says is a rule that only speaks of extensions.
func says(name string, e RuleExtensions, change ...func(*Rule)) Rule {
	r := build(name, "", change)
	r.Extensions = &e
	return r
}

func TestExtensionsRefused(t *testing.T) {
	t.Parallel()
	uris := func(list ...string) []string { return append([]string{}, list...) }
	for name, tc := range map[string]struct {
		in   Rule
		want string // "" for none
	}{
		"all four": {in: says("r", RuleExtensions{
			Allow: uris("https://a", "urn:b:c"), Deny: uris("https://d"), Require: uris("https://a"), Inject: uris("https://a"),
		})},
		"beside allow":       {in: Rule{Name: "r", Effect: "allow", Extensions: &RuleExtensions{Deny: uris("https://a")}}},
		"beside deny":        {Rule{Name: "r", Effect: "deny", Extensions: &RuleExtensions{Deny: uris("https://a")}}, "it denies the call"},
		"beside shadow deny": {Rule{Name: "r", Effect: "deny", Mode: "shadow", Extensions: &RuleExtensions{Deny: uris("https://a")}}, "it denies the call"},
		"beside a word":      {Rule{Name: "r", Effect: "none", Extensions: &RuleExtensions{Deny: uris("https://a")}}, `effect is "none"`},
		"nothing":            {says("r", RuleExtensions{}), "none of allow, deny, require and inject"},
		"an empty list":      {says("r", RuleExtensions{Allow: uris(), Deny: uris("https://a")}), "extensions.allow is empty"},
		"an empty entry":     {says("r", RuleExtensions{Allow: uris("")}), `extensions.allow: "" is not an absolute URI`},
		"a path":             {says("r", RuleExtensions{Deny: uris("/a/b")}), `extensions.deny: "/a/b" is not`},
		"a host":             {says("r", RuleExtensions{Deny: uris("ext.example/v1")}), `"ext.example/v1" is not`},
		"a scheme":           {says("r", RuleExtensions{Require: uris("https:")}), `"https:" is not`},
		"a glob":             {says("r", RuleExtensions{Allow: uris("*")}), `"*" is not`},
		"two in one":         {says("r", RuleExtensions{Require: uris("https://a,https://b")}), "is not an absolute URI"},
		"a space":            {says("r", RuleExtensions{Require: uris("https://a ")}), "is not an absolute URI"},
		"a line":             {says("r", RuleExtensions{Require: uris("https://a\nb")}), "is not an absolute URI"},
		"twice":              {says("r", RuleExtensions{Inject: uris("https://a", "https://b", "https://a")}), `extensions.inject has "https://a" twice`},
		"required, denied":   {says("r", RuleExtensions{Require: uris("https://a"), Deny: uris("https://a")}), `extensions.require has "https://a", which`},
		"injected, denied":   {says("r", RuleExtensions{Inject: uris("https://a"), Deny: uris("https://a")}), `extensions.inject has "https://a", which`},
		"allowed, denied":    {says("r", RuleExtensions{Allow: uris("https://a"), Deny: uris("https://a")}), `extensions.allow has "https://a", which`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Compile(Config{Rules: []Rule{tc.in}}, fleet)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), `rule "r": `) ||
				err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Compile: %v, want %q in the error", err, tc.want)
			}
		})
	}
}

func TestExtensionsWarn(t *testing.T) {
	t.Parallel()
	e := RuleExtensions{Require: []string{"https://a"}}
	team := allow("team")
	for name, tc := range map[string]struct {
		in   Config
		want []warning
	}{
		"nothing to say": {in: Config{Rules: []Rule{team, says("e", e)}}},
		"alone":          {Config{Rules: []Rule{says("e", e)}}, []warning{{"", "no rule allows anything"}}},
		"no agents": {
			Config{Rules: []Rule{team, says("e", e, agents("crew-*"))}},
			[]warning{{"e", "no configured agent"}},
		},
		"closed agents": {
			Config{Rules: []Rule{team, deny("no", agents("team-*")), says("e", e, agents("team-a"))}},
			[]warning{{"e", "there is never a call"}},
		},
		"default allow": {in: Config{Default: "allow", Rules: []Rule{says("e", e)}}},
		"default allow, allow": {in: Config{Default: "allow", Rules: []Rule{
			{Name: "e", Effect: "allow", Extensions: &e},
		}}},
		"a skill of a list": {
			Config{Rules: []Rule{team, says("e", e, skills("s"), calls("ListTasks"))}},
			[]warning{{"e", "about no skill"}},
		},
		"a skill that a method may need": {
			in: Config{Rules: []Rule{team, deny("no", skills("s"), calls("x/find", "x/about"))}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := Compile(tc.in, fleet, extra...)
			if err != nil {
				t.Fatal(err)
			}
			diffWarnings(t, tc.want, got)
		})
	}
}

// A call carries what every rule says that matches it, whichever rule decided.
func TestDecisionExtensions(t *testing.T) {
	t.Parallel()
	a, b := RuleExtensions{Deny: []string{"https://a"}}, RuleExtensions{Allow: []string{"https://b"}}
	s := compile(t, Config{Rules: []Rule{
		says("analysts", a, groups("analysts", "staff")),
		allow("team"),
		{Name: "billing", Effect: "allow", Agents: []string{"billing"}, Extensions: &b},
		says("soon", a, shadow),
		says("bob", a, subjects("bob")),
		says("refunds", a, skills("refunds")),
		deny("no", skills("audit")),
	}})
	q := Request{Principal: alice(), Agent: "billing", Method: method(t, wire.SendMessage), Skill: "invoices"}
	common := []Extensions{{"analysts", false, a}, {"billing", false, b}, {"soon", true, a}}
	got := func(change func(*Request)) []Extensions {
		q := q
		change(&q)
		d, _ := s.Check(q)
		if d.Rule != "team" && d.Rule != "no" || d.Shadow != nil {
			t.Errorf("decided by %q beside %q: rules without an effect must decide nothing", d.Rule, d.Shadow)
		}
		return d.Extensions
	}
	for name, tc := range map[string]struct {
		change func(*Request)
		want   []Extensions
	}{
		"one skill":     {func(*Request) {}, common},
		"another skill": {func(q *Request) { q.Skill = "refunds" }, append(common[:3:3], Extensions{"refunds", false, a})},
		"any skill": {
			func(q *Request) { q.Skill, q.Skills = "", []string{"invoices", "refunds"} },
			append(common[:3:3], Extensions{"refunds", false, a}),
		},
		"no skill":      {func(q *Request) { q.Skill = "" }, common},
		"a list":        {func(q *Request) { q.Skill, q.Method = "", method(t, wire.ListTasks) }, common},
		"another agent": {func(q *Request) { q.Agent = "weather" }, []Extensions{common[0], common[2]}},
		"refused":       {func(q *Request) { q.Skill = "audit" }, nil},
	} {
		if diff := cmp.Diff(tc.want, got(tc.change)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Where no rule has extensions, and where none of those that do matches, a call
// costs no allocation.
func TestExtensionsCostNothing(t *testing.T) {
	e := RuleExtensions{Deny: []string{"https://a"}}
	for name, rules := range map[string][]Rule{
		"none":    {allow("team")},
		"another": {allow("team"), says("bob", e, subjects("bob")), says("refunds", e, skills("refunds"))},
	} {
		s := compile(t, Config{Rules: rules})
		q := Request{Principal: alice(), Agent: "billing", Method: method(t, wire.SendMessage), Skill: "invoices"}
		if n := testing.AllocsPerRun(100, func() { _, _ = s.Check(q) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestExtensionsOfCards(t *testing.T) {
	t.Parallel()
	e := RuleExtensions{Require: []string{"https://a"}}
	s := compile(t, Config{Rules: []Rule{
		says("all", e),
		says("everybody", e, subjects("*"), shadow),
		says("staff", e, groups("staff")),
		says("alice", e, subjects("al*")),
		says("where", e, issuers("https://issuer")),
		says("scope", e, scopes("openid")),
		says("refunds", e, skills("refunds")),
		{Name: "refunder", Effect: "allow", Skills: []string{"refunds"}, Extensions: &e},
		says("get", e, calls("GetTask")),
		says("stream", e, calls("message/stream")),
		says("weather", e, agents("weather")),
		allow("any"),
	}})
	bound := alice()
	bound.Agents = []string{"weather"}
	names := func(lists [][]Extensions) (all []string) {
		for _, list := range lists {
			text := ""
			for _, x := range list {
				text += " " + x.Rule
			}
			all = append(all, text)
		}
		return all
	}
	for name, tc := range map[string]struct {
		got  [][]Extensions
		want []string
	}{
		"nobody":          {s.Extensions(nil, "billing", nil), []string{" all everybody stream"}},
		"nobody, skills":  {s.Extensions(nil, "billing", []string{"a", "refunds", "b"}), []string{" all everybody stream", " all everybody refunds refunder stream"}},
		"alice":           {s.Extensions(alice(), "billing", nil), []string{" all everybody staff alice where scope stream"}},
		"alice, a skill":  {s.Extensions(alice(), "billing", []string{"refunds"}), []string{" all everybody staff alice where scope refunds refunder stream"}},
		"another agent":   {s.Extensions(nil, "weather", nil), []string{" all everybody stream weather"}},
		"no agent":        {s.Extensions(nil, "mars", nil), []string{""}},
		"bound elsewhere": {s.Extensions(bound, "billing", nil), []string{""}},
		"no rules":        {compile(t, Config{}).Extensions(nil, "billing", []string{"a", "b"}), []string{""}},
	} {
		if diff := cmp.Diff(tc.want, names(tc.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestA09_MethodsOfExtensions: rules name them one by one; a rule for one holds for
// no other, and what is not registered is no method.
func TestA09_MethodsOfExtensions(t *testing.T) {
	t.Parallel()
	for _, named := range extra {
		s, warnings, err := Compile(Config{Rules: []Rule{allow("r", calls(named.Name))}}, fleet, extra...)
		if err != nil || warnings != nil {
			t.Fatalf("Compile: %v, %v", warnings, err)
		}
		for _, m := range append(everyMethod(), &wire.Method{Name: named.Name, Extension: named.Extension}) {
			_, err := s.Check(Request{Principal: alice(), Agent: "billing", Method: m, Skill: "s"})
			if (err == nil) != (m == named) {
				t.Errorf("a rule for %s and a call of %s: %v", named.Name, m.Name, err)
			}
		}
		if got := s.Skills(alice(), "billing", []string{"s"}); len(got) != 0 {
			t.Errorf("who may call %s is shown the skills %q", named.Name, got)
		}
	}
	for _, name := range []string{"X/send", "x/send\x00", "x/*", "x_send"} {
		if _, _, err := Compile(Config{Rules: []Rule{allow("r", calls(name))}}, fleet, extra...); err == nil {
			t.Errorf("a rule for %q compiles", name)
		}
	}
}

func TestMethodsOfExtensionsRefused(t *testing.T) {
	t.Parallel()
	many := make([]*wire.Method, maxExtra+1)
	for i := range many {
		many[i] = &wire.Method{Name: fmt.Sprint("x/", i), Extension: "https://x", Subject: wire.OfAgent}
	}
	for name, tc := range map[string]struct {
		in   []*wire.Method
		want string
	}{
		"as many as can be": {many[:maxExtra], ""},
		"too many":          {many, "bring 51 methods; rules can tell apart 50"},
		"the same name":     {[]*wire.Method{many[0], many[1], {Name: "x/1", Extension: "https://y"}}, `method "x/1" of extension "https://y"`},
		"A2A's name":        {[]*wire.Method{{Name: "GetTask", Extension: "https://y"}}, `method "GetTask" of`},
		"A2A's old name":    {[]*wire.Method{{Name: "tasks/sendSubscribe", Extension: "https://y"}}, "has the same name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, err := Compile(Config{Rules: []Rule{allow("r", calls("GetTask"))}}, fleet, tc.in...)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("Compile: %v, want %q", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), `rule "r"`) {
				t.Errorf("the rule, which is right, is blamed: %v", err)
			}
			if err == nil {
				seen := otherMethods
				for _, bit := range s.ops {
					if bit == 0 || seen&bit != 0 {
						t.Errorf("bit %b is taken twice or is none", bit)
					}
					seen |= bit
				}
			}
		})
	}
}
