package secret

import (
	"encoding/json"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{`a`, `"a"`},
		{`"1"`, `"1"`},
		{`""`, `""`},
		{`<&> "ü" \n`, `"<&> \"ü\" \\n"`},
		{`true`, `true`},
		{`True`, `true`},
		{`FALSE`, `false`},
		{`2027-03-31`, `"2027-03-31"`},
		{`[1, [], {}]`, `[1,[],{}]`},
		{`[~, null, ]`, `[null,null]`},
		{`{a: 1, "b c": {d: e}, 1: 2, true: 3, 1.5: x}`, `{"a":1,"b c":{"d":"e"},"1":2,"true":3,"1.5":"x"}`},
		{`[&a {x: 1}, *a]`, `[{"x":1},{"x":1}]`},
		{`12345678901234567890123`, `12345678901234567890123`},
		{`-0`, `-0`},
		{`1.10`, `1.10`},
		{`1e5`, `1e5`},
		{`0.1234567890123456789012345`, `0.1234567890123456789012345`},
		{`0x1F`, `31`},
		{`-0x1F`, `-31`},
		{`0o17`, `15`},
		{`0b101`, `5`},
		{`1_000`, `1000`},
		{`+7`, `7`},
		{`+1.5`, `1.5`},
		{`.5`, `0.5`},
		{`-.5e-3`, `-0.5e-3`},
		{`5.`, `5`},
		{`5.e3`, `5e3`},
		{`1_000.5`, `1000.5`},
		{`0xFFFFFFFFFFFFFFFF`, `18446744073709551615`},
	}
	for _, tt := range tests {
		var got struct {
			V JSON `yaml:"v"`
		}
		if err := yaml.Load([]byte("v: "+tt.in), &got); err != nil || string(got.V) != tt.want || !json.Valid(got.V) {
			t.Errorf("%s = %s, %v; want %s", tt.in, got.V, err, tt.want)
		}
	}
}

func TestJSONRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{`.inf`, "not a number that JSON has"},
		{`[1, -.inf]`, "line 1"},
		{`.NaN`, "not a number that JSON has"},
		{`{a: 1, a: 2}`, "twice"},
		{`{&k a: 1, *k : 2}`, "twice"},
		{`{~: 1}`, "the key is not a name"},
		{`{[a]: 1}`, "the key is not a name"},
		{`{<<: {a: 1}}`, "the key is not a name"},
		{`!!binary aHVudGVyMg==`, "JSON has no such value"},
		{strings.Repeat("[", maxDepth) + "1" + strings.Repeat("]", maxDepth), "nested too deeply"},
	}
	for _, tt := range tests {
		var doc yaml.Node
		if err := yaml.Load([]byte(tt.in), &doc); err != nil {
			t.Fatal(err)
		}
		var got JSON
		err := got.UnmarshalYAML(doc.Content[0])
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") || got != nil {
			t.Errorf("%s = %s, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

// TestJSONUnfoldsToALimit has aliases of aliases, and an alias of itself.
func TestJSONUnfoldsToALimit(t *testing.T) {
	t.Parallel()
	item := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.Repeat("x", 100)}
	for range 30 {
		item = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{
			{Kind: yaml.AliasNode, Alias: item}, {Kind: yaml.AliasNode, Alias: item},
		}}
	}
	var got JSON
	if err := got.UnmarshalYAML(item); err == nil || !strings.Contains(err.Error(), "larger than 1MiB") {
		t.Errorf("error %v", err)
	}
	loop := &yaml.Node{Kind: yaml.SequenceNode}
	loop.Content = []*yaml.Node{{Kind: yaml.AliasNode, Alias: loop}}
	if err := got.UnmarshalYAML(loop); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
		t.Errorf("error %v", err)
	}
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{"a: [1, .5, 0x1]", "{a: {b: !!str 1}}", "&a [*a]", "? [a]\n: b", "+0_1.e-2", "0777", "09"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var doc yaml.Node
		if yaml.Load([]byte(in), &doc) != nil || len(doc.Content) == 0 {
			return
		}
		var got JSON
		if err := got.UnmarshalYAML(doc.Content[0]); err == nil && !json.Valid(got) {
			t.Fatalf("%q is not JSON", got)
		}
	})
}
