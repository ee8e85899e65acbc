package message

import (
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// manyValues bounds the JSON values of one message that are read: an empty object takes
// three bytes in a document and twenty times as many here.
const manyValues = 200_000

// marks reads metadata; nil for none, and for what is empty, which some write in place
// of none.
func (r *messageReader) marks(what string) map[string]any {
	if !r.IsObject(what) {
		return nil
	}
	if m := r.dictionary(); len(m) > 0 {
		return m
	}
	return nil
}

// anything reads the value that comes next, into memory of its own.
//
// A JSON value becomes what Go's encoding/json makes of one: map[string]any, []any, string, float64,
// bool or nil. That is what CEL expressions of rules and policy decision points are given.
func (r *messageReader) anything() any {
	if r.values++; r.values > manyValues {
		r.Stop(wire.Errorf(wire.TooLarge, "the message holds more than %d values", manyValues))
	}
	switch r.Kind() {
	case '{':
		return r.dictionary()
	case '[':
		list := []any{}
		for r.Enter(); r.More(); {
			list = append(list, r.anything())
		}
		return list
	case '"':
		return string(r.Text())
	case '0':
		return r.float()
	case 't':
		r.Skip()
		return true
	case 'f':
		r.Skip()
		return false
	}
	r.Skip()
	return nil
}

// dictionary reads an object. No name comes twice: the scanner has refused the document else.
func (r *messageReader) dictionary() map[string]any {
	m := map[string]any{}
	for r.Enter(); r.More(); {
		name := string(r.Name())
		m[name] = r.anything()
	}
	return m
}

// float reads a number as JavaScript, and with it most agents, reads it. One that has no double is
// refused, since rules would compare with an infinity.
func (r *messageReader) float() float64 {
	start, end := r.Skip()
	f, err := strconv.ParseFloat(string(r.Doc[start:end]), 64)
	if err != nil {
		r.Invalid("a number is too large")
	}
	return f
}

// at reads a value that has been passed over.
func (r *messageReader) at(span [2]int) any {
	doc, pos := r.Doc, r.Pos
	r.Doc, r.Pos = doc[:span[1]], span[0]
	v := r.anything()
	r.Doc, r.Pos = doc, pos
	return v
}
