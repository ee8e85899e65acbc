package config

import (
	"cmp"
	"reflect"
	"strings"
)

// Mapping is one kind of mapping in the file: what docs/reference/config.md has a table for, and
// a2a-gateway.yaml(5) a section.
// The texts of Key are those of the schema: the comment of the field.
type Mapping struct {
	Key  string // where it is met first, as in agents[].card; "" for the file itself
	Keys []Key  // as they are declared
}

// Key is a key of a mapping.
type Key struct {
	Name string
	Type string // in the words of YAML
	As   string // where the mapping of its value is described, if that is not below this key
	Text string // what is said of it where it is declared
	With string // an earlier key, of whose text this one's is a copy
}

// Reference has every key of the file: each kind of mapping once, and behind it those within.
// The error is one of the embedded file of texts, which tests hold to be readable.
func Reference() ([]Mapping, error) {
	texts, err := keyTexts()
	if err != nil {
		return nil, err
	}
	w := &keyWalk{texts: texts, at: map[reflect.Type]string{}}
	w.describe(reflect.TypeFor[Config](), "")
	return w.mappings, nil
}

// keyWalk walks the types of the configuration in the order of their fields. A type that is met
// again, such as the TLS of another section, is described where it was met first.
type keyWalk struct {
	texts    map[string]keyText
	at       map[reflect.Type]string // the key under which it is described
	mappings []Mapping
}

// found is a mapping within another one.
type found struct {
	of reflect.Type
	at string
}

// describe adds the table of one type, and then those of the types within. The place in the list is
// taken first, so that a mapping stands before those below it.
func (w *keyWalk) describe(of reflect.Type, key string) {
	w.at[of] = key
	at := len(w.mappings)
	w.mappings = append(w.mappings, Mapping{Key: key})
	keys, within := w.keys(of, definition(of), key)
	// A comment above several fields of a struct is the text of each: the table says it once.
	for i := 1; i < len(keys); i++ {
		if keys[i].Text == keys[i-1].Text { // which is of several keys
			keys[i].With = cmp.Or(keys[i-1].With, keys[i-1].Name)
		}
	}
	w.mappings[at].Keys = keys
	for _, f := range within {
		w.describe(f.of, f.at)
	}
}

// keys are those of one type. Its texts are by the type that others are inlined into.
func (w *keyWalk) keys(of reflect.Type, owner, key string) (keys []Key, within []found) {
	for f := range of.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if strings.Contains(options, "inline") {
			more, deeper := w.keys(pointed(f.Type), owner, key)
			keys, within = append(keys, more...), append(within, deeper...)
			continue
		}
		if name == "" || name == "-" {
			continue
		}
		kind, inner, suffix := typeWords(f.Type)
		k := Key{Name: name, Type: kind, Text: w.texts[owner+"."+name].Description}
		if inner != nil {
			at := strings.TrimPrefix(key+"."+name, ".") + suffix
			if first, met := w.at[inner]; met {
				k.As = first
			} else {
				w.at[inner] = at
				within = append(within, found{inner, at})
			}
		}
		keys = append(keys, k)
	}
	return keys, within
}

// pointed is the type that a pointer leads to: a key that may be absent is written like one that may
// not.
func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// typeWords say a type in the words of YAML. A struct with keys of its own is inner, and suffix
// is what leads to it from the key.
// The types of package secret read themselves; they are told by name, as this package cannot list
// what others may add.
func typeWords(t reflect.Type) (kind string, inner reflect.Type, suffix string) {
	t = pointed(t)
	switch t.String() {
	case "secret.Value":
		return "text, or `{file: PATH}`", nil, ""
	case "quantity.Size":
		return "size", nil, ""
	case "quantity.Duration":
		return "duration", nil, ""
	}
	switch t.Kind() {
	case reflect.Struct:
		if !hasKeys(t) {
			return "text", nil, ""
		}
		return "mapping", t, ""
	case reflect.Slice, reflect.Array:
		of, inner, suffix := typeWords(t.Elem())
		return "list of " + of, inner, "[]" + suffix
	case reflect.Map:
		of, inner, suffix := typeWords(t.Elem())
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

// hasKeys tells mappings from structs that read themselves from a text, such as a time or a network,
// whose fields are nobody's keys.
func hasKeys(t reflect.Type) bool {
	for f := range t.Fields() {
		if tag := f.Tag.Get("yaml"); tag != "" && tag != "-" {
			return true
		}
	}
	return false
}
