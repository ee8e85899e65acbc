package pdp

import (
	"testing"
)

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
