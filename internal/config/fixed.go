package config

import (
	"reflect"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// restart is what the tag `reload` says of a field that a reload cannot take over: what is made of
// it lives as long as the process. A field without the tag is hot, or is refused by the package that
// cannot take it over, such as what is built into the public listener.
const restart = "restart"

// Fixed are the keys that the next configuration has different and that only a restart can change,
// in the order of their fields.
func (c *Config) Fixed(next *Config) []keypath.Path {
	return fixedIn(reflect.ValueOf(c).Elem(), reflect.ValueOf(next).Elem(), nil)
}

// fixedIn compares two structs of one type. A field that has the tag is compared as a whole, and
// told of by its own key; below others the comparison goes on. path is where the structs are in
// the file.
func fixedIn(old, now reflect.Value, path keypath.Path) []keypath.Path {
	var found []keypath.Path
	for i := range old.NumField() {
		f := old.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		at := path
		// The keys of an inlined struct stand in the mapping around it.
		if options != "inline" {
			at = extend(path, keypath.Step{Key: name})
		}
		switch {
		case f.Tag.Get("reload") == restart:
			if !reflect.DeepEqual(old.Field(i).Interface(), now.Field(i).Interface()) {
				found = append(found, at)
			}
		case f.Type.Kind() == reflect.Struct && hasKeys(f.Type):
			found = append(found, fixedIn(old.Field(i), now.Field(i), at)...)
		}
	}
	return found
}
