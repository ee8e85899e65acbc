package openapi

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Schema is a JSON Schema of the dialect 2020-12, which OpenAPI 3.1 uses.
type Schema = map[string]any

// schemas are those of the Go types that were met, by name. A type is written as it is
// marshalled: what may be left out is what its tag says omitzero or omitempty of, lists
// and mappings are never null, and nothing else is there.
type schemas struct {
	values map[reflect.Type][]string
	types  map[string]reflect.Type
	all    map[string]Schema
	err    error
}

// of is the schema of a type; a reference for one with a name.
func (s *schemas) of(t reflect.Type) Schema {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return Schema{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[jsontext.Value]():
		return Schema{} // of any kind
	case s.values[t] != nil:
		return s.named(t, func() Schema { return Schema{"type": "string", "enum": s.values[t]} })
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return Schema{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Interface: // whatever is in it
		return Schema{}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.Slice:
		return Schema{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.named(t, func() Schema { return s.object(t) })
	default:
		s.err = fmt.Errorf("%v cannot be described", t)
		return Schema{}
	}
}

// named keeps a schema under the type's name. Two types of one name would be taken for one.
func (s *schemas) named(t reflect.Type, make func() Schema) Schema {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if other, ok := s.types[name]; !ok {
		s.types[name] = t // before its members, which may be of it
		s.all[name] = make()
	} else if other != t {
		s.err = fmt.Errorf("%v and %v have one name", t, other)
	}
	return Schema{"$ref": "#/components/schemas/" + name}
}

func (s *schemas) object(t reflect.Type) Schema {
	properties, required := Schema{}, []string{}
	s.members(t, properties, &required)
	slices.Sort(required)
	return Schema{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// members adds those of a struct, and those of what is embedded in it.
func (s *schemas) members(t reflect.Type, properties Schema, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			s.members(f.Type, properties, required)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		schema := s.of(f.Type)
		if text := f.Tag.Get("doc"); text != "" {
			schema["description"] = text
		}
		properties[name] = schema
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}
