package config

import (
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"
)

// referring matches texts with a reference to the environment. What it stands for is not known
// to a schema, so that it may be any single value.
const referring = `\$\{`

// only are the types that a value may have, exactly.
func only(types ...string) map[string]any { return map[string]any{"type": types} }

// asLoaded widens the keys of one mapping to what the loader takes for them: texts without
// quotes that look like numbers, references to the environment, keys without a value. Lists
// and mappings with keys of the operator's need a value, and within a rule all mappings do:
// an absent condition matches everything.
// The loader is more lenient than the plain types say, and an editor that marks as wrong what the
// gateway takes is switched off.
func asLoaded(name string, mapping *jsonschema.Schema, all jsonschema.Definitions) {
	for _, property := range mapping.Properties.FromOldest() {
		widen(property)
		of := all[strings.TrimPrefix(property.Ref, "#/$defs/")]
		switch {
		case property.Type != "": // a list or a mapping
		case of == nil:
			orNothing(property)
		case of.Type == "object" && !strings.HasPrefix(name, "policy.Rule"):
			property.AnyOf, property.Ref = []*jsonschema.Schema{{Ref: property.Ref}, {Type: "null"}}, ""
		}
	}
}

// widen does it for one value. The loader reads 8080 where a text is wanted, "8080" in quotes where a
// number is, and ${PORT} in the place of either.
func widen(s *jsonschema.Schema) {
	switch s.Type {
	case "array":
		widen(s.Items)
		return
	case "object":
		if s.AdditionalProperties != nil && s.AdditionalProperties != jsonschema.FalseSchema {
			widen(s.AdditionalProperties)
			s.PropertyNames = &jsonschema.Schema{MinLength: new(uint64(1))}
		}
		return
	case "string":
		s.Extras = only("string", "number", "boolean")
	case "integer", "number", "boolean":
		s.Extras = only(s.Type, "string")
		s.Pattern = strings.TrimPrefix(s.Pattern+"|"+referring, "|")
	}
	s.Type = ""
	for _, one := range s.OneOf {
		widen(one)
	}
	// An enumeration that holds "1.3" takes the number too, and the empty text, which counts as
	// left out.
	if len(s.Enum) > 0 {
		s.AnyOf = []*jsonschema.Schema{{Enum: unquoted(s.Enum)}, {Extras: only("string"), Pattern: "^$|" + referring}}
		s.Enum, s.Extras = nil, nil
	}
}

// orNothing lets a value be left empty, which counts as a key that is left out.
func orNothing(s *jsonschema.Schema) {
	null := &jsonschema.Schema{Type: "null"}
	switch {
	case len(s.OneOf) > 0:
		s.OneOf = append(s.OneOf, null)
	case len(s.AnyOf) > 0:
		s.AnyOf = append(s.AnyOf, null)
	default:
		types, _ := s.Extras["type"].([]string)
		s.Extras = only(append(types, "null")...)
	}
}

// unquoted adds what texts are without quotes: 1.3 is a number to a validator.
func unquoted(texts []any) []any {
	all := slices.Clone(texts)
	for _, text := range texts {
		var value any
		written, _ := text.(string)
		if err := yaml.Load([]byte(written), &value); err == nil && value != text {
			all = append(all, value)
		}
	}
	return all
}
