package jsonscan

import (
	"bytes"
	"math"

	"github.com/go-json-experiment/json/jsontext"
)

// Member finds one member of an object that has been read before: object is where the object
// stands in doc, value where the member's value does. n is the number of members. Both are
// zero for what is no object, value is {0, 0} for an object without such a member.
//
// It reads the object again, once. That is cheaper than to keep, of every document, where
// each member stands: only a few objects are asked about.
func Member(doc []byte, object [2]int, name string, rules *Rules) (value [2]int, n int) {
	s := New(doc[:object[1]], math.MaxInt32, math.MaxInt32, rules)
	defer s.Release()
	s.Pos = object[0]
	if s.Kind() != '{' {
		return value, 0
	}
	for s.Enter(); s.More(); n++ {
		found := string(s.Name()) == name
		if from, to := s.Skip(); found {
			value = [2]int{from, to}
		}
	}
	return value, n
}

// MemberSpan is where the value of an object's member stands, {0, 0} for nowhere. The
// document has been read before: what is wrong with it was found then.
func MemberSpan(doc []byte, name string) (from, to int) {
	d := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowInvalidUTF8(true)) // half a surrogate pair may be there
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return 0, 0
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return 0, 0
		}
		found := t.String() == name
		v, err := d.ReadValue()
		if err != nil {
			return 0, 0
		}
		if found {
			to = int(d.InputOffset())
			return to - len(v), to
		}
	}
	return 0, 0
}

// IsObject reports whether data is a JSON object. What is wrong with it is for others to find.
func IsObject(data []byte) bool {
	v := jsontext.Value(data)
	return v.Kind() == '{' && v.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}
