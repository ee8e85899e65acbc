package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
)

// unknownKey tells of a key that the section does not have, with the one that may have been meant. What it
// would have said is not said at all, which is why it is an error and no warning.
func (s *shape) unknownKey(n *yaml.Node, path keypath.Path, key string, known map[string]reflect.Type) {
	s.wrong(n, path, "unknown key %q%s", key, guess(key, known))
}

// fields are the keys of a struct with their types, those of inlined structs
// included.
// Fields that are not written, with the name -, are none.
func fields(t reflect.Type) map[string]reflect.Type {
	known := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			for key, inner := range fields(f.Type) {
				known[key] = inner
			}
		case name != "-" && f.IsExported():
			known[name] = f.Type
		}
	}
	return known
}

// guess proposes the known key that was probably meant, "" for none: a key in another case, or with
// a letter too many, too few or in another's place.
func guess(key string, known map[string]reflect.Type) string {
	return spelling.Hint(key, slices.Collect(maps.Keys(known)))
}
