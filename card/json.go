package card

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
)

// Cards are read and written as ordered members over the original bytes, not as
// structs, so that big numbers, unknown members and the agent's order survive.

// member is one name and its value, a sub-slice of the document.
type member struct {
	name  string
	value jsontext.Value
}

// object is a JSON object's members in document order.
type object []member

// maxDepth bounds the nesting of a card, since reading recurses.
const maxDepth = 64

// check makes sure that raw is one JSON value which every parser must read
// alike: valid UTF-8, no repeated names, nothing after it, bounded depth.
func check(raw []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	for {
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		if d.StackDepth() > maxDepth {
			return fmt.Errorf("nested deeper than %d", maxDepth)
		}
		if d.StackDepth() == 0 {
			break
		}
	}
	if len(bytes.TrimSpace(raw[d.InputOffset():])) > 0 {
		return errors.New("text after the JSON value")
	}
	return nil
}

// members reads an object. Anything else, null and absence included, gives nil:
// a card with one odd member is still a card.
func members(v jsontext.Value) object {
	d := jsontext.NewDecoder(bytes.NewBuffer(v))
	if tok, err := d.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil
	}
	o := object{}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		o = append(o, member{text, span(v, d, len(value))})
	}
	return o
}

// elements reads an array, like members.
func elements(v jsontext.Value) []jsontext.Value {
	d := jsontext.NewDecoder(bytes.NewBuffer(v))
	if tok, err := d.ReadToken(); err != nil || tok.Kind() != '[' {
		return nil
	}
	list := []jsontext.Value{}
	for k := d.PeekKind(); k != ']' && k != 0; k = d.PeekKind() {
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		list = append(list, span(v, d, len(value)))
	}
	return list
}

// span is the value just read as a slice of the document itself, because what
// the decoder hands out is only lent.
func span(v jsontext.Value, d *jsontext.Decoder, n int) jsontext.Value {
	end := int(d.InputOffset())
	return v[end-n : end : end]
}

// find returns a known member: the exact camelCase name first, then the
// snake_case name that Protobuf and pydantic readers accept as well. Null counts
// as absent.
func (o object) find(name string) jsontext.Value {
	if v := o.exact(name); v != nil {
		return v
	}
	return o.exact(trust.SnakeCase(name))
}

// exact finds a member by its name alone, and not by another spelling of it as find does.
func (o object) exact(name string) jsontext.Value {
	for _, m := range o {
		if m.name == name && m.value.Kind() != 'n' {
			return m.value
		}
	}
	return nil
}

// present are the members that are not null.
func (o object) present() object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.value.Kind() == 'n' })
}

func (o object) text(name string) string { return text(o.find(name)) }
func (o object) flag(name string) bool   { return o.find(name).Kind() == 't' }

// put appends a member; a nil value is left out.
func (o *object) put(name string, v jsontext.Value) {
	if v != nil {
		*o = append(*o, member{name, v})
	}
}

// encode writes the object in its order, compact.
func (o object) encode() jsontext.Value {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, quote(m.name)...)
		out = append(out, ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

// array writes values as a JSON array; nil gives [].
func array(values []jsontext.Value) jsontext.Value {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// text reads a JSON string; anything else is "".
func text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(s)
}

// texts reads the strings of an array that are not empty.
func texts(v jsontext.Value) []string {
	var list []string
	for _, e := range elements(v) {
		if t := text(e); t != "" {
			list = append(list, t)
		}
	}
	return list
}

// quote writes a JSON string. Text that is not valid UTF-8 cannot come from a
// card; from a configuration it is mended rather than refused.
func quote(s string) jsontext.Value {
	v, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return jsontext.Value(`""`)
	}
	return v
}

// boolean writes one.
func boolean(b bool) jsontext.Value {
	if b {
		return jsontext.Value("true")
	}
	return jsontext.Value("false")
}

// fold reduces a member's name to what the most forgiving reader makes of it:
// Go's encoding/json ignores case and folds U+017F and U+212A, Protobuf readers
// ignore underscores. A member that folds to a name we write ourselves must not
// pass, or such a reader would take the agent's value for ours.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', 0:
			return -1
		case '\u017f':
			return 's'
		case '\u212a':
			return 'k'
		}
		return unicode.ToLower(r)
	}, name)
}

// names is a set of folded names that the writer owns.
type names map[string]bool

// known is a set of names in any spelling that a reader may take for theirs.
func known(list ...string) names {
	set := make(names, len(list))
	for _, name := range list {
		set[fold(name)] = true
	}
	return set
}

func (n names) has(name string) bool { return n[fold(name)] }
