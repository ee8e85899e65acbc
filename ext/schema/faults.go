package schema

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// faults are what is wrong with a value, by place.
// Both are kept apart as a wrong name has no value yet that a pointer could lead to.
type faults struct {
	at    map[string]string // pointers to texts
	names map[string]string // member names that are wrong wherever they stand
}

// first finds the fault in the part of the value that ends first. The library tells
// faults in no order.
//
//	{"a": {"b": 1}, "c": 2}  wrong at /c and /a/b  →  /a/b
//
// The same value is told of with the same fault each time, whatever the order of the library's
// map. Values are read once more only where something is wrong.
func first(value []byte, e *jsonschema.ValidationError) *Violation {
	f := faults{map[string]string{}, map[string]string{}}
	for _, leaf := range leaves(e) {
		f.add(leaf)
	}
	d := reader(value)
	for {
		token, err := d.ReadToken()
		if err != nil {
			return f.any()
		}
		// The end of an object or a list is a token, too: its pointer is that of the whole.
		texts, key := f.at, ""
		switch k := token.Kind(); {
		case k == '{' || k == '[':
			continue
		case k == '"' && isName(d):
			if len(f.names) == 0 {
				continue
			}
			texts, key = f.names, token.String()
		default:
			key = string(d.StackPointer())
		}
		if text, ok := texts[key]; ok {
			return &Violation{string(d.StackPointer()), text}
		}
	}
}

// isName reports whether what was just read is the name of a member.
// The decoder counts names and values of an object alike: after a name the count is odd.
func isName(d *jsontext.Decoder) bool {
	k, n := d.StackIndex(d.StackDepth())
	return k == '{' && n%2 == 1
}

// any is the choice where the value does not say which is first: the deepest.
// It is asked for schemas themselves, where value is nil, and for faults at places that the value
// lacks.
func (f *faults) any() *Violation {
	deepest := func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) }
	for _, at := range slices.SortedFunc(maps.Keys(f.at), deepest) {
		return &Violation{at, f.at[at]}
	}
	for _, name := range slices.Sorted(maps.Keys(f.names)) {
		return &Violation{"", f.names[name]}
	}
	return &Violation{Text: "not allowed"}
}

// add writes a fault down. Of two at one place it keeps the first by the alphabet.
// An error without a place of its own is that of the value as a whole, "".
func (f *faults) add(e *jsonschema.ValidationError) {
	text := words(e)
	switch k := e.ErrorKind.(type) {
	case *kind.PropertyNames:
		// The library gets the place of these wrong, as it shares what it builds it in.
		put(f.names, k.Property, text)
	// The fault is that of each member that is too many, not of the object around them.
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			put(f.at, pointer(append(slices.Clip(e.InstanceLocation), name)), text)
		}
	default:
		put(f.at, pointer(e.InstanceLocation), text)
	}
}

// put keeps one text for each key, the same one in any order of faults.
func put(texts map[string]string, key, text string) {
	if old, ok := texts[key]; !ok || text < old {
		texts[key] = text
	}
}

// pointer is the JSON pointer of the names and indexes that lead to a value.
func pointer(tokens []string) string {
	var p jsontext.Pointer
	for _, t := range tokens {
		p = p.AppendToken(t)
	}
	return string(p)
}

// leaves are the errors that explain the others. Where none of several forms fits, and
// none of them goes deeper, the choice itself is what is not met.
// The library's error is a tree, with a node for each keyword that failed because of others.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	// The causes of these are about names, or about each item, and say less than they do.
	case *kind.PropertyNames, *kind.Contains, *kind.MinContains:
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		all = slices.DeleteFunc(all, func(leaf *jsonschema.ValidationError) bool {
			return len(leaf.InstanceLocation) <= len(e.InstanceLocation)
		})
	}
	if len(all) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	return all
}
