package pdp

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestGlob holds the matcher against regular expressions.
func TestGlob(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab.*]{0,8}`).Draw(t, "pattern")
		s := rapid.StringMatching(`[ab.]{0,10}`).Draw(t, "s")
		want := regexp.MustCompile(`^(?s:` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + `)$`).MatchString(s)
		if got := glob(pattern, s); got != want {
			t.Errorf("%q matches %q: %v", pattern, s, got)
		}
	})
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		list patterns
		s    string
		want bool
	}{
		{nil, "", true}, {nil, "a", true}, {patterns{"*"}, "", true}, {patterns{"**"}, "", true},
		{patterns{"a"}, "", false}, {patterns{"a*"}, "", false}, {patterns{"b", "a*"}, "ab", true}, {patterns{"A"}, "a", false},
		{patterns{"a*a"}, "a", false}, {patterns{"a*a"}, "aa", true}, {patterns{"*ab*b"}, "aab", false},
	} {
		if got := test.list.match(test.s); got != test.want {
			t.Errorf("%q matches %q: %v", test.list, test.s, got)
		}
	}
}
