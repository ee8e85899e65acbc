package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// FuzzCheck feeds one schema with every keyword that looks at values.
func FuzzCheck(f *testing.F) {
	s := compile(f, `{"type":["object","array","number","string"],"required":["a"],"propertyNames":{"maxLength":8},
		"properties":{"a":{"$ref":"#"},"n":{"type":"integer","minimum":1,"multipleOf":0.5},"c":{"const":1.5},
		"e":{"enum":[1,"a",{"b":1}]}},"items":{"$ref":"#"},"uniqueItems":true,"contains":{"type":"number"},
		"anyOf":[{"maxProperties":3},{"format":"date-time"}],"unevaluatedProperties":{"pattern":"^x"},
		"not":{"const":1e3},"maxLength":5,"exclusiveMaximum":1e300}`)
	for _, seed := range []string{`{"a":[1,2]}`, `{"a":{"n":1e9999999}}`, `[1,1.0,{"e":{"b":1}}]`, `"\ud800"`, "\"\xff\"",
		`{"a":1,"a":2}`, `{"a":1,"\u0061":[]}`, `{"\u0061":{"b":[-7,0,-0,123456789012345678,1234567890123456789]},"e":"\n"}`, `{"":{"~/":[-0]}}`, `1E+400`, `[[[[[]]]]]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		first, again := s.check(value), s.check(value)
		if (first == nil) != (again == nil) || first != nil && *first != *again {
			t.Fatalf("%v, then %v", first, again)
		}
		if first == nil && !json.Valid(value) {
			t.Fatal("accepted what is not JSON")
		}
		if got, unread := parse(value, s.names); unread == nil {
			if want, err := jsonschema.UnmarshalJSON(bytes.NewReader(value)); err != nil || !alike(got, want) {
				t.Fatalf("read as %#v, not %#v (%v)", got, want, err)
			}
		}
		if first != nil && !jsontext.Pointer(first.Pointer).IsValid() {
			t.Fatalf("%q is no pointer", first.Pointer)
		}
		for range 3 {
			if err := s.Check(value); (err == nil) != (first == nil) || err != nil && err.Error() != first.Error() {
				t.Fatalf("%v, from memory %v", first, err)
			}
		}
	})
}

// alike reports whether two values are the same to the library.
func alike(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, alike)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, alike)
	case int64, json.Number:
		m, _ := new(big.Rat).SetString(fmt.Sprint(a))
		n, ok := new(big.Rat).SetString(fmt.Sprint(b))
		return ok && m.Cmp(n) == 0
	}
	return a == b
}

// FuzzCompile looks for schemas that break the compiler, or reach outside.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{order, `{"$ref":"#"}`, `{"$id":"x","$anchor":"a","$dynamicRef":"#a"}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://[::1"}`, `{"patternProperties":{"(":true}}`,
		`{"$ref":"file:///etc/passwd"}`, `{"items":{"$recursiveRef":"#"},"$schema":"https://json-schema.org/draft/2019-09/schema"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		s, err := Compile(Source{Inline: append([]byte{}, schema...)})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("more than one line: %q", err)
			}
			return
		}
		_ = s.Check([]byte(`{"a":[1,"b",{}]}`))
	})
}
