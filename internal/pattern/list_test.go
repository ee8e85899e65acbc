package pattern

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		patterns []string
		in       string
		want     bool
	}{
		{nil, "", true},
		{nil, "anything", true},
		{[]string{"*"}, "", true},
		{[]string{"**"}, "anything", true},
		{[]string{"x", "*"}, "anything", true},
		{[]string{"billing"}, "billing", true},
		{[]string{"billing"}, "Billing", false},
		{[]string{"billing"}, "billing ", false},
		{[]string{"billing"}, "", false},
		{[]string{"a", "b", "c"}, "b", true},
		{[]string{"a", "b", "c"}, "d", false},
		{[]string{"a", "b"}, "", false},
		{[]string{"team-*"}, "team-", true},
		{[]string{"team-*"}, "team-a/b", true},
		{[]string{"team-*"}, "xteam-a", false},
		{[]string{"*@acme.com"}, "bob@acme.com", true},
		{[]string{"*@acme.com"}, "bob@acme.com.evil", false},
		{[]string{"a*a"}, "a", false}, // prefix and suffix may not share a byte
		{[]string{"a*a"}, "aa", true},
		{[]string{"ab*ba"}, "aba", false},
		{[]string{"a*b*c"}, "a-b-c", true},
		{[]string{"a*b*c"}, "acbc", true},
		{[]string{"a*b*c"}, "ac", false},
		{[]string{"*ab*ab*"}, "ab-a-b-ab", true},
		{[]string{"*ab*ab*"}, "aab", false},
		{[]string{"a?c"}, "abc", false}, // nothing but * is special
		{[]string{"[ab]"}, "a", false},
		{[]string{"a.c*"}, "abc", false},
		{[]string{"x", "b*"}, "by glob", true},
		{[]string{"ü*"}, "über", true},
		{[]string{"*\x00"}, "a\x00", true},
	} {
		p := Compile(tc.patterns)
		if got := p.Match(tc.in); got != tc.want {
			t.Errorf("patterns %q match %q: %v, want %v", tc.patterns, tc.in, got, tc.want)
		}
	}
}

// FuzzPatterns compares the matcher with one that nobody doubts.
func FuzzPatterns(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""},
		{"*", ""},
		{"a*a", "a"},
		{"*a*b*", "xaxbx"},
		{"a**b", "ab"},
		{"team-*-eu", "team-x-eu"},
		{"*ab*ab*", "ababab"},
		{"\xff*", "\xff\xfe"},
		{"a*\n*b", "a\nb"},
		{"aaa*aaa", "aaaaa"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		p := Compile([]string{pattern})
		want := reference(pattern, s)
		if got := p.Match(s); got != want {
			t.Errorf("%q matches %q: %v, want %v", pattern, s, got, want)
		}
	})
}

// reference matches by regular expression, byte by byte.
func reference(pattern, s string) bool {
	if pattern == "" {
		return false // an empty entry, which Compile refuses
	}
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(latin1(part))
	}
	return regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\z`).MatchString(latin1(s))
}

// latin1 makes a rune of every byte, because regexp reads invalid UTF-8 as if it
// were all the same.
func latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// TestListMeansTheSame: a compiled list, which rules have, means what Any does, which limits
// and authorizers ask.
func TestListMeansTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.StringMatching(`[ab*]{1,6}`), 1, 3).Draw(rt, "patterns")
		name := rapid.StringMatching(`[ab]{0,8}`).Draw(rt, "name")
		p := Compile(list)
		if got, want := p.Match(name), Any(list, name); got != want {
			rt.Fatalf("%q: %q: %v, want %v", list, name, got, want)
		}
	})
}
