package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func matcher(t testing.TB, rules ...MatchRule) *Matcher {
	t.Helper()
	m, err := NewMatcher(rules)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMatcher(t *testing.T) {
	t.Parallel()
	found := matcher(t,
		MatchRule{"refunds", `message.parts.exists(p, p.text.contains("refund"))`},
		MatchRule{"audit", `message.metadata.kind == "audit"`},
		MatchRule{"invoices", `true`})
	said := func(text string) *wire.Message {
		return &wire.Message{
			Parts: []wire.Part{{Kind: wire.PartText, Text: text}}, Metadata: map[string]any{"kind": text},
		}
	}
	both := []string{"invoices", "refunds"}
	for name, tc := range map[string]struct {
		src     SkillSource
		message *wire.Message
		skill   string
		denied  string // reason
		reading string // what Reading says, else denied
	}{
		"first":          {message: said("a refund"), skill: "refunds", reading: "found by match[0] of the agent"},
		"what is left":   {message: said("hello"), skill: "invoices", reading: "found by match[2] of the agent"},
		"no such skill":  {message: said("audit"), denied: `match[1]: the agent has no skill "audit"`},
		"cannot be told": {message: &wire.Message{}, denied: "match[1]: a key is missing"},
		"not read":       {denied: "match[0]: the message was not read"},
		"path first":     {src: SkillSource{Path: "invoices"}, message: said("refund"), skill: "invoices", reading: "named by the path"},
		"task first":     {src: SkillSource{Task: "invoices"}, message: said("refund"), skill: "invoices", reading: "recorded for the task"},
		"extension first": {
			src: SkillSource{Extension: "search"}, message: said("refund"), skill: "search",
			reading: "the registry says that the method needs it",
		},
		"declared first": {src: SkillSource{Declared: "invoices"}, message: said("refund"), skill: "invoices", reading: "named by metadata"},
		"only skill": {
			src: SkillSource{All: both[:1]}, message: said("refund"), denied: `match[0]: the agent has no skill "refunds"`,
		},
		"a call on a task": {
			src: SkillSource{Method: method(t, wire.GetTask)}, message: said("refund"),
			reading: "the call does not say: each of invoices, refunds must be allowed (policy.skills.undeclared: require-all)",
		},
		"about no skill": {
			src: SkillSource{Method: method(t, wire.ListTasks)}, message: said("refund"),
			reading: "the method is about no skill: an allow rule about any skill is enough",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, Config{Rules: []Rule{allow("r", agents("billing"))}})
			q := Request{Principal: alice(), Agent: "billing", Method: method(t, wire.SendMessage), Message: tc.message}
			src := tc.src
			src.Match, src.Call, src.Principal, src.Agent = found, &q, q.Principal, q.Agent
			if src.All == nil {
				src.All = both
			}
			skill, _, err := s.Resolve(src)
			var denied *Denied
			if errors.As(err, &denied); (err != nil) != (tc.denied != "") || skill != tc.skill {
				t.Fatalf("skill %q, %v", skill, err)
			}
			if denied != nil && (denied.Reason != tc.denied || denied.Rule != byUndeclared || !denied.Visible) {
				t.Errorf("%+v, want %s", denied, tc.denied)
			}
			if got := s.Reading(src); got != tc.denied+tc.reading {
				t.Errorf("Reading: %s", got)
			}
		})
	}
}

// Nothing matches: the skill is unknown, or the only one. Without a call nothing can.
func TestMatcherFindsNothing(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Rules: []Rule{allow("r")}})
	q := onCall(t)
	src := SkillSource{All: []string{"a", "b"}, Match: matcher(t, MatchRule{"a", `agent == "weather"`}), Call: &q}
	if skill, agentwide, err := s.Resolve(src); skill != "" || agentwide || err != nil {
		t.Errorf("%q, %v, %v", skill, agentwide, err)
	}
	src.All = src.All[:1]
	if skill, _, err := s.Resolve(src); skill != "a" || err != nil || s.Reading(src) != "the only skill of the agent" {
		t.Errorf("%q, %v", skill, err)
	}
	src.Call = nil
	if skill, _, err := s.Resolve(src); skill != "" || err == nil {
		t.Errorf("without a call: %q, %v", skill, err)
	}
}

func TestNewMatcher(t *testing.T) {
	t.Parallel()
	if m, err := NewMatcher(nil); m != nil || err != nil || m.Reads() {
		t.Errorf("no rules: %v, %v", m, err)
	}
	many := make([]MatchRule, maxMatch+1)
	for i := range many {
		many[i] = MatchRule{"a", `agent == "a"`}
	}
	matcher(t, many[:maxMatch]...)
	for want, rules := range map[string][]MatchRule{
		"match has 65 entries; at most 64 are asked":                   many,
		"match[0].skill is missing":                                    {{"", "true"}},
		"match[1].when: line 2, column 2: undeclared reference to 'b'": {many[0], {"a", "agent == \"a\" &&\n b"}},
		"match[0].when: line 1, column 1: it ends too early":           {{Skill: "a"}},
		"match[0].when: it is never true":                              {{"a", "false"}},
		"match[0].when: it is always true, so the entries after":       {{"a", "true"}, many[0]},
	} {
		if m, err := NewMatcher(rules); m != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %s", m, err, want)
		}
	}
	if matcher(t, many[0]).Reads() || !matcher(t, many[0], MatchRule{"a", `message.id != ""`}).Reads() {
		t.Error("Reads is wrong")
	}
}
