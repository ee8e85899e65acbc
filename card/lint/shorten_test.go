package lint_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
)

// TestShorten: the end is that of a character as people see it.
func TestShorten(t *testing.T) {
	t.Parallel()
	const family, flags = "👨‍👩‍👧‍👦", "🇫🇷🇩🇪🇪🇸"
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{"abcdef", 6, "abcdef"},
		{"", 0, ""},
		{"abcdef", 5, "ab…"},
		{"ab cdef", 6, "ab…"},
		{"ab \n cdef", 8, "ab…"},
		{"abcdef", 3, "…"},
		{"abcdef", 2, ""},
		{"äöüäöü", 8, "äö…"},
		{"日本語の説明", 9, "日本…"},
		{"日本語の説明", 11, "日本…"},
		{"xe\u0301\u0302yz", 6, "x…"}, // a letter with two marks
		{"xe\u0301\u0302yzzzz", 10, "xe\u0301\u0302y…"},
		{"a👍🏽bcd", 10, "a…"}, // with a tone of skin
		{"a" + family + "bcde", 28, "a…"},
		{"a" + family + "bcde", 29, "a" + family + "…"},
		{"❤️‍🔥ab", 14, "…"},
		{flags, 14, "🇫🇷…"},
		{flags, 19, "🇫🇷🇩🇪…"},
		{"ab\r\ncdef", 6, "ab…"},
		{"\u1112\u1161\u11ab\u1112\u1161\u11ab", 11, "…"}, // syllables in parts
		{strings.Repeat("a\u200d", 5) + "👍" + strings.Repeat("\u200d👍", 100), 203, ""},
		{"क्‍षेत्र क्‍षेत्र", 17, "…"},
		{"क्‍षेत्र क्‍षेत्र", 18, "क्‍षे…"},
	} {
		got := lint.Shorten(tt.in, tt.limit)
		if tt.want != "" && got != tt.want || len(got) > max(tt.limit, 0) && got != tt.in || !utf8.ValidString(got) {
			t.Errorf("%q to %d bytes: %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	for _, s := range []string{"abcdef", "日本語の説明", "👨‍👩‍👧‍👦👍🏽🇫🇷🇩🇪", "e\u0301\u0302", "a\xffb", " \n\t "} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := lint.Shorten(s, limit)
		before, cut := strings.CutSuffix(got, "…")
		switch {
		case len(s) <= limit && got != s:
			t.Errorf("%q fits into %d bytes and becomes %q", s, limit, got)
		case len(s) > limit && (len(got) > max(limit, 0) || got != "" && !cut):
			t.Errorf("%q becomes %q, with a limit of %d bytes", s, got, limit)
		case len(s) > limit && !strings.HasPrefix(s, before):
			t.Errorf("%q does not begin with %q", s, before)
		case utf8.ValidString(s) && !utf8.ValidString(got):
			t.Errorf("%q is cut in the middle of a character: %q", s, got)
		}
	})
}

// TestA14_LongTextsAreFound wherever they are, with what becomes of them, by the limits that
// the card is served with.
func TestA14_LongTextsAreFound(t *testing.T) {
	t.Parallel()
	limits := lint.Limits{Name: 20, Text: 40, Entries: 3}
	name, long := strings.Repeat("n ", 11), strings.Repeat("w ", 21)
	quote := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	doc := strings.NewReplacer("NAME", quote(name), "LONG", quote(long)).Replace(`{
		"name": NAME, "version": NAME, "description": LONG, "documentationUrl": LONG, "provider": {"organization": NAME, "url": "u"},
		"default_input_modes": [NAME, "b", "c", "d", "e"], "x": {NAME: NAME}, "y": [LONG, "b", "c", "d"],
		"capabilities": {"extensions": [{"uri": LONG, "description": LONG, "params": {"p": LONG}}]},
		"skills": [{"id": NAME, "name": NAME, "description": LONG, "tags": ["a", NAME, "c", "", "e"], "examples": [LONG],
			"inputModes": [NAME]}]}`)
	want := []string{
		"cut /name", "cut /version", "cut /description", "removed /documentationUrl", "cut /provider/organization",
		"removed /default_input_modes/0", "cut /default_input_modes", "removed /x/" + name, "removed /y/0",
		"removed /capabilities/extensions/0/uri", "cut /capabilities/extensions/0/description",
		"removed /capabilities/extensions/0/params/p", "removed /skills/0/id", "cut /skills/0/name", "cut /skills/0/description",
		"cut /skills/0/tags/1", "cut /skills/0/tags", "cut /skills/0/examples/0", "removed /skills/0/inputModes/0",
	}
	for _, l := range []struct {
		limits lint.Limits
		want   []string
	}{{limits, want}, {lint.Limits{}, nil}, {lint.Limits{Name: 100, Text: 100, Entries: 5}, nil}} {
		found, err := lint.Check([]byte(doc), l.limits)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			if f.Kind == lint.Long {
				got = append(got, fmt.Sprint(f.Action, " ", f.Pointer))
			}
		}
		if diff := cmp.Diff(l.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", l.limits, diff)
		}
	}
}
