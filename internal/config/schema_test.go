package config

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

const schemaName = "config.schema.json"

// compiler is an independent validator that knows Schema.
func compiler(t *testing.T) *jsonschema.Compiler {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaName, doc); err != nil {
		t.Fatal(err)
	}
	return c
}

// compiled is Schema as it understands it.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := compiler(t).Compile(schemaName)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instance is a file as an editor hands it to a validator: YAML read without
// knowing the types.
func instance(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := yaml.Load(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSchemaAccepts holds the schema to what the loader accepts.
func TestSchemaAccepts(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, path := range append(matching(t, "testdata/valid/*.yaml", 5), examplePath) {
		if err := s.Validate(instance(t, read(t, path))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestSchemaRefuses holds it to what the loader refuses, as far as a schema can
// tell: keys and shapes.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	const base = "server: {publicURL: 'http://localhost:8080'}\n"
	if err := s.Validate(instance(t, []byte(base))); err != nil {
		t.Fatalf("the base of the cases is refused: %v", err)
	}
	for _, in := range []string{
		"polices: {}",
		"policy: {defaults: deny}",
		"policy: [a]",
		"policy: {rules: [{naem: x}]}",
		"policy: {rules: {name: x}}",
		"policy: {rules: [{name: x, agents: billing}]}",
		"authn: {anonymous: 'yes'}",
		"authn: {oidc: [{isuer: x}]}",
		"authn: {oidc: [{clockSkew: [1]}]}",
		"agents: [{id: a, card: {uri: x}}]",
		"agents: [{id: a, card: [x]}]",
		"agents: [{id: a, connections: many}]",
		"agents: [{id: a, credentials: [{value: {path: x}}]}]",
		"agents: [{id: a, credentials: [{value: {file: x, mode: y}}]}]",
		"agents: [{id: a, credentials: [{value: [x]}]}]",
		"agents: [{id: a, credentials: [{oauth2: x}]}]",
		"agents: [{id: a, tls: {verify: false}}]",
		"telemetry: {traces: {exporter: x}}",
		"telemetry: {audit: {dri: x}}",
		"telemetry: {audit: {segmentSize: 4mib}}",
		"extensions: [{schemas: {message: [x]}}]",
		"extensions: [{schemas: {metadata: {k: 1}}}]",
		"extensions: [{defaults: [x]}]",
		"extensions: [{states: {transitions: {a: b}}}]",
		"extensions: [{hooks: [{phase: request}]}]",
		"agents: [{id: a, skills: [{id: b, input: 1}]}]",
		"policy: {rules: [{name: x, extensions: {requires: [x]}}]}",
		"state: {memory: {records: 1.5}}",
		"push: {mod: off}",
		"sum: x",
	} {
		if err := s.Validate(instance(t, []byte(base+in))); err == nil {
			t.Errorf("%s: accepted", in)
		}
		if _, err := Parse("f", []byte(base+in), environment); err == nil ||
			!strings.HasPrefix(err.Error(), "f:2:") {
			t.Errorf("%s: the loader says %v", in, err)
		}
	}
}

// TestSchemaAgrees compares the schema with the loader, key by key, on values of every kind:
// what one takes the other takes. What a reference stands for, and which keys and values the
// loader insists on, is for other tests.
func TestSchemaAgrees(t *testing.T) {
	testenv.Long(t, "the configuration is loaded once for each key of it")
	t.Parallel()
	c, keys := compiler(t), map[string]reflect.Type{}
	declaredKeys(reflect.TypeFor[Config](), keys)
	file := filepath.Join(t.TempDir(), "secret")
	write(t, file, "text")
	for name, of := range keys {
		i := strings.LastIndexByte(name, '.')
		s, err := c.Compile(schemaName + "#/$defs/" + name[:i] + "/properties/" + name[i+1:])
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{
			"text", "''", "7", "0", "-7", "1.5", "true", "1h", "4MiB", "10.0.0.0/8", "null", "[]", "[text]", "[7]", "[null]", "[[text]]",
			"[{no-such-key: 1}]", "{no-such-key: text}", "{no-such-key: null}", "{no-such-key: [a]}", "{file: " + file + "}", "{file: " + file + ", other: 1}", "{file: [a]}",
		} {
			if choices[name] != nil && strings.Trim(value, "'[]") != "" && value != "null" {
				continue // which are of TestSchemaChoices
			}
			refused := s.Validate(instance(t, []byte(value)))
			if said := loadedAlone(t, value, of, strings.HasPrefix(name, "policy.Rule")); (said == nil) != (refused == nil) {
				t.Errorf("%s: %s: the loader says %v, the schema %v", name, value, said, refused)
			}
		}
	}
}

// declaredKeys collects the types of all keys by definition and key.
func declaredKeys(of reflect.Type, keys map[string]reflect.Type) {
	switch of = pointed(of); {
	case of.Kind() == reflect.Slice || of.Kind() == reflect.Map:
		declaredKeys(of.Elem(), keys)
	case of.Kind() == reflect.Struct && hasKeys(of):
		for key, inner := range fields(of) {
			name := definition(of) + "." + key
			if _, met := keys[name]; !met {
				keys[name] = inner
				declaredKeys(inner, keys)
			}
		}
	}
}

// loadedAlone is what the loader says of one value of a type, before what it means is looked at.
func loadedAlone(t *testing.T, text string, of reflect.Type, rule bool) error {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	path := keypath.Of("key")
	if rule {
		path = keypath.Of("rules", 0, "key")
	}
	s := newShape("f", "")
	s.visit(doc.Content[0], of, path)
	if len(s.errs) > 0 {
		return s.errs[0]
	}
	return doc.Load(reflect.New(of).Interface(), yaml.WithKnownFields())
}

// TestSchemaDescribes names each key of the schema that has no description.
func TestSchemaDescribes(t *testing.T) {
	t.Parallel()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	keys := 0
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one, at)
			}
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for key, property := range properties {
				keys++
				if said, _ := property.(map[string]any)["description"].(string); said == "" {
					t.Errorf("%s: the key %s has no description; see TestSchemaTexts", at, key)
				}
			}
			if properties != nil && v["additionalProperties"] != false {
				t.Errorf("%s: unknown keys are not refused", at)
			}
			for name, inner := range v {
				if name != "examples" && name != "default" {
					walk(inner, at+"/"+name)
				}
			}
		}
	}
	walk(doc, "")
	if keys < 700 {
		t.Errorf("only %d keys", keys)
	}
}
