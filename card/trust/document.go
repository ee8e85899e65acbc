package trust

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
)

// object is a JSON object without the members that are null. Its names are in camelCase
// where documents may have them in snake_case.
type object = map[string]any

var errNotObject = errors.New("not a JSON object")

// document reads a card.
// The size and depth of cards are bounded by who fetches them.
func document(doc []byte) (object, error) {
	var v any
	if err := json.Unmarshal(bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf")), &v); err != nil {
		return nil, fmt.Errorf("read card: %w", err)
	}
	top, ok := withoutNulls(v).(object)
	if !ok {
		return nil, fmt.Errorf("read card: %w", errNotObject)
	}
	return camelled(top), nil
}

// withoutNulls drops null members: everywhere in cards they stand for absent ones. Else an SDK that
// begins to write them would change every card.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case object:
		for name, m := range v {
			if m == nil {
				delete(v, name)
				continue
			}
			v[name] = withoutNulls(m)
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return v
}

// camelled is o with names_like_this, as Protobuf's readers take them too, in the form
// that A2A has. It knows a name by the same rule as those who read cards do: the exact one
// where it is there, else its SnakeCase. A name that is only like that (id_, provider__url)
// is nobody's, and would hide the one that is read.
func camelled(o object) object {
	out := make(object, len(o))
	for name, v := range o {
		to := camel(name)
		if _, exact := o[to]; exact || SnakeCase(to) != name {
			to = name
		}
		out[to] = v
	}
	return out
}

// camel is the name of a member in the spelling of JSON, of one in that of Protobuf. A name that
// begins with an underscore is in neither.
func camel(name string) string {
	if !strings.Contains(name, "_") || strings.HasPrefix(name, "_") {
		return name
	}
	parts := strings.Split(name, "_")
	for i, part := range parts[1:] {
		if part != "" {
			parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "")
}

// SnakeCase turns "preferredTransport" into "preferred_transport", the name by which
// members of cards are known beside their own.
func SnakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// What follows takes members out of an object, so that what is left in the end is what
// nobody knows. A member of another type than it should be of is left.

// take takes a member out of an object if it is of the type that it should be. Else it stays, and is
// compared with what else A2A does not define.
// The zero value is returned for a member that is absent or of another type.
func take[T any](o object, name string) T {
	v, ok := o[name].(T)
	if ok {
		delete(o, name)
	}
	return v
}

func takeText(o object, name string) string   { return take[string](o, name) }
func takeFlag(o object, name string) bool     { return take[bool](o, name) }
func takeList(o object, name string) []any    { return take[[]any](o, name) }
func takeObject(o object, name string) object { return camelled(take[object](o, name)) }

// asObject reads an item of a list, camelled; anything else is empty, as there is nothing in it that
// could be compared by meaning.
func asObject(v any) object {
	o, _ := v.(object)
	return camelled(o)
}

// texts are the strings of a list.
func texts(list []any) []string {
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// written is a value as JSON, for people.
// Deterministic, since texts of changes are compared between replicas.
func written(v any) string {
	if v == nil {
		return ""
	}
	out, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return "?"
	}
	return string(out)
}
