package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestKeys counts the places of a configuration key: its field is declared with a comment, and
// config.example.yaml has a line for it (TestExampleHasEveryKey). All else is made of those two:
// the strict reading, the schema that editors know, the reference in docs. A key that is missing
// in one of them would need a third place.
func TestKeys(t *testing.T) {
	t.Parallel()
	texts, err := keyTexts()
	if err != nil {
		t.Fatal(err)
	}
	reference, err := Reference()
	if err != nil {
		t.Fatal(err)
	}
	schema, referred, fields := schemaKeys(t), 0, map[string]reflect.Type{}
	declaredKeys(reflect.TypeFor[Config](), fields)
	for name := range fields {
		if texts[name].Description == "" {
			t.Errorf("%s: the field has no comment", name)
		}
		if schema[name] != texts[name].Description {
			t.Errorf("%s: the schema says %q, the comment of the field %q", name, schema[name], texts[name].Description)
		}
	}
	for _, m := range reference {
		for _, k := range m.Keys {
			referred++
			if k.Text == "" || k.Type == "" {
				t.Errorf("%s.%s: the reference says nothing of it", m.Key, k.Name)
			}
		}
	}
	if len(fields) < 700 || len(schema) != len(fields) || referred != len(fields) || len(texts) != len(fields) {
		t.Errorf("%d keys have a field, %d are in the schema, %d in the reference and %d in %s",
			len(fields), len(schema), referred, len(texts), textsPath)
	}
}

// schemaKeys are the descriptions of the schema by definition and key.
func schemaKeys(t *testing.T) map[string]string {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for definition, of := range doc.Defs {
		for key, property := range of.Properties {
			keys[definition+"."+key] = property.Description
		}
	}
	return keys
}

// TestOneField declares a key the way a new one is declared, by a field alone, and finds it read
// strictly, with the place of a mistake, and in schema and reference.
func TestOneField(t *testing.T) {
	t.Parallel()
	type section struct {
		// Patience is how long to wait.
		Patience int `yaml:"patience"`
	}
	type file struct {
		Section section `yaml:"section"`
	}
	for text, want := range map[string]string{
		"section: {patience: 3}":    "",
		"section: {patience: long}": "f:1:21: section.patience: want a whole number",
		"section: {patiense: 3}":    `f:1:11: section: unknown key "patiense", did you mean "patience"?`,
	} {
		var doc yaml.Node
		if err := yaml.Load([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		var into file
		if err := decode("f", "", &doc, &into); err == nil && want != "" || err != nil && !strings.HasPrefix(err.Error()+"\n", want+"\n") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	w := &keyWalk{texts: map[string]keyText{"config.section.patience": {Description: "How long to wait."}}, at: map[reflect.Type]string{}}
	w.describe(reflect.TypeFor[file](), "")
	if len(w.mappings) != 2 || w.mappings[1].Key != "section" || w.mappings[1].Keys[0] != (Key{Name: "patience", Type: "integer", Text: "How long to wait."}) {
		t.Errorf("the reference has %+v", w.mappings)
	}
	if s := reflector(special).Reflect(&file{}); s.Definitions["config.section"] == nil || s.Definitions["config.section"].Properties.GetPair("patience") == nil {
		t.Errorf("the schema lacks it: %+v", s.Definitions)
	}
}
