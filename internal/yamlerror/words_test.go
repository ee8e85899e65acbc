package yamlerror

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestIn: mistakes that people make are told in words that say what to do.
func TestIn(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"server:\n\taddress: x\n":                 "2: " + tabs,
		"server:\n  address: x\n\tpublicURL: x\n": tabs,
		"a:\n  - b\n \t- c\n":                     tabs,
		"a: @x\n":                                 "1: a text that begins with this character must be in quotes",
		"a: %x\n":                                 "1: a text that begins with this character must be in quotes",
		"a: b: c\n":                               "1: a key cannot stand here",
		"a:\n  - b\n  c: d\n":                     "3: an entry of the list is expected here",
		"a: [b\n":                                 `"," or "]" is missing`,
		"a: {b: c\n":                              `"," or "}" is missing`,
		"a: {b: c}}\n":                            "1: a key is expected here",
		"a: \"b\n":                                "its closing quote is missing",
		"a: \"\\q\"\n":                            "1: unknown escape",
		"a: *b\n":                                 "1: the alias has no anchor",
		"a: \x01\n":                               "control characters are not allowed",
		"a: \xff\n":                               "the file is not UTF-8",
	} {
		var docs []yaml.Node
		err := yaml.Load([]byte(doc), &docs, yaml.WithAllDocuments())
		if err == nil {
			t.Errorf("%q is YAML", doc)
			continue
		}
		if got := lines(In([]byte(doc), err)); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", doc, got, want)
		}
	}
	for message, want := range map[string]string{
		"field hsh not found in type apikey.keyRecord": `unknown key "hsh"`, `mapping key "a" already defined at line 1`: `key "a" is set on line 1 already`,
		"cannot construct !!seq into time.Time (TextUnmarshaler)": "the value does not fit here", "of another": "of another",
	} {
		if got := Words(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

// lines is an error with the line of its place.
func lines(err error) string {
	if one := (*yaml.LoadError)(nil); errors.As(err, &one) {
		return fmt.Sprintf("%d: %s", one.Mark.Line, one.Message)
	}
	return err.Error()
}
