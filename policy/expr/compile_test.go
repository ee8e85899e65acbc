package expr

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompileProblems: what is wrong is said with its place, all of it at once.
func TestCompileProblems(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for _, tt := range []struct {
		text string
		want []string
	}{
		{`principal.sub == "a"`, []string{"line 1, column 10: undefined field 'sub'"}},
		{"message.parts.exists(p,\n  p.knd == \"x\") &&\n    foo", []string{
			"line 2, column 4: undefined field 'knd'", "line 3, column 5: undeclared reference to 'foo'",
		}},
		{`principal.workload.sbj == "a"`, []string{"line 1, column 19: undefined field 'sbj'"}},
		{`principal.actors.all(a, a.sub == "x")`, []string{"line 1, column 26: undefined field 'sub'"}},
		{`task.owned == "a"`, []string{"line 1, column 5: undefined field 'owned'"}},
		{`source.port == 1`, []string{"line 1, column 7: undefined field 'port'"}},
		{`principal.subject == 1`, []string{
			"line 1, column 19: found no matching overload for '_==_' applied to '(string, int)'",
		}},
		{`principal.subject`, []string{"line 1, column 1: it is of type string, not bool"}},
		{`message.metadata.draft`, []string{"line 1, column 1: it is of type dyn, not bool"}},
		{`agent ==`, []string{"line 1, column 9: it ends too early"}},
		{"\n  foo(", []string{"line 2, column 7: it ends too early"}},
		{``, []string{"line 1, column 1: it ends too early"}},
		{`principal.workload != null`, []string{
			"line 1, column 20: it is never null; has(…) tells whether it is there",
		}},
		{`null == message`, []string{"line 1, column 6: it is never null; has(…) tells whether it is there"}},
		{`agent.matches("[")`, []string{"line 1, column 15: error parsing regexp: missing closing ]: `[`"}},
		{`agent.matches(skill)`, []string{"line 1, column 15: the pattern of matches has to be written out"}},
		{`matches(agent, skill)`, []string{"line 1, column 16: the pattern of matches has to be written out"}},
		{`agent.matches("a" + "b")`, []string{"line 1, column 19: the pattern of matches has to be written out"}},
		{`now.getHours("Europe/Vienna") < 8`, []string{"line 1, column 14: " +
			"a zone has to be written out as an offset (+01:00); rules have times for named ones"}},
		{`now.getDayOfWeek(agent) == 0`, []string{"line 1, column 18: " +
			"a zone has to be written out as an offset (+01:00); rules have times for named ones"}},
		{`agent.replace("a", "b") == skill`, []string{"line 1, column 14: replace is not available"}},
		{`principal.groups.join() == "b"`, []string{"line 1, column 22: join is not available"}},
		{`now > timestamp("tomorrow")`, []string{"line 1, column 17: invalid timestamp argument"}},
		{`now - task.created > duration("1 day")`, []string{"line 1, column 31: invalid duration argument"}},
		{`1 / 0 == 1`, []string{"it can never be evaluated: division by zero"}},
		{strings.Repeat(" ", maxLength) + "true", []string{"it is 4100 bytes long; at most 4096 are read"}},
	} {
		if p, got := env.Compile(tt.text); p != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%q: %v\n%s", tt.text, p, cmp.Diff(tt.want, got))
		}
	}
}

// Regular expressions that are as large as their text is small are refused.
func TestCompileLargePattern(t *testing.T) {
	t.Parallel()
	p, problems := environment(t).Compile(`agent.matches("((a{30}){30}){30}")`)
	if p != nil || len(problems) == 0 {
		t.Errorf("%v, %q", p, problems)
	}
}

// TestCompileCost: what may cost too much on a call of the assumed sizes is refused, and
// what rules are made of is not.
func TestCompileCost(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for text, refused := range map[string]bool{
		`message.parts.all(p, p.text.size() < 100 && !p.text.contains("DROP TABLE"))`:            false,
		`message.parts.exists(p, p.text.lowerAscii().contains("password"))`:                      false,
		`message.parts.exists(p, p.text.matches("(?i)[a-z]{2}[0-9]{2}([ -]?[0-9a-z]{4}){3,7}"))`: false,
		`message.parts.exists(p, p.metadata.exists(k, k.startsWith("x-")))`:                      false,
		`message.metadata.exists(k, !(k in ["a", "b"]))`:                                         false,
		`principal.groups.exists(g, g in message.metadata.allowed)`:                              false,
		`principal.groups.exists(g, message.extensions.exists(e, e == g))`:                       false,
		`message.parts.all(p, message.parts.all(q, p.kind == q.kind))`:                           true,
		`message.parts.all(p, message.parts.all(q, message.parts.all(r, p.kind == r.kind)))`:     true,
		`message.parts.exists(p, p.text.contains(message.parts[0].text))`:                        true,
		`message.metadata.a.exists(x, message.metadata.b.exists(y, x == y))`:                     true,
		`message.parts.map(p, message.parts.map(q, p.text + q.text)).size() > 0`:                 true,
	} {
		p, problems := env.Compile(text)
		if refused != (p == nil) || refused && !strings.Contains(problems[0], "cost") {
			t.Errorf("%s: %q; refused %v wanted", text, problems, refused)
		}
	}
}
