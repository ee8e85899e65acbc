package secret

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// FuzzValue: a text is taken as it is spelled or refused, and neither the error nor the
// printed value shows it.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		"correct-horse", `"quoted \u00e9"`, "{file: /nowhere/at/all}", "{file: }", "{file: 7}", "[a-long-list-entry]", "~", "0x10", "&a long-anchored-text",
		"!!binary AAAA", "|\n  block of text\n", "{FILE: x, file: y}", "*unknown",
		"-b\n---", "a text of one\nw: and another",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "file") && strings.ContainsAny(text, "{:?") && !strings.Contains(text, "/nowhere") {
			return // reads no file of this machine
		}
		var doc yaml.Node
		if yaml.Load([]byte("v: "+text), &doc) != nil || len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 {
			return // no single document with v alone: whether its value was taken is not Value's to say
		}
		var got struct {
			V Value `yaml:"v"`
		}
		err := doc.Decode(&got)
		v := got.V.Reveal()
		print := func(v Value) string {
			return fmt.Sprintf("%v %+v %#v %s", v, struct{ V Value }{v}, v, slog.AnyValue(v).Resolve())
		}
		if len(v) > 8 && print(got.V) != print(New("something else")) {
			t.Errorf("%q is shown in %s", v, print(got.V))
		}
		if err != nil && v != "" {
			t.Errorf("%q is %v, and %q all the same", text, err, v)
		}
	})
}
