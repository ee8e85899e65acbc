package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func when(text string) func(*Rule) { return func(r *Rule) { r.Expr = text } }

// missing is an expression that nobody's credential lets be evaluated.
const missing = `principal.claims.gone == "hunter2"`

// Each case is onCall's call. What cannot be told denies, and does not allow.
func TestExpr(t *testing.T) {
	t.Parallel()
	fault := func(name string) []string { return []string{`rule "` + name + `": a key is missing`} }
	for name, tc := range map[string]struct {
		rules  []Rule
		change func(*Request)
		want   verdict
		faults []string
	}{
		"holds":       {rules: []Rule{allow("r", when(`size(message.parts) == 1`))}, want: verdict{Allowed: true, Rule: "r"}},
		"holds not":   {rules: []Rule{allow("r", when(`size(message.parts) == 2`))}, want: verdict{Rule: "default", Visible: true}},
		"denies":      {rules: []Rule{allow("r"), deny("no", when(`agent == "billing"`))}, want: verdict{Rule: "no", Visible: true}},
		"denies not":  {rules: []Rule{allow("r"), deny("no", when(`agent == "b"`))}, want: verdict{Allowed: true, Rule: "r"}},
		"allow fails": {rules: []Rule{allow("r", when(missing))}, want: verdict{Rule: "default", Visible: true}, faults: fault("r")},
		"deny fails": {
			rules: []Rule{allow("r"), deny("no", when(missing))}, want: verdict{Rule: "no", Visible: true}, faults: fault("no"),
		},
		"shadows": {
			rules: []Rule{
				allow("r"), deny("s1", shadow, when(missing)), allow("s2", shadow, when(missing)),
				deny("s3", shadow, when(`agent == "billing"`)), deny("s4", shadow, when(`agent == "b"`)),
			},
			want:   verdict{Allowed: true, Rule: "r", Shadow: []string{"deny s1", "deny s3"}},
			faults: append(fault("s1"), fault("s2")...),
		},
		"another condition fails": {
			rules: []Rule{allow("r"), deny("no", skills("refunds"), when(missing)), deny("nor", over("GRPC"), when(missing))},
			want:  verdict{Allowed: true, Rule: "r"},
		},
		"a scope that would not help": {
			rules: []Rule{allow("r", scopes("extra"), when(`agent == "b"`)), allow("other", calls("GetTask"))},
			want:  verdict{Rule: "default", Visible: true},
		},
		"a scope that would": {
			rules: []Rule{allow("r", scopes("extra"), when(`agent == "billing"`)), allow("other", calls("GetTask"))},
			want:  verdict{Rule: "default", Visible: true, Scopes: []string{"extra"}},
		},
		"a sign-in that would not help": {
			rules: []Rule{allow("r", signIn(Authentication{ACR: []string{"gold"}}), when(missing))},
			want:  verdict{Rule: "default", Visible: true},
		},
		"a sign-in that would": {
			rules: []Rule{allow("r", signIn(Authentication{ACR: []string{"gold"}}), when(`size(message.parts) < 5`))},
			want:  verdict{Rule: "default", Visible: true, StepUp: &StepUp{ACR: []string{"gold"}}},
		},
		"one of several skills": {
			rules: []Rule{allow("r", when(`skill == ""`))}, change: func(q *Request) { q.Skill = "" },
			want: verdict{Rule: "default", Visible: true}, faults: []string{`rule "r": which skill the call is for is not known`},
		},
		"no message yet": {
			rules: []Rule{allow("r"), deny("no", when(`size(message.parts) > 9`))}, change: func(q *Request) { q.Message = nil },
			want: verdict{Rule: "no", Visible: true}, faults: []string{`rule "no": the message was not read`},
		},
		"a method without one": {
			rules: []Rule{allow("r", when(`size(message.parts) == 0`))},
			change: func(q *Request) {
				q.Method, q.Message = method(t, wire.GetTask), nil
			},
			want: verdict{Allowed: true, Rule: "r"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, q := compile(t, Config{Rules: tc.rules}), onCall(t)
			if tc.change != nil {
				tc.change(&q)
			}
			if diff := cmp.Diff(tc.want, judge(t, s, q)); diff != "" {
				t.Error(diff)
			}
			d, _ := s.Check(q)
			if diff := cmp.Diff(tc.faults, d.Faults); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a caller may see is as if allow rules' expressions held and deny rules' did not.
func TestExprVisibility(t *testing.T) {
	t.Parallel()
	p := alice()
	s := compile(t, Config{Rules: []Rule{
		allow("r", agents("billing"), skills("invoices"), when(missing)),
		deny("no", agents("billing"), when(`principal.subject == "alice"`)),
		says("says", RuleExtensions{Require: []string{"urn:a"}, Deny: []string{"urn:b"}}, when(missing)),
	}})
	if !s.Sees(p, "billing") {
		t.Error("the agent is hidden")
	}
	if got := s.Skills(p, "billing", []string{"invoices", "refunds"}); !cmp.Equal(got, []string{"invoices"}) {
		t.Errorf("Skills %q", got)
	}
	want := [][]Extensions{{{Rule: "says", RuleExtensions: RuleExtensions{Require: []string{"urn:a"}}}}}
	if diff := cmp.Diff(want, s.Extensions(p, "billing", []string{"invoices"})); diff != "" {
		t.Error(diff)
	}
	if got := s.Extensions(nil, "billing", nil); !cmp.Equal(got, [][]Extensions{nil}) {
		t.Errorf("of anybody: %v", got)
	}
}

func TestExprTrace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`agent == "billing"`: "", `agent == "b"`: "expr", missing: "expr"} {
		if got := stepOf(t, compile(t, Config{Rules: []Rule{allow("r", when(text))}}), onCall(t)); got != want {
			t.Errorf("%s: %q failed, want %q", text, got, want)
		}
	}
	s := compile(t, Config{Rules: []Rule{deny("r", when(missing))}})
	if got := stepOf(t, s, onCall(t)); got != "" {
		t.Errorf("a deny rule that cannot be told: %q failed", got)
	}
	gold := signIn(Authentication{ACR: []string{"gold"}})
	if got := stepOf(t, compile(t, Config{Rules: []Rule{allow("r", gold, when(missing))}}), onCall(t)); got != "authentication.acr" {
		t.Errorf("%q failed, want the sign-in before the expression", got)
	}
	_, err := compile(t, Config{Rules: []Rule{allow("r", scopes("extra"), when(`agent == "b"`))}}).Check(onCall(t))
	if err == nil || !strings.Contains(err.Error(), `rule "r" would, but for expr`) {
		t.Errorf("the record says %v", err)
	}
}

// An expression is evaluated once per call, however often its rule is found.
func TestExprOnce(t *testing.T) {
	t.Parallel()
	var groupsOf, list []string
	for i := range 40 {
		groupsOf = append(groupsOf, fmt.Sprint("g", i))
	}
	list = append(list, groupsOf...)
	s := compile(t, Config{Rules: []Rule{allow("r"), deny("no", groups(list...), shadow, when(missing))}})
	q := onCall(t)
	q.Principal = &authn.Principal{Subject: "alice", Groups: groupsOf}
	if d, err := s.Check(q); err != nil || len(d.Faults) != 1 {
		t.Errorf("%v, %q", err, d.Faults)
	}
}

func TestExprFaultsAreBounded(t *testing.T) {
	t.Parallel()
	var rules []Rule
	for i := range 100 {
		rules = append(rules, allow(strings.Repeat("n", 100)+fmt.Sprint(i), when(missing)))
	}
	d, _ := compile(t, Config{Rules: rules}).Check(onCall(t))
	if len(d.Faults) != maxFaults || strings.Contains(strings.Join(d.Faults, ""), "hunter2") {
		t.Errorf("%d faults: %q", len(d.Faults), d.Faults)
	}
}

func TestExprProblems(t *testing.T) {
	t.Parallel()
	_, _, err := Compile(Config{Rules: []Rule{
		allow("typo", when("principal.subject == \"a\" &&\n  principal.gruops == []")),
		allow("two", when(`a && b`)), {Effect: "deny", Expr: "1"},
		deny("never", when(`agent == "a" && false`)), allow("costly", when(`message.parts.all(p, message.parts.all(q, p == q))`)),
	}}, nil)
	for _, want := range []string{
		`rule "typo": expr: line 2, column 12: undefined field 'gruops'`,
		`rule "two": expr: line 1, column 1: undeclared reference to 'a'`,
		`rule "two": expr: line 1, column 6: undeclared reference to 'b'`,
		`rule 3: expr: line 1, column 1: it is of type int, not bool`,
		`rule "never": expr: it is never true, so the rule can never match`,
		`rule "costly": expr: it may cost`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %s", err, want)
		}
	}
	_, warnings, err := Compile(Config{Rules: []Rule{allow("always", when(`agent == "a" || true`))}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	diffWarnings(t, []warning{{"always", "its expr is always true"}}, warnings)
}

// A deny rule with an expression closes no agent.
func TestExprLint(t *testing.T) {
	t.Parallel()
	_, warnings, err := Compile(Config{Rules: []Rule{allow("r"), deny("no", when(`agent == "a"`))}}, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	diffWarnings(t, nil, warnings)
}

func TestReads(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rule func(*Rule)
		want bool
	}{
		"nothing":           {func(*Rule) {}, false},
		"another variable":  {when(`task.id == "message"`), false},
		"the message":       {when(`message.role == ""`), true},
		"in shadow":         {all(shadow, when(`message.role == ""`)), true},
		"content":           {containing(Content{Parts: []string{"text"}}), true},
		"of another agent":  {all(agents("weather"), when(`message.role == ""`)), false},
		"of all its agents": {all(agents("b*"), when(`message.role == ""`)), true},
	} {
		s := compile(t, Config{Rules: []Rule{allow("plain"), allow("r", tc.rule)}})
		if got := s.Reads("billing"); got != tc.want {
			t.Errorf("%s: Reads %v", name, got)
		}
		if s.Reads("nobody") {
			t.Error("judging calls on no agent takes messages")
		}
	}
}
