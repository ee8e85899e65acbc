package config

import (
	"encoding"
	"path/filepath"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// shape compares a document with the Go types it is read into, and finds unknown keys, with what
// may have been meant (unknownkeys.go), and values of the wrong shape. The YAML library
// would also refuse most of what is refused here, but it names Go types, quotes
// values (which may be secrets in the wrong place) and drops without a word what
// has no value: an empty list item, a key without a name.
//
// The first of several mistakes of one place wins: wrongs has the places of what is told already,
// which keeps the library's own error for the same value from being told as well.
type shape struct {
	name     string
	dir      string              // relative {file: …} are relative to it
	errs     []error             // in the order of the file
	wrongs   map[place]bool      // where each of errs is
	paths    map[place]string    // the keys that lead to each value
	resolved map[*yaml.Node]bool // file paths that are relative to dir no more

	secrets func(n *yaml.Node, path keypath.Path) // sees to what secret.Value reads; nil for the usual
	texts   bool                                  // numbers in the places of texts become texts
}

// place is a line and a column, from 1, as the YAML library counts them.
type place [2]int

// checkShape returns the mistakes and where they are. It also makes the paths
// of {file: PATH} secrets relative to dir.
func checkShape(name, dir string, root *yaml.Node, t reflect.Type) *shape {
	s := newShape(name, dir)
	s.visit(root, t, nil)
	return s
}

// newShape makes one that has not looked at anything. dir is what {file: …} is relative to, "" for
// the working directory.
func newShape(name, dir string) *shape {
	return &shape{
		name: name, dir: dir,
		wrongs: map[place]bool{}, paths: map[place]string{}, resolved: map[*yaml.Node]bool{},
	}
}

// wrong records one mistake per place: what an anchor holds is visited as often
// as it is used.
// The text is path, colon, message, as policy.rules[3].groups: want a list, found a text.
func (s *shape) wrong(n *yaml.Node, path keypath.Path, format string, args ...any) {
	where := place{n.Line, n.Column}
	if s.wrongs[where] {
		return
	}
	s.wrongs[where] = true
	if len(path) > 0 {
		format, args = "%s: "+format, append([]any{path}, args...)
	}
	s.errs = append(s.errs, problemAt(s.name, n, format, args...))
}

// visit compares a value with the type it is read into, and all below it. Pointers are looked
// through: they tell absent keys from zeros, and are written alike.
// It is called for the root with no path, and for each value with the keys and indexes that lead
// to it.
func (s *shape) visit(n *yaml.Node, t reflect.Type, path keypath.Path) {
	n = target(n)
	// Errors of types that read themselves have a place alone: located looks the keys up by it.
	s.paths[place{n.Line, n.Column}] = path.String()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case isNull(n) && t.Kind() == reflect.Slice:
		// In a rule, an absent condition matches everything: a list whose items were
		// commented out must not turn into that without a word.
		s.wrong(n, path, "has no value; write a list, or leave the key out")
	case isNull(n) && (t.Kind() == reflect.Map || t.Kind() == reflect.Struct && inRule(path)):
		s.wrong(n, path, "has no value; write a mapping, or leave the key out")
	case isNull(n): // as if left out
	case t == reflect.TypeFor[secret.Value]() && s.secrets != nil:
		s.secrets(n, path)
	case t == reflect.TypeFor[secret.Value]():
		s.secret(n, path)
	case readsItself(t): // and tells the place of what is wrong
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		if n.Kind != yaml.ScalarNode {
			s.wrong(n, path, "want a single value, found %s", kindOf(n))
		}
	case n.Kind == yaml.ScalarNode && reflect.PointerTo(t).Implements(reflect.TypeFor[unmarshaler]()):
	case t.Kind() == reflect.Struct:
		s.mapping(n, t, path)
	case t.Kind() == reflect.Slice:
		s.list(n, t.Elem(), path)
	case t.Kind() == reflect.Map:
		s.dictionary(n, t.Elem(), path)
	default:
		s.scalar(n, t.Kind(), path)
	}
}

// inRule reports whether a path leads into a rule, of the configuration or of a file with
// rules alone.
// The main file has rules below policy, a file with rules at its top.
func inRule(path keypath.Path) bool {
	i := slices.Index(path, keypath.Step{Key: "rules"})
	return (i == 0 || i == 1 && path[0].Key == "policy") && len(path) > i+2
}

// unmarshaler is what the YAML library asks to read a value by itself.
type unmarshaler interface{ UnmarshalYAML(n *yaml.Node) error }

// readsItself is true of the types that take any value, or any mapping.
func readsItself(t reflect.Type) bool {
	return t == reflect.TypeFor[secret.JSON]() || t == reflect.TypeFor[schema.Source]()
}

// mapping compares a mapping with a struct: each key once, and none that the struct lacks
// (unknownkeys.go).
func (s *shape) mapping(n *yaml.Node, t reflect.Type, path keypath.Path) {
	if n.Kind != yaml.MappingNode {
		s.wrong(n, path, "want a mapping, found %s", kindOf(n))
		return
	}
	// lines has the line of each key so far, for the one that stands there twice.
	known := fields(t)
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := target(n.Content[i]), n.Content[i+1]
		// A << key brings in another mapping, whose keys are held to the same struct.
		if key.ShortTag() == "!!merge" {
			s.merged(value, t, path)
			continue
		}
		if key.Kind != yaml.ScalarNode || isNull(key) {
			s.wrong(n.Content[i], path, "the key is not a name")
			continue
		}
		field, ok := known[key.Value]
		switch line, twice := lines[key.Value]; {
		case twice:
			s.wrong(n.Content[i], path, "key %q is set on line %d already", key.Value, line)
		case !ok:
			s.unknownKey(n.Content[i], path, key.Value, known)
		default:
			s.visit(value, field, extend(path, keypath.Step{Key: key.Value}))
		}
		lines[key.Value] = n.Content[i].Line
	}
}

// dictionary is a mapping whose keys are the operator's, such as names of claims. Any name will do,
// but an entry needs a value: to leave it out is to leave out the line.
func (s *shape) dictionary(n *yaml.Node, t reflect.Type, path keypath.Path) {
	if n.Kind != yaml.MappingNode {
		s.wrong(n, path, "want a mapping, found %s", kindOf(n))
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := target(n.Content[i]), n.Content[i+1]
		if key.Kind != yaml.ScalarNode || isNull(key) || key.ShortTag() == "!!merge" || key.Value == "" {
			s.wrong(n.Content[i], path, "the key is not a name")
			continue
		}
		line, twice := lines[key.Value]
		switch {
		case twice:
			s.wrong(n.Content[i], path, "key %q is set on line %d already", key.Value, line)
		case isNull(target(value)):
			s.wrong(n.Content[i], path, "key %q has no value", key.Value)
		default:
			s.visit(value, t, extend(path, keypath.Step{Key: key.Value}))
		}
		lines[key.Value] = n.Content[i].Line
	}
}

// merged checks the mapping or mappings of a << key (the merge key of YAML 1.1). What it brings in
// may be said again by the mapping itself, and then does not count.
func (s *shape) merged(n *yaml.Node, t reflect.Type, path keypath.Path) {
	n = target(n)
	if n.Kind != yaml.SequenceNode {
		s.mapping(n, t, path)
		return
	}
	for _, one := range n.Content {
		s.mapping(target(one), t, path)
	}
}

// list compares the items of a list. An item without a value is dropped by the YAML library, which
// would leave a shorter list than the one that is written.
func (s *shape) list(n *yaml.Node, item reflect.Type, path keypath.Path) {
	if n.Kind != yaml.SequenceNode {
		s.wrong(n, path, "want a list, found %s", kindOf(n))
		return
	}
	for i, one := range n.Content {
		if isNull(target(one)) {
			s.wrong(one, path, "the list has an item without a value")
			continue
		}
		s.visit(one, item, extend(path, keypath.Step{Index: i, Item: true}))
	}
}

// scalar compares a single value. Numbers and truth values are taken for texts, as an id may look
// like a number; texts in quotes are taken for nothing else.
// A text that looks like a number to YAML, as 1.0, is read as it is written.
func (s *shape) scalar(n *yaml.Node, want reflect.Kind, path keypath.Path) {
	tag := n.ShortTag()
	if s.texts && want == reflect.String && n.Kind == yaml.ScalarNode {
		n.Tag = "!!str"
	}
	switch {
	case n.Kind != yaml.ScalarNode && want == reflect.String:
		s.wrong(n, path, "want a text, found %s", kindOf(n))
	case want == reflect.Bool && tag != "!!bool":
		s.wrong(n, path, "want true or false")
	case want == reflect.Int && tag != "!!int":
		s.wrong(n, path, "want a whole number")
	case want == reflect.Float64 && tag != "!!int" && tag != "!!float":
		s.wrong(n, path, "want a number")
	}
}

// secret accepts what secret.Value reads, and says nothing about anything else:
// it may be the secret itself in the wrong place.
func (s *shape) secret(n *yaml.Node, path keypath.Path) {
	if n.Kind == yaml.ScalarNode {
		return
	}
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 || target(n.Content[0]).Value != "file" {
		s.wrong(n, path, "want the secret itself or {file: PATH}")
		return
	}
	file := target(n.Content[1])
	if file.Kind != yaml.ScalarNode || file.ShortTag() != "!!str" || file.Value == "" {
		s.wrong(n, path, "want the secret itself or {file: PATH}")
		return
	}
	// An anchor may be met several times; its path is made absolute once.
	if !s.resolved[file] && !filepath.IsAbs(file.Value) {
		file.Value = filepath.Join(s.dir, file.Value)
	}
	s.resolved[file] = true
}

// extend is append that never shares what it appends to.
func extend(path keypath.Path, step keypath.Step) keypath.Path {
	return append(slices.Clip(path), step)
}
