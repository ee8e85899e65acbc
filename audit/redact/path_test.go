package redact

import (
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	t.Parallel()
	const doc = `{"message":{"metadata":{"class":"restricted","n":7},"parts":[{"text":"a"},{"text":"b","class":"c\u0041"}]},"class":{"class":[1, 2]}}`
	for path, want := range map[string][]string{
		"$.message.metadata.class":    {"restricted"},
		"$.message.metadata['class']": {"restricted"},
		"$.message.parts[*].text":     {"a", "b"},
		"$.message.parts[1].text":     {"b"},
		"$.message.parts[2].text":     nil,
		"$..class":                    {"restricted", "cA", `{"class":[1, 2]}`, "[1, 2]"},
		"$.message.*.n":               {"7"},
		"$..parts..text":              {"a", "b"},
		"$.nothing":                   nil,
	} {
		p, err := ParsePath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var got []string
		p.Find([]byte(doc), func(v string) bool { got = append(got, v); return true })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		first := 0
		p.Find([]byte(doc), func(string) bool { first++; return false })
		if first != min(1, len(want)) {
			t.Errorf("%s: goes on after it was told to stop", path)
		}
	}
}

func TestParsePath(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "$", "a", "$a", "$.", "$..", "$.a.", "$[", "$[]", "$[-1]", "$['a]", "$[a]", "$.a b", "$[?@.x]", "$[1:2]", "$['a\\'b']"} {
		if _, err := ParsePath(path); err == nil {
			t.Errorf("%q is taken for a path", path)
		}
	}
}
