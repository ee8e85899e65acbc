package toolname_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/mcpserver/toolname"
)

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64)
	seen := map[string]string{}
	for _, c := range []struct {
		agent, skill string
		plain        bool
	}{
		{"billing", "refund", true},
		{"billing", "_refund", true},
		{"billing-", "_refund", true},
		{"billing_", "_refund", false},
		{"billing_", "refund", false},
		{"a__b", "c", false},
		{"a", "b__c", true},
		{"a", "refund/partial", false},
		{"a", "refund partial", false},
		{"a", "refund-partial", true},
		{"a.b", "c", false},
		{"a-b", "c", true},
		{"a", "überweisung", false},
		{"a", long, false},
		{long, "a", false},
		{long, long, false},
		{"a", "", false},
		{"a", toolname.Of("a", "refund/partial")[3:], false}, // a skill that is called as the name of another ends
	} {
		name := toolname.Of(c.agent, c.skill)
		if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(name) {
			t.Errorf("%q, %q: %q is no name that every host takes", c.agent, c.skill, name)
		}
		if other := seen[name]; other != "" {
			t.Errorf("%q, %q and %s: both are %q", c.agent, c.skill, other, name)
		}
		seen[name] = c.agent + ", " + c.skill
		agent, skill, ok := toolname.Parse(name)
		if ok != c.plain || ok && (agent != c.agent || skill != c.skill) {
			t.Errorf("%q, %q: %q reads as %q, %q, %v", c.agent, c.skill, name, agent, skill, ok)
		}
		if toolname.Digested(name) == c.plain {
			t.Errorf("%q, %q: digested %v", c.agent, c.skill, !c.plain)
		}
	}
}

// FuzzParse: what reads as a name is the name of what it reads as, and of nothing else.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"billing__refund", "a__b__c", "a_____b", "__", "", "a--abcdefghij", "a__b--abcdefghij", "a2a_get_task", "a__\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		agent, skill, ok := toolname.Parse(name)
		if ok && toolname.Of(agent, skill) != name {
			t.Errorf("%q reads as %q, %q, which is %q", name, agent, skill, toolname.Of(agent, skill))
		}
		if ok && toolname.Digested(name) {
			t.Errorf("%q is of both forms", name)
		}
	})
}

// FuzzOf: two pairs of ids never have one name, and each name has the form that it says.
func FuzzOf(f *testing.F) {
	f.Add("a", "b__c", "a__b", "c")
	f.Add("a_", "b", "a", "_b")
	f.Add("a.b", "c", "a-b", "c")
	f.Fuzz(func(t *testing.T, agent, skill, agent2, skill2 string) {
		if strings.Contains(agent+agent2, "\x00") {
			t.Skip("no agent has such an id")
		}
		one, two := toolname.Of(agent, skill), toolname.Of(agent2, skill2)
		if one == two && (agent != agent2 || skill != skill2) {
			t.Errorf("%q, %q and %q, %q are both %q", agent, skill, agent2, skill2, one)
		}
		if _, _, plain := toolname.Parse(one); plain == toolname.Digested(one) {
			t.Errorf("%q is of both forms, or of none", one)
		}
	})
}
