package config

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"
)

// texts is what is said of every key where it is declared, and how config.example.yaml
// writes it. TestSchemaTexts makes the file, as a program has no comments.
//
//go:embed schema_texts.json
var texts []byte

// keyText is what is said of one key: the comment of its field, the default that the comment names
// where it is a value, and an example where the example file has one.
type keyText struct {
	Description string `json:"description"`
	Default     any    `json:"default,omitempty"`
	Example     any    `json:"example,omitempty"`
}

// keyTexts are by definition and key, as in server.Config.publicURL.
// They are read once for a schema or a reference, both of which are made by tests and verbs, never
// while calls run.
func keyTexts() (map[string]keyText, error) {
	var all map[string]keyText
	if err := json.Unmarshal(texts, &all); err != nil {
		return nil, fmt.Errorf("read what is said of the keys: %w", err)
	}
	return all, nil
}

// describe puts what is said of the keys of one mapping beside them.
func describe(name string, mapping *jsonschema.Schema, texts map[string]keyText) {
	for key, property := range mapping.Properties.FromOldest() {
		text, ok := texts[name+"."+key]
		if !ok {
			continue // which TestSchemaTexts tells of
		}
		property.Description, property.Default = text.Description, text.Default
		if text.Example != nil {
			property.Examples = []any{text.Example}
		}
	}
}
