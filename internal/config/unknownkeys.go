package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
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
	best, distance := "", 3 // more than two slips are another word
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if d := slips(strings.ToLower(key), strings.ToLower(name)); d < distance && d < len(name)-1 {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return `, did you mean "` + best + `"?`
}

// slips is the edit distance (Levenshtein) of two short words. A key of a file can be of any length,
// and is not worth a table of that size.
// One row of the table is kept: each entry needs its neighbours of the row before and the one to
// its left.
func slips(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
