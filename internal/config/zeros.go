package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Numbers with or without a unit, and those that are none. What begins like one may also be
// a text, a secret above all, which is never in force as a number.
var (
	numeric = regexp.MustCompile(`^[-+]?[0-9][0-9a-zA-Z._]*$`)
	zero    = regexp.MustCompile(`^[-+]?(0[0_.]* ?[a-zA-Z]*)+$`)
)

// noughts are the keys whose 0 is what it says although it is not told from a key that was left
// out: there it is the default. Their fields say so by the tag zero:"kept". List items share their
// list's key. Keys that do tell the two apart, as pointers do, need no tag.
var noughts = sync.OnceValue(func() map[string]bool {
	kept := map[string]bool{}
	keepZeros(reflect.TypeFor[Config](), "", kept)
	return kept
})

// keepZeros adds the keys of one type, which is at a key, and of those within.
func keepZeros(of reflect.Type, key string, kept map[string]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || !hasKeys(of) {
		return
	}
	for f := range of.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			keepZeros(f.Type, key, kept)
		case f.Tag.Get("zero") == "kept":
			kept[under(key, name)] = true
		case name != "" && name != "-":
			keepZeros(f.Type, under(key, name), kept)
		}
	}
}

// zeros lists the keys of a file that are written as 0 and count as if they were left out, so
// that a default stands in for them or nothing is bounded: who writes 0 means none. t is the
// type of what is written, became what is in force of it, none where that is not known.
func zeros(written *yaml.Node, became setting, t reflect.Type, path keypath.Path, key string) []string {
	written = target(written)
	told := t.Kind() == reflect.Pointer
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var found []string
	switch {
	case readsItself(t):
	case written.Kind == yaml.ScalarNode:
		return zeroOf(written, became, told || !isNumber(t) || noughts()[key], path)
	case written.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		known := fields(t)
		for i := 0; i+1 < len(written.Content); i += 2 {
			name := written.Content[i].Value
			if field := known[name]; field != nil {
				step := keypath.Step{Key: name}
				found = append(found, zeros(written.Content[i+1], became.at(step), field, extend(path, step), under(key, name))...)
			}
		}
	case written.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for i := 0; i+1 < len(written.Content); i += 2 {
			name := written.Content[i].Value
			// What has a name of its own is told from what is not there.
			found = append(found, zeros(written.Content[i+1], setting{}, reflect.PointerTo(t.Elem()), extend(path, keypath.Step{Key: name}), key)...)
		}
	case written.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for i, item := range written.Content {
			step := keypath.Step{Index: i, Item: true}
			found = append(found, zeros(item, became.at(step), reflect.PointerTo(t.Elem()), extend(path, step), key)...)
		}
	}
	return found
}

// zeroOf is zeros of a single value: none, or one text that says what came of it. A zero that is kept
// is none, unless a default took its place after all.
func zeroOf(written *yaml.Node, became setting, kept bool, path keypath.Path) []string {
	if !zero.MatchString(written.Value) {
		return nil
	}
	if value, ok := became.text(); ok && numeric.MatchString(value) && !zero.MatchString(value) {
		return []string{fmt.Sprintf("%s: %s is taken for the default, %s", path, written.Value, value)}
	}
	if kept {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s counts as if the key were left out", path, written.Value)}
}

// isNumber reports whether values of a type are numbers, those with a unit among them: sizes and
// durations are integers to Go. A text that reads as 0, such as an id, is a text.
func isNumber(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return true
	}
	return false
}

// under is the name of a key within another, "" for the file itself, as noughts lists them.
func under(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// zeros lists such keys of all files that a configuration was read from. Those of further files are
// told with the file, and without what became of them: there they have another place in the list.
func (s *sources) zeros(inForce setting) []string {
	found := zeros(s.main.doc.Content[0], inForce, reflect.TypeFor[Config](), nil, "")
	for _, l := range []struct {
		files []*source
		t     reflect.Type
		key   string
	}{
		{s.rules.files, reflect.TypeFor[ruleDocument](), "policy"},
		{s.agents.files, reflect.TypeFor[agentDocument](), ""},
	} {
		for _, f := range l.files {
			for _, text := range zeros(f.doc.Content[0], setting{}, l.t, nil, l.key) {
				found = append(found, f.name+": "+text)
			}
		}
	}
	return found
}
