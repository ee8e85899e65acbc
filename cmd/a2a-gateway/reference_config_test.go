package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

const modulePath = "github.com/a2a-gateway/a2a-gateway/"

// configReference has every key of the configuration, with what is said where it is declared.
func configReference(t *testing.T) string {
	r := &keyPages{t: t, said: map[string]string{}, read: map[string]bool{}, at: map[reflect.Type]string{}}
	r.b.WriteString(made("Configuration", "Every key, with what its declaration says of it. [config.example.yaml](../../config.example.yaml) has them all in\n"+
		"their places, with defaults or examples; `a2a-gateway schema` prints a JSON Schema.\n\n"+
		"In keys, `[]` is any entry of a list, and `{}` any member of a mapping."))
	r.section(reflect.TypeFor[config.Config](), "")
	return r.b.String()
}

// keyPages writes the page: a table for each type, where it is first met.
type keyPages struct {
	t    *testing.T
	b    strings.Builder
	said map[string]string       // package.Type.Field → its comment
	read map[string]bool         // packages
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
			path := strings.TrimPrefix(key+"."+name, ".")
			kind, inner, suffix := kindOf(f.Type)
			if inner != nil {
				if at, met := r.at[inner]; met {
					kind += ", as in `" + at + "`"
				} else {
					r.at[inner] = path + suffix
					later = append(later, below{inner, path + suffix})
				}
			}
			fmt.Fprintf(&r.b, "| `%s` | %s | %s |\n", name, kind, inCell(r.comment(of, f.Name)))
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

// comment is what stands above or behind a field in its source.
func (r *keyPages) comment(of reflect.Type, field string) string {
	if !r.read[of.PkgPath()] {
		r.read[of.PkgPath()] = true
		r.source(of.PkgPath())
	}
	return r.said[of.PkgPath()+"."+of.Name()+"."+field]
}

// keyOf is the key that a field stands under.
func keyOf(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("yaml"), ",")
	return name
}

// source reads the comments of a package's structs.
func (r *keyPages) source(path string) {
	files, err := filepath.Glob(filepath.Join("../..", strings.TrimPrefix(path, modulePath), "*.go"))
	if err != nil || len(files) == 0 {
		r.t.Errorf("there is no source of %s: %v", path, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			r.t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			before := "" // the latest key that has a comment, which is then that of the keys behind it
			for _, f := range fields.Fields.List {
				said := strings.TrimSpace(f.Doc.Text() + " " + f.Comment.Text())
				switch key := keyOf(f); {
				case said != "":
					before = key
				case before != "":
					said = "See `" + before + "`."
				}
				for _, id := range f.Names {
					r.said[path+"."+spec.Name.Name+"."+id.Name] = said
				}
			}
			return false
		})
	}
}
