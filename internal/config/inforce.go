package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// setting is a part of the configuration that is in force, defaults included: a mapping, a list or a
// value, as YAML would be written of it.
//
// It is looked at where it lies. To write a document of a thousand agents and to read it back takes
// longer than to read the file they stand in, since each has all the keys that were left out.
type setting struct{ v reflect.Value }

// inForce is the setting of all of a section. Pointers are followed, and values that write themselves are
// what they write: secrets hide what they are.
func inForce(section reflect.Value) setting {
	v := section
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	if !v.IsValid() || v.NumMethod() == 0 {
		return setting{v}
	}
	switch w := v.Interface().(type) {
	case yaml.Marshaler:
		if written, err := w.MarshalYAML(); err == nil {
			return inForce(reflect.ValueOf(written))
		}
	case encoding.TextMarshaler:
		if text, err := w.MarshalText(); err == nil {
			return setting{reflect.ValueOf(string(text))}
		}
	}
	return setting{v}
}

// text is a value as it would be written; ok is false for mappings, lists and what is not there.
func (s setting) text() (text string, ok bool) {
	switch s.v.Kind() {
	case reflect.String:
		return s.v.String(), true
	case reflect.Bool:
		return strconv.FormatBool(s.v.Bool()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(s.v.Int(), 10), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(s.v.Uint(), 10), true
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(s.v.Float(), 'g', -1, 64), true
	}
	if s.isBytes() { // JSON that is kept as it was written
		return string(s.v.Bytes()), true
	}
	return "", false
}

func (s setting) isBytes() bool {
	return s.v.Kind() == reflect.Slice && s.v.Type().Elem().Kind() == reflect.Uint8
}

// each visits the keys of a mapping, in the order of their declaration or of the alphabet, and the items of
// a list. A value has neither.
func (s setting) each(visit func(step keypath.Step, of setting)) {
	switch {
	case s.v.Kind() == reflect.Struct:
		for i := range s.v.NumField() {
			name, inline := keyOf(s.v.Type().Field(i))
			switch of := inForce(s.v.Field(i)); {
			case inline:
				of.each(visit)
			case name != "":
				visit(keypath.Step{Key: name}, of)
			}
		}
	case s.v.Kind() == reflect.Map:
		keys := s.v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			visit(keypath.Step{Key: fmt.Sprint(key)}, inForce(s.v.MapIndex(key)))
		}
	case s.v.Kind() == reflect.Slice && !s.isBytes():
		for i := range s.v.Len() {
			visit(keypath.Step{Index: i, Item: true}, inForce(s.v.Index(i)))
		}
	}
}

// keyOf is the name of a field's key, "" for one that no file has.
func keyOf(f reflect.StructField) (name string, inline bool) {
	name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	switch {
	case !f.IsExported() || name == "-":
		return "", false
	case option == "inline":
		return "", true
	case name == "":
		return strings.ToLower(f.Name), false
	}
	return name, false
}

// at is the setting that one step leads to, none where there is none.
func (s setting) at(step keypath.Step) (found setting) {
	switch s.v.Kind() {
	case reflect.Slice:
		if step.Item && step.Index < s.v.Len() {
			return inForce(s.v.Index(step.Index))
		}
	case reflect.Struct, reflect.Map:
		s.each(func(of keypath.Step, v setting) {
			if of == step {
				found = v
			}
		})
	}
	return found
}
