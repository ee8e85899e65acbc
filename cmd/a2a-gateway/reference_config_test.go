package main

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// configReference has every key of the configuration, with what is said where it is declared.
func configReference(t *testing.T) string {
	r := &keyPages{said: descriptions(t), at: map[reflect.Type]string{}}
	r.b.WriteString(made("Configuration", "Every key, with what its declaration says of it. [config.example.yaml](../../config.example.yaml) has them all in\n"+
		"their places, with defaults or examples; `a2a-gateway schema` prints a JSON Schema.\n\n"+
		"In keys, `[]` is any entry of a list, and `{}` any member of a mapping."))
	r.section(reflect.TypeFor[config.Config](), "")
	return r.b.String()
}

// keyPages writes the page: a table for each type, where it is first met.
type keyPages struct {
	b    strings.Builder
	said map[string]string       // by package, type and key, as in server.Config.publicURL
	at   map[reflect.Type]string // the key under which it stands
}

// section writes the table of one struct, and then those of the structs in it.
func (r *keyPages) section(of reflect.Type, key string) {
	title := key
	if title == "" {
		title = "the file"
	}
	fmt.Fprintf(&r.b, "\n## `%s`\n\n| key | type | |\n| --- | --- | --- |\n", title)
	r.at[of] = title
	type below struct {
		of  reflect.Type
		key string
	}
	var later []below
	owner, before, above := path.Base(of.PkgPath())+"."+of.Name(), "", ""
	var rows func(of reflect.Type)
	rows = func(of reflect.Type) {
		for f := range of.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if strings.Contains(options, "inline") {
				rows(bare(f.Type))
				continue
			}
			if name == "" || name == "-" {
				continue
			}
			at := strings.TrimPrefix(key+"."+name, ".")
			kind, inner, suffix := kindOf(f.Type)
			if inner != nil {
				if first, met := r.at[inner]; met {
					kind += ", as in `" + first + "`"
				} else {
					r.at[inner] = at + suffix
					later = append(later, below{inner, at + suffix})
				}
			}
			said := r.said[owner+"."+name]
			switch {
			case said == before: // which is of several keys
				said = "See `" + above + "`."
			default:
				before, above = said, name
			}
			fmt.Fprintf(&r.b, "| `%s` | %s | %s |\n", name, kind, inCell(said))
		}
	}
	rows(of)
	for _, l := range later {
		r.section(l.of, l.key)
	}
}

func bare(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// kindOf says a type in the words of YAML; a struct with keys of its own has a table.
func kindOf(t reflect.Type) (kind string, inner reflect.Type, suffix string) {
	t = bare(t)
	switch t.String() {
	case "secret.Value":
		return "text, or `{file: PATH}`", nil, ""
	case "secret.Size":
		return "size", nil, ""
	case "secret.Duration":
		return "duration", nil, ""
	}
	switch t.Kind() {
	case reflect.Struct:
		if !hasKeys(t) {
			return "text", nil, ""
		}
		return "mapping", t, ""
	case reflect.Slice, reflect.Array:
		of, inner, suffix := kindOf(t.Elem())
		return "list of " + of, inner, "[]" + suffix
	case reflect.Map:
		of, inner, suffix := kindOf(t.Elem())
		return "mapping to " + of, inner, ".{}" + suffix
	case reflect.Bool:
		return "true or false", nil, ""
	case reflect.Float32, reflect.Float64:
		return "number", nil, ""
	case reflect.String:
		return "text", nil, ""
	case reflect.Interface:
		return "any", nil, ""
	default:
		return "integer", nil, ""
	}
}

func hasKeys(t reflect.Type) bool {
	for f := range t.Fields() {
		if tag := f.Tag.Get("yaml"); tag != "" && tag != "-" {
			return true
		}
	}
	return false
}

// descriptions are those of the schema, by definition and key.
func descriptions(t *testing.T) map[string]string {
	t.Helper()
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Definitions map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for name, d := range schema.Definitions {
		for key, property := range d.Properties {
			said[name+"."+key] = property.Description
		}
	}
	return said
}
