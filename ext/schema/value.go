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

// errImmense is a number that is refused.
var errImmense = errors.New("a number too long to be checked")

// reader reads JSON where it lies. Names that are there twice are errors.
func reader(value []byte) *jsontext.Decoder { return jsontext.NewDecoder(bytes.NewBuffer(value)) }

// parse makes of a value what the library takes, with every digit of its numbers, in
// less time than the library does.
func parse(value []byte) (any, *Violation) {
	d := reader(value)
	v, err := next(d)
	switch {
	case errors.Is(err, errImmense):
		return nil, &Violation{string(d.StackPointer()), err.Error()}
	case err != nil:
		return nil, &Violation{Text: "not JSON"}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &Violation{Text: "not JSON"}
	}
	return v, nil
}

// next reads one value. The decoder bounds how deep it is nested.
func next(d *jsontext.Decoder) (any, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return members(d)
	case '[':
		return items(d)
	case '"':
		return t.String(), nil
	case '0':
		number := t.String()
		if immense(number) {
			return nil, errImmense
		}
		return json.Number(number), nil
	case 't', 'f':
		return t.Bool(), nil
	}
	return nil, nil
}

func members(d *jsontext.Decoder) (any, error) {
	object := map[string]any{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // before the next token takes its place
		if object[key], err = next(d); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return object, err
}

func items(d *jsontext.Decoder) (any, error) {
	array := []any{}
	for d.PeekKind() != ']' {
		item, err := next(d)
		if err != nil {
			return nil, err
		}
		array = append(array, item)
	}
	_, err := d.ReadToken()
	return array, err
}

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
