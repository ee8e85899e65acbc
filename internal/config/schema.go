package config

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"path"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
)

// Schema is the JSON Schema (2020-12) of the file, for editors and for checks
// before a file gets near a gateway. It is made from the Go types, so it cannot
// fall behind them.
func Schema() ([]byte, error) {
	r := &jsonschema.Reflector{
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true, // every key has a useful default
		Mapper:                     special,
		Namer:                      definition,
	}
	s := r.Reflect(&Config{})
	s.Title = "a2a-gateway configuration"
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("print schema: %w", err)
	}
	return out, nil
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

// special gives the types that read themselves the shape in which they are written.
func special(t reflect.Type) *jsonschema.Schema {
	text := &jsonschema.Schema{Type: "string"}
	switch t {
	case reflect.TypeFor[secret.Value]():
		file := jsonschema.NewProperties()
		file.Set("file", text)
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			text,
			{Type: "object", Properties: file, Required: []string{"file"}, AdditionalProperties: jsonschema.FalseSchema},
		}}
	case reflect.TypeFor[secret.Size]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			{Type: "integer", Minimum: "0"}, {Type: "string", Pattern: `^[0-9]+ ?([kKMGT]i?)?B?$`},
		}}
	case reflect.TypeFor[secret.Duration]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "integer", Minimum: "0"}, text}}
	case reflect.TypeFor[netip.Prefix]():
		return text
	case reflect.TypeFor[secret.JSON]():
		return jsonschema.TrueSchema
	case reflect.TypeFor[schema.Source]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			{Type: "string", MinLength: new(uint64(1))}, {Type: "object"},
		}}
	case reflect.TypeFor[card.Config]():
		// A plain URL or the mapping; the mapping's own schema is reflected without
		// this function, which would otherwise meet the type again and never end.
		mapping := (&jsonschema.Reflector{
			FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true, Anonymous: true, DoNotReference: true,
			Mapper: func(t reflect.Type) *jsonschema.Schema {
				if t == reflect.TypeFor[card.Config]() {
					return nil
				}
				return special(t)
			},
		}).Reflect(&card.Config{})
		mapping.Version = ""
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{text, mapping}}
	}
	return nil
}
