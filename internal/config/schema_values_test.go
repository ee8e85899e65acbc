package config

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// choices are the values of the keys, or of their lists, that take no others, and required the
// keys without which a mapping is refused, wherever it is: what the tags of the fields say.
var choices, required = taggedValues()

func taggedValues() (choices, required map[string][]string) {
	choices, required = map[string][]string{}, map[string][]string{}
	met := map[reflect.Type]bool{}
	var visit func(of reflect.Type)
	var keys func(owner string, of reflect.Type)
	keys = func(owner string, of reflect.Type) {
		for f := range of.Fields() {
			key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if strings.Contains(options, "inline") {
				keys(owner, f.Type)
				continue
			}
			for _, word := range strings.Split(f.Tag.Get("jsonschema"), ",") {
				if value, ok := strings.CutPrefix(word, "enum="); ok {
					choices[owner+"."+key] = append(choices[owner+"."+key], value)
				} else if word == "required" {
					required[owner] = append(required[owner], key)
				}
			}
			visit(f.Type)
		}
	}
	visit = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct && hasKeys(of) && !met[of] {
			met[of] = true
			keys(definition(of), of)
		}
	}
	visit(reflect.TypeFor[Config]())
	for owner, more := range inlined {
		for key, value := range more {
			choices[owner+"."+key] = append(choices[owner+"."+key], value)
		}
	}
	return choices, required
}

// written is a key of the example.
type written struct {
	name    string // as in server.Config.publicURL
	of      reflect.Type
	mapping *yaml.Node
	at      int // its value's place in mapping
}

func (w written) String() string { return w.name }

// exampleKeys are the keys that config.example.yaml has, each in every place, and the document
// that holds them, with references expanded.
func exampleKeys(t *testing.T) ([]written, *yaml.Node) {
	t.Helper()
	doc, err := document(examplePath, read(t, examplePath))
	if err != nil {
		t.Fatal(err)
	}
	if err := expand(examplePath, doc, func(string) (string, bool) { return "", false }); err != nil {
		t.Fatal(err)
	}
	var keys []written
	var walk func(n *yaml.Node, of reflect.Type)
	walk = func(n *yaml.Node, of reflect.Type) {
		switch of = pointed(of); {
		case readsItself(of):
		case n.Kind == yaml.MappingNode && of.Kind() == reflect.Struct && hasKeys(of):
			known := fields(of)
			for i := 0; i+1 < len(n.Content); i += 2 {
				key, inner := n.Content[i].Value, known[n.Content[i].Value]
				keys = append(keys, written{name: definition(of) + "." + key, of: pointed(inner), mapping: n, at: i + 1})
				walk(n.Content[i+1], inner)
			}
		case n.Kind == yaml.MappingNode && of.Kind() == reflect.Map:
			for i := 1; i < len(n.Content); i += 2 {
				walk(n.Content[i], of.Elem())
			}
		case n.Kind == yaml.SequenceNode && of.Kind() == reflect.Slice:
			for _, item := range n.Content {
				walk(item, of.Elem())
			}
		}
	}
	walk(doc.Content[0], reflect.TypeFor[Config]())
	return keys, doc
}

// loaded says what the loader says of a document, but for the files that it names.
func loaded(doc *yaml.Node) string {
	c := &Config{}
	err := decode("f", "", doc, c)
	if err == nil {
		c.Server.Defaults()
		c.Admin.Defaults(c.Server.StatusAddress)
		c.Streams.Defaults()
		c.Catalog.Defaults()
		c.Fleet.Defaults()
		err = c.Validate()
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// with is what the loader says when keys have another value.
func with(doc *yaml.Node, value string, keys ...written) string {
	for _, k := range keys {
		was := k.mapping.Content[k.at]
		defer func() { k.mapping.Content[k.at] = was }()
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
		if k.of.Kind() == reflect.Slice {
			n = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{n}}
		}
		k.mapping.Content[k.at] = n
	}
	return loaded(doc)
}

const nonsense = "no-such-value"

// enumerating matches what the loader says of a value that is none of a few.
var enumerating = regexp.MustCompile(`"` + nonsense + `"(, want|; it must be| is none of| is not one of| is neither \S+ nor \S+($|\n)| is not \S+ or | is not \S+, \S+ or )`)

// open are keys whose values are of more kinds than those that the loader lists.
var open = []string{"authn.Combination.user", "authn.Combination.client", "policy.MatchRule.skill", "audit.ContentRule.label"}

// TestSchemaChoices compares the values that the schema lists with those that the loader takes:
// all that are listed, and no others. Where the loader takes a few values only, the schema has
// to list them.
func TestSchemaChoices(t *testing.T) {
	testenv.Long(t, "the configuration is loaded once for each value that a key may have")
	testenv.Alone(t, "the configuration is loaded once for each value that a key may have")
	t.Parallel()
	keys, doc := exampleKeys(t)
	seen, others := map[string]bool{}, map[*yaml.Node][]written{}
	for _, k := range keys {
		text := k.of.Kind() == reflect.String || k.of.Kind() == reflect.Slice && pointed(k.of.Elem()).Kind() == reflect.String
		if seen[k.name] || !text {
			continue
		}
		seen[k.name] = true
		if choices[k.name] != nil {
			compareChoices(t, k, doc)
		} else if !slices.Contains(open, k.name) {
			others[k.mapping] = append(others[k.mapping], k)
		}
	}
	for _, list := range others { // of one mapping at a time, of which all errors are told
		if said := with(doc, nonsense, list...); enumerating.MatchString(said) {
			t.Errorf("the loader takes a few values only for one of %v; list them in the tag jsonschema of the field: %s", list, said)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		if !seen[name] {
			t.Errorf("choices names %s, which is no text in config.example.yaml", name)
		}
	}
}

// compareChoices compares them for one key.
func compareChoices(t *testing.T, k written, doc *yaml.Node) {
	t.Helper()
	refused := with(doc, nonsense, k)
	before, after, ok := strings.Cut(refused, nonsense)
	if !ok {
		t.Errorf("%s: the schema lists values, and the loader takes others: %s", k.name, refused)
		return
	}
	after, _, _ = strings.Cut(after, "\n")
	for _, value := range choices[k.name] {
		if said := with(doc, value, k); strings.Contains(said, before+value+after) {
			t.Errorf("%s: the schema lists %q, which the loader refuses: %s", k.name, value, said)
		}
	}
}

// TestSchemaRequired compares the keys that the schema requires with those without which the
// loader refuses the example.
func TestSchemaRequired(t *testing.T) {
	testenv.Long(t, "the configuration is loaded once for each key of it")
	t.Parallel()
	keys, doc := exampleKeys(t)
	if said := loaded(doc); said != "" {
		t.Fatalf("the loader refuses the example: %s", said)
	}
	seen := map[string]bool{}
	for _, k := range keys {
		i := strings.LastIndexByte(k.name, '.')
		if seen[k.name] || !slices.Contains(required[k.name[:i]], k.name[i+1:]) {
			continue
		}
		seen[k.name] = true
		was := k.mapping.Content
		k.mapping.Content = slices.Delete(slices.Clone(was), k.at-1, k.at+1)
		if said := loaded(doc); said == "" {
			t.Errorf("%s: the schema requires what the loader does not", k.name)
		}
		k.mapping.Content = was
	}
	for name, list := range required {
		for _, key := range list {
			if !seen[name+"."+key] {
				t.Errorf("required names %s.%s, which is not in config.example.yaml", name, key)
			}
		}
	}
}
