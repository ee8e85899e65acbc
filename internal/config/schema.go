package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"reflect"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Schema is the JSON Schema (2020-12) of the file, for editors and for checks
// before a file gets near a gateway. It is made from the Go types and what is
// said where they are declared, so it cannot fall behind them. What it refuses
// the loader refuses too.
func Schema() ([]byte, error) {
	texts, err := keyTexts()
	if err != nil {
		return nil, err
	}
	s := reflector(special).Reflect(&Config{})
	// A card is a URL or a mapping. The mapping is reflected without the function that
	// says so, which would otherwise meet the type again and never end.
	mapping := reflector(func(t reflect.Type) *jsonschema.Schema {
		if t == reflect.TypeFor[card.Config]() {
			return nil
		}
		return special(t)
	}).Reflect(&card.Config{})
	maps.Copy(s.Definitions, mapping.Definitions)
	for name, d := range s.Definitions {
		describe(name, d, texts)
		for key, more := range inlined[name] {
			property, _ := d.Properties.Get(key)
			property.Enum = append(property.Enum, more)
		}
		asLoaded(name, d, s.Definitions)
	}
	s.ID = "https://github.com/a2a-gateway/a2a-gateway/config.schema.json"
	s.Title = "a2a-gateway configuration"
	s.Description = "The configuration file of a2a-gateway, an A2A reverse proxy. Texts may hold ${NAME} or ${NAME:-default} from the environment."
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("print schema: %w", err)
	}
	return out, nil
}

// inlined are values that a key takes beside those of its tag where its struct is inlined into
// another: detectors that know the caller can throttle it.
var inlined = map[string]map[string]string{
	"anomaly.Detector": {"action": "throttle"},
	"anomaly.Learned":  {"action": "throttle"},
}

// reflector makes schemas of Go's types. Which values and keys the loader insists on is said by
// the tag jsonschema of a field, as "required" and "enum=…"; TestSchemaChoices and
// TestSchemaRequired hold the tags to the loader.
func reflector(mapper func(reflect.Type) *jsonschema.Schema) *jsonschema.Reflector {
	return &jsonschema.Reflector{
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true, // most keys have a useful default
		Mapper:                     mapper,
		Namer:                      definition,
	}
}

// definition names a type in the schema by package and type, as in server.Config.
// A slash would have to be escaped in references, which the reflector does not
// do. Lists and pointers have no name, and must not share one.
func definition(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	return path.Base(t.PkgPath()) + "." + t.Name()
}

// What the types that read themselves take, as quantity.Size, quantity.Duration and RFC 3339 say it.
// Units are part of the text: a bare number of bytes or of nothing (0) is all that goes without.
const (
	sizes     = `^(0|[1-9][0-9]*)(k?B|[KMGT]i?B)?$`
	durations = `^(0|((0|[1-9][0-9]*)d)?(([0-9]+\.?[0-9]*|\.[0-9]+)(h|m|s|ms|us|µs|μs|ns))+|(0|[1-9][0-9]*)d)$`
	prefixes  = `^[0-9A-Fa-f:.]+/[0-9]{1,3}$`
	times     = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`
)

// special gives the types that read themselves the shape in which they are written.
func special(t reflect.Type) *jsonschema.Schema {
	text := &jsonschema.Schema{Type: "string"}
	switch t {
	case reflect.TypeFor[secret.Value]():
		file := jsonschema.NewProperties()
		file.Set("file", &jsonschema.Schema{
			Type: "string", MinLength: new(uint64(1)), Description: "File that holds the secret. A relative path is relative to the configuration.",
		})
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			text,
			{Type: "object", Properties: file, Required: []string{"file"}, AdditionalProperties: jsonschema.FalseSchema},
		}}
	case reflect.TypeFor[quantity.Size]():
		return &jsonschema.Schema{Type: "integer", Minimum: "0", Pattern: sizes}
	case reflect.TypeFor[quantity.Duration]():
		return &jsonschema.Schema{Type: "integer", Minimum: "0", Maximum: "0", Pattern: durations}
	case reflect.TypeFor[netip.Prefix]():
		return &jsonschema.Schema{Extras: only("string"), Pattern: prefixes + "|" + referring}
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Extras: only("string"), Pattern: times + "|" + referring}
	case reflect.TypeFor[secret.JSON]():
		return &jsonschema.Schema{Extras: only("object", "array", "string", "number", "boolean")}
	case reflect.TypeFor[schema.Source]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			// A number is no name of a file, even without quotes.
			{Extras: only("string"), MinLength: new(uint64(1))}, {Type: "object"},
		}}
	case reflect.TypeFor[card.Config]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{text, {Ref: "#/$defs/" + definition(t)}}}
	}
	return nil
}
