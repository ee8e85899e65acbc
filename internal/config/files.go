package config

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// What the tag `file` of a field says of the paths in it, a text or a list of them. A field with
// the tag is all that a key needs to be relative to the file it stands in, to be opened by Check,
// and to be left out of what replicas compare.
const (
	readFiles  = "read"        // the gateway reads the file, also again when it changes
	readOrURL  = "read-or-url" // the same, unless it is a URL, which nobody fetches
	writeFiles = "write"       // a file or directory of the gateway's own, which need not be there yet
)

// absolute makes a path relative to a directory, unless it is absolute or none.
func absolute(dir string) func(path *string) {
	return func(path *string) {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
}

// readPaths visits the path of every file that a section names and that the gateway reads. Those
// of secrets are not among them: {file: PATH} is replaced by what is in the file when it is read.
//
//	CA []string `yaml:"ca" file:"read"`
//
// The function may change the path: resolve makes it absolute with it.
func readPaths(section any, in func(path *string)) {
	w := pathWalk{in: in, tags: []string{readFiles, readOrURL}}
	w.visit(reflect.ValueOf(section))
}

// writtenPaths is readPaths for what the gateway writes.
func writtenPaths(section any, in func(path *string)) {
	w := pathWalk{in: in, tags: []string{writeFiles}}
	w.visit(reflect.ValueOf(section))
}

// pathWalk walks the fields of the configuration's types, in the order of their declaration.
// It goes by reflection so that a new key with a file is not forgotten in one of the three places
// that have to know of it.
type pathWalk struct {
	in   func(path *string)
	tags []string
}

// Fields without the tag are looked into; maps and lists of structs as well.
func (w *pathWalk) visit(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			w.visit(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.visit(v.Index(i))
		}
	case reflect.Map:
		w.entries(v)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch tag := f.Tag.Get("file"); {
			case !f.IsExported():
			case tag == "":
				w.visit(v.Field(i))
			// A field with another tag than those that are wanted is not looked into: it is a
			// path.
			case slices.Contains(w.tags, tag):
				w.paths(v.Field(i), tag)
			}
		}
	}
}

// entries visits the structs of a map, in the order of their keys. What a map holds cannot be
// changed in place: each is put back.
func (w *pathWalk) entries(m reflect.Value) {
	if m.Type().Elem().Kind() != reflect.Struct {
		return
	}
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		entry := reflect.New(m.Type().Elem()).Elem()
		entry.Set(m.MapIndex(key))
		w.visit(entry)
		m.SetMapIndex(key, entry)
	}
}

// paths visits those of one field.
func (w *pathWalk) paths(v reflect.Value, tag string) {
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			w.paths(v.Index(i), tag)
		}
		return
	}
	path, ok := v.Addr().Interface().(*string) // TestFileTags holds the fields to it
	if !ok || tag == readOrURL && !isFile(*path) {
		return
	}
	w.in(path)
}
