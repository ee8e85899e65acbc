package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Numbers beyond these are refused: comparing 1e999999 would fill the memory with
// its digits.
const (
	maxDigits   = 400
	maxExponent = 400
)

// Both end the parsing; what they are about is told apart by parse.
var (
	errImmense = errors.New("a number too long to be checked")
	errTwice   = errors.New("two members of one name")
)

// reader reads JSON where it lies. Names that are there twice are errors.
func reader(value []byte) *jsontext.Decoder { return jsontext.NewDecoder(bytes.NewBuffer(value)) }

// parser makes of a value what the library takes, with every digit of its numbers, in
// less time than the library does.
// A parser is for one value. Numbers become int64 or json.Number, so that 0.1 stays what was
// written.
type parser struct {
	d     *jsontext.Decoder
	names map[string]string // what members are likely to be called
	items []any             // of the arrays that are open, innermost last
}

// parse reads a value.
func parse(value []byte, names map[string]string) (any, *Violation) {
	// Names that are there twice are found when they are put into their object.
	p := parser{d: jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true)), names: names}
	v, err := p.next()
	switch {
	case errors.Is(err, errImmense):
		return nil, &Violation{string(p.d.StackPointer()), err.Error()}
	case err != nil:
		return nil, &Violation{Text: "not JSON"}
	}
	// Something behind the value would be read by nobody here, and by somebody else.
	if _, err := p.d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &Violation{Text: "not JSON"}
	}
	return v, nil
}

// next reads one value. The decoder bounds how deep it is nested.
// The result is what encoding/json makes of JSON, but for numbers.
func (p *parser) next() (any, error) {
	switch p.d.PeekKind() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	}
	raw, err := p.d.ReadValue()
	if err != nil {
		return nil, err
	}
	switch raw.Kind() {
	case '"':
		return unquote(raw)
	case '0':
		return number(raw)
	case 't', 'f':
		return raw[0] == 't', nil
	}
	return nil, nil
}

// object reads an object, whose first token is next. A repeated name is an error: the agent may
// take the other of the two values.
func (p *parser) object() (any, error) {
	if _, err := p.d.ReadToken(); err != nil {
		return nil, err
	}
	object := map[string]any{}
	for p.d.PeekKind() != '}' {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		n := len(object)
		if object[name], err = p.next(); err != nil {
			return nil, err
		}
		if len(object) == n {
			return nil, errTwice
		}
	}
	_, err := p.d.ReadToken()
	return object, err
}

// name reads the name of a member, or finds out that there is none.
// The names of the schema are compared as they are written, quotes and escapes included.
func (p *parser) name() (string, error) {
	raw, err := p.d.ReadValue()
	if err != nil {
		return "", err
	}
	if name, ok := p.names[string(raw)]; ok {
		return name, nil
	}
	return unquote(raw)
}

// array reads a list. Items are gathered in a stack that all lists of the value share, and copied
// when their number is known: one allocation for each list.
func (p *parser) array() (any, error) {
	if _, err := p.d.ReadToken(); err != nil {
		return nil, err
	}
	from := len(p.items)
	for p.d.PeekKind() != ']' {
		item, err := p.next()
		if err != nil {
			return nil, err
		}
		p.items = append(p.items, item)
	}
	array := append([]any{}, p.items[from:]...)
	clear(p.items[from:])
	p.items = p.items[:from]
	_, err := p.d.ReadToken()
	return array, err
}

// unquote makes a text of a string as it is written.
// A string without a backslash is the bytes between its quotes.
func unquote(raw []byte) (string, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err
}

// number is a whole number where it is a small one, which costs less.
func number(raw []byte) (any, error) {
	const digits = 18 // always fit
	if len(raw) <= digits {
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return n, nil
		}
	}
	text := string(raw)
	if immense(text) {
		return nil, errImmense
	}
	return json.Number(text), nil
}

// namesIn adds to names what members are called in a schema, which is where members of
// values get their names from. The keys are as the names are written.
func namesIn(doc any, names map[string]string) {
	switch doc := doc.(type) {
	case map[string]any:
		for name, value := range doc {
			if quoted, err := jsontext.AppendQuote(nil, name); err == nil {
				names[string(quoted)] = name
			}
			namesIn(value, names)
		}
	case []any:
		for _, value := range doc {
			namesIn(value, names)
		}
	}
}

// immense reports a number with too many digits, or an exponent that would make them.
func immense(number string) bool {
	if len(number) > maxDigits {
		return true
	}
	at := strings.IndexAny(number, "eE")
	if at < 0 {
		return false
	}
	n, err := strconv.Atoi(number[at+1:])
	return err != nil || n > maxExponent || n < -maxExponent
}
