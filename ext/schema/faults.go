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
type faults struct {
	at    map[string]string // pointers to texts
	names map[string]string // member names that are wrong wherever they stand
}

// first finds the fault in the part of the value that ends first. The library tells
// faults in no order.
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
func isName(d *jsontext.Decoder) bool {
	k, n := d.StackIndex(d.StackDepth())
	return k == '{' && n%2 == 1
}

// any is the choice where the value does not say which is first: the deepest.
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
func (f *faults) add(e *jsonschema.ValidationError) {
	text := words(e)
	switch k := e.ErrorKind.(type) {
	case *kind.PropertyNames:
		// The library gets the place of these wrong, as it shares what it builds it in.
		put(f.names, k.Property, text)
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			put(f.at, pointer(append(slices.Clip(e.InstanceLocation), name)), text)
		}
	default:
		put(f.at, pointer(e.InstanceLocation), text)
	}
}

func put(texts map[string]string, key, text string) {
	if old, ok := texts[key]; !ok || text < old {
		texts[key] = text
	}
}

func pointer(tokens []string) string {
	var p jsontext.Pointer
	for _, t := range tokens {
		p = p.AppendToken(t)
	}
	return string(p)
}

// leaves are the errors that explain the others. Where none of several forms fits, and
// none of them goes deeper, the choice itself is what is not met.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
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
