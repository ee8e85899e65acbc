package config

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

// compiled is Schema as an independent validator understands it.
func compiled(t *testing.T) *jsonschema.Schema {
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
	if err := c.AddResource("config.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.schema.json")
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

// TestSchemaAccepts holds the schema to what the loader accepts, but for what an
// editor had better point at: references where numbers belong, which it cannot
// expand, and keys without a value.
func TestSchemaAccepts(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, path := range append(matching(t, "testdata/valid/*.yaml", 5), examplePath) {
		if name := filepath.Base(path); name == "environment.yaml" || name == "empty-sections.yaml" {
			continue
		}
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
