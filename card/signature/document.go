package signature

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a card.
// They are well above what real cards have, and keep the time for one card within milliseconds:
// every form is made and hashed for every signature.
const (
	maxCard       = 1 << 20
	maxDepth      = 64
	maxSignatures = 16
)

// value is a JSON value as it stands in a card. Numbers keep their digits, since forms
// differ in how they are written.
// It is not map[string]any: order, digits and duplicate names would be lost, and all of them matter
// to what was signed.
type value struct {
	kind    jsontext.Kind // '{', '[', '"', '0', 't', 'f', 'n'
	text    string        // of a string, unquoted; of a number, its literal
	list    []value
	members []member
}

// member is one member of an object. They are kept in a list: their order is part of what some sign.
type member struct {
	name  string
	value value
}

// maxInteger is the largest integer up to which every one is a double.
const maxInteger = 1<<53 - 1

// read reads a document that has one reading only: UTF-8, no name twice, nothing after it.
// A byte order mark in front is dropped, which RFC 8259 section 8.1 allows readers to do.
func read(doc []byte) (value, error) {
	if len(doc) > maxCard {
		return value{}, fmt.Errorf("larger than %d bytes", maxCard)
	}
	doc = bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf"))
	d := jsontext.NewDecoder(bytes.NewBuffer(doc))
	v, err := readValue(d)
	if err != nil {
		return value{}, err
	}
	if len(bytes.TrimLeft(doc[d.InputOffset():], " \t\r\n")) > 0 {
		return value{}, errors.New("text after the JSON value")
	}
	if v.kind != '{' {
		return value{}, errors.New("not a JSON object")
	}
	return v, nil
}

// readValue reads a value whose numbers stay as they are written: what was signed is their text.
func readValue(d *jsontext.Decoder) (value, error) {
	tok, err := d.ReadToken()
	if err != nil {
		return value{}, err
	}
	// The bound keeps the recursion below from being as deep as an agent likes.
	if d.StackDepth() > maxDepth {
		return value{}, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	v := value{kind: tok.Kind()}
	switch v.kind {
	case '"', '0':
		v.text = tok.String()
	case '[':
		v.list, err = readList(d)
	case '{':
		v.members, err = readMembers(d)
	}
	return v, err
}

// readList reads to the end of an array.
func readList(d *jsontext.Decoder) ([]value, error) {
	list := []value{}
	for d.PeekKind() != ']' {
		v, err := readValue(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.ReadToken()
	return list, err
}

// readMembers reads to the end of an object. The decoder takes no name twice.
func readMembers(d *jsontext.Decoder) ([]member, error) {
	members := []member{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		if m.value, err = readValue(d); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	_, err := d.ReadToken()
	return members, err
}

// numbers looks at the literal of every number at any depth.
// It stops at the first error.
func (v *value) numbers(check func(literal string) error) error {
	if v.kind == '0' {
		return check(v.text)
	}
	for i := range v.list {
		if err := v.list[i].numbers(check); err != nil {
			return err
		}
	}
	for i := range v.members {
		if err := v.members[i].value.numbers(check); err != nil {
			return err
		}
	}
	return nil
}

// isFinite is about numbers that are doubles where they are read: 1e400 would be infinite there.
func isFinite(literal string) error {
	if _, err := strconv.ParseFloat(literal, 64); err != nil {
		return fmt.Errorf("the number %.40s is too large for a double (RFC 8785 §3.1)", literal)
	}
	return nil
}

// isDouble makes sure that canonical form does not change a number: in RFC 8785 all are
// doubles, and a reader with larger integers would see another one than was signed.
// An integer such as 9007199254740993 would be signed by one reader as it is written and verified
// by another as 9007199254740992.
func isDouble(literal string) error {
	if err := isFinite(literal); err != nil {
		return err
	}
	f, _ := strconv.ParseFloat(literal, 64)
	if math.Abs(f) <= maxInteger || strings.ContainsAny(literal, ".eE") ||
		literal == strconv.FormatFloat(f, 'f', 0, 64) || literal == strconv.FormatFloat(f, 'f', -1, 64) {
		return nil
	}
	return fmt.Errorf("the number %.40s is another one as a double (RFC 8785 §3.1)", literal)
}

// find is a member by its name, nil if there is none. Objects of cards have few members.
func (v *value) find(name string) *value {
	for i := range v.members {
		if v.members[i].name == name {
			return &v.members[i].value
		}
	}
	return nil
}

// without is v less one member.
// v itself stays as it is: forms share its parts.
func (v value) without(name string) value {
	members := make([]member, 0, len(v.members))
	for _, m := range v.members {
		if m.name != name {
			members = append(members, m)
		}
	}
	v.members = members
	return v
}

// append writes v as it was read, but for white space and the spelling of strings, which no form
// keeps.
func (v *value) append(b []byte) []byte {
	switch v.kind {
	case '"':
		return appendQuoted(b, v.text)
	case '0':
		return append(b, v.text...)
	case '[':
		b = append(b, '[')
		for i := range v.list {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.list[i].append(b)
		}
		return append(b, ']')
	case '{':
		b = append(b, '{')
		for i := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, v.members[i].name), ':')
			b = v.members[i].value.append(b)
		}
		return append(b, '}')
	}
	return append(b, v.kind.String()...) // null, true, false
}

// appendQuoted cannot fail: what was read is UTF-8.
func appendQuoted(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}
