package pattern

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"billing", "billing", true},
		{"billing", "Billing", false},
		{"billing", "billing-2", false},
		{"", "", true},
		{"*", "", true},
		{"*", "anything", true},
		{"**", "", true},
		{"bill*", "bill", true},
		{"bill*", "billing", true},
		{"*ing", "billing", true},
		{"*ing", "ings", false},
		{"b*g", "bg", true},
		{"b*g", "b", false},
		{"ab*ba", "aba", false}, // the two ends may not share a byte
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"a?c", "abc", false},
		{"[ab]", "a", false},
		{`\*`, "*", false},
	} {
		if got := Match(tt.pattern, tt.name); got != tt.want {
			t.Errorf("Match(%q, %q) = %v", tt.pattern, tt.name, got)
		}
	}
}

func TestAny(t *testing.T) {
	t.Parallel()
	if !Any(nil, "x") || Any([]string{}, "x") || !Any([]string{"a", "x*"}, "x") || Any([]string{"a", "b*"}, "x") {
		t.Error("no condition always holds, an empty list never")
	}
}

// TestMatchIsARegularExpression compares with the expression that a pattern stands for.
func TestMatchIsARegularExpression(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("ab*")), 0, 8, -1)
	rapid.Check(t, func(rt *rapid.T) {
		pattern := letters.Draw(rt, "pattern")
		name := strings.ReplaceAll(letters.Draw(rt, "name"), "*", "c")
		parts := strings.Split(pattern, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		want := regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(name)
		if got := Match(pattern, name); got != want {
			rt.Fatalf("Match(%q, %q) = %v", pattern, name, got)
		}
	})
}
