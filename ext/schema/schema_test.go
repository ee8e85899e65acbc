package schema

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secretText must never stand in a violation.
const secretText = "hunter2"

func compile(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := Compile(Source{Inline: []byte(schema)})
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return s
}

// TestCheck names the keyword and the place, one row for every keyword.
func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct{ schema, value, want string }{
		{`true`, `1`, ``},
		{`false`, `1`, `schema: not allowed`},
		{`{}`, `nope`, `not JSON`},
		{`{}`, `1 2`, `not JSON`},
		{`{}`, ``, `not JSON`},
		{`{}`, ` `, `not JSON`},
		{`{}`, `{"a":1,}`, `not JSON`},
		{`{}`, `[1,]`, `not JSON`},
		{`{}`, `[1`, `not JSON`},
		{`{}`, `{"a"`, `not JSON`},
		{`{}`, `{"a":1,"a":2}`, `not JSON`},
		{`{}`, "\"\xff\"", `not JSON`},
		{`{}`, ` [1, {"a" : [ ] } ] `, ``},
		{`{"const":{"a":["\u00fc",-1.50,true,null]}}`, `{"a":["ü",-15e-1,true,null]}`, ``},
		{`{"type":"string"}`, `"hunter2"`, ``},
		{`{"type":"string"}`, `1`, `type: found number, want string`},
		{`{"type":["string","null"]}`, `{}`, `type: found object, want null or string`},
		{`{"type":"integer"}`, `1.5`, `type: found number, want integer`},
		{`{"type":"integer"}`, `1.0`, ``},
		{`{"enum":["a",1,null,true]}`, `"hunter2"`, `enum: want "a" or 1 or null or true`},
		{`{"enum":[[1]]}`, `"hunter2"`, `enum: not a value that is allowed`},
		{`{"const":{"a":1}}`, `{"a":2}`, `const: not a value that is allowed`},
		{`{"const":"EUR"}`, `"hunter2"`, `const: want "EUR"`},
		{`{"const":12345678901234567890}`, `12345678901234567891`, `const: want 12345678901234567890`},
		{`{"format":"date"}`, `"hunter2"`, `format: not a valid date`},
		{`{"format":"date"}`, `"2027-03-31"`, ``},
		{`{"pattern":"^[0-9]+$"}`, `"hunter2"`, `pattern: does not match ^[0-9]+$`},
		{`{"minLength":9}`, `"hunter2"`, `minLength: want at least 9`},
		{`{"maxLength":3}`, `"hunter2"`, `maxLength: want at most 3`},
		{`{"minimum":3}`, `2`, `minimum: want at least 3`},
		{`{"maximum":0.5}`, `2`, `maximum: want at most 0.5`},
		{`{"exclusiveMinimum":3}`, `3`, `exclusiveMinimum: want more than 3`},
		{`{"exclusiveMaximum":3}`, `3`, `exclusiveMaximum: want less than 3`},
		{`{"multipleOf":0.1}`, `0.25`, `multipleOf: want a multiple of 0.1`},
		{`{"multipleOf":0.1}`, `0.3`, ``},
		{`{"minItems":2}`, `[1]`, `minItems: want at least 2`},
		{`{"maxItems":1}`, `[1,2]`, `maxItems: want at most 1`},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, `uniqueItems: items 0 and 2 are the same`},
		{`{"contains":{"type":"string"}}`, `[1]`, `contains: no item has the form that one must have`},
		{`{"contains":true,"minContains":2}`, `[1]`, `minContains: want at least 2`},
		{`{"contains":true,"maxContains":1}`, `[1,2]`, `maxContains: want at most 1`},
		{`{"prefixItems":[{"type":"string"}],"items":false}`, `["a",1]`, `/1: schema: not allowed`},
		{`{"unevaluatedItems":false,"prefixItems":[true]}`, `["a",1]`, `/1: unevaluatedItems: not allowed`},
		{`{"minProperties":2}`, `{"a":1}`, `minProperties: want at least 2`},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, `maxProperties: want at most 1`},
		{`{"required":["a"]}`, `{}`, `required: "a" is missing`},
		{`{"required":["a","b"]}`, `{}`, `required: "a", "b" are missing`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `dependentRequired: "b" is missing`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":1}`,
			`dependencies: "b" is missing`},
		{`{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"a":{"B1":1},"B1":1}`, `/a/B1: propertyNames: not allowed`},
		{`{"properties":{"a":true},"additionalProperties":false}`, `{"a":1,"c":2,"b":3}`,
			`/c: additionalProperties: not allowed`},
		{`{"properties":{"a":true},"unevaluatedProperties":false}`, `{"a":1,"c":2,"b":3}`,
			`/c: unevaluatedProperties: not allowed`},
		{`{"not":{"type":"string"}}`, `"hunter2"`, `not: has a form that is not allowed`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, `anyOf: has none of the forms that are allowed`},
		{`{"oneOf":[true,true]}`, `1`, `oneOf: has not exactly one of the forms that are allowed`},
		{`{"anyOf":[{"type":"string"},{"properties":{"a":{"type":"string"}}}]}`, `{"a":1}`,
			`/a: type: found number, want string`},
		{`{"if":{"type":"object"},"then":{"required":["a"]}}`, `{}`, `required: "a" is missing`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a/b~c":{"type":"string"}}}}}`, `{"a/b~c":1}`,
			`/a~1b~0c: type: found number, want string`},
		{`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["c"]}`, `{"b":1,"a":2}`,
			`/b: type: found number, want string`},
		{`{"items":{"type":"string"}}`, `["a",["b"],3]`, `/1: type: found array, want string`},
		{`{"minimum":1}`, `1e999999999`, `a number too long to be checked`},
		{`{}`, `{"a":[1,1e-401]}`, `/a/1: a number too long to be checked`},
		{`{"minimum":1}`, `1E400`, ``},
		{`{"contentMediaType":"application/json"}`, `"{"`, ``},
	}
	for _, tt := range tests {
		s := compile(t, tt.schema)
		for range 4 { // the third time from memory
			err := s.Check([]byte(tt.value))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want || strings.Contains(got, secretText) {
				t.Errorf("%s of %s: %q, want %q", tt.schema, tt.value, got, tt.want)
			}
			if violation := (*Violation)(nil); err != nil && !errors.As(err, &violation) {
				t.Errorf("%s: %T", tt.schema, err)
			}
		}
	}
}

// TestCheckIsDeterministic has many faults in places that maps do not order.
func TestCheckIsDeterministic(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"additionalProperties":{"propertyNames":{"maxLength":1},"additionalProperties":false,
		"required":["q"],"minProperties":9}}`)
	const value = `{"z":{"x":1,"bb":2},"y":{"aa":1},"x":{}}`
	for range 50 {
		if v := s.check([]byte(value)); v == nil || v.Pointer != "/z/x" {
			t.Fatalf("%v", v)
		}
	}
}

func TestNilSchema(t *testing.T) {
	t.Parallel()
	s, err := Compile(Source{})
	if s != nil || err != nil || s.Check([]byte("nope")) != nil {
		t.Errorf("%v, %v", s, err)
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("other/s.json", `true`)
	write("in/self.json", `{`)
	link := filepath.Join(dir, "in", "link.json")
	if err := os.Symlink("../other/s.json", link); err != nil {
		t.Fatal(err)
	}
	outside := write("in/outside.json", `{"$ref":"../other/s.json"}`)
	tests := []struct {
		name string
		in   Source
		want []string
	}{
		{"syntax", Source{Inline: []byte(`{`)}, []string{"not JSON"}},
		{"two values", Source{Inline: []byte(`{} {}`)}, []string{"not one JSON value"}},
		{"twice", Source{Inline: []byte(`{"type":"string","type":"null"}`)}, []string{"duplicate", "type"}},
		{"not a schema", Source{Inline: []byte(`[]`)}, []string{"type: found array, want boolean or object"}},
		{"wrong keyword", Source{Inline: []byte(`{"properties":{"a":{"type":"strin"}}}`)}, []string{"/properties/a/type: "}},
		{"wrong limit", Source{Inline: []byte(`{"items":{"minLength":-1}}`)}, []string{"/items/minLength: minimum: want at least 0"}},
		{"look-around", Source{Inline: []byte(`{"pattern":"(?=a)"}`)}, []string{"/pattern: format: not a valid regex"}},
		{"no such definition", Source{Inline: []byte(`{"$ref":"#/$defs/x"}`)}, []string{"$defs/x"}},
		{"network", Source{Inline: []byte(`{"$ref":"https://127.0.0.1:1/s.json"}`)}, []string{"https://127.0.0.1:1/s.json", "nothing else is read"}},
		{"network by id", Source{Inline: []byte(`{"$id":"https://127.0.0.1:1/","$ref":"s.json"}`)}, []string{"nothing else is read"}},
		{"metaschema", Source{Inline: []byte(`{"$schema":"https://127.0.0.1:1/"}`)}, []string{"nothing else is read"}},
		{"file from inline", Source{Inline: []byte(`{"$ref":"file:///etc/passwd"}`)}, []string{"nothing else is read"}},
		{"neighbour from inline", Source{Inline: []byte(`{"$ref":"s.json"}`)}, []string{"nothing else is read"}},
		{"elsewhere", Source{File: outside}, []string{"outside.json: ", "nothing else is read"}},
		{"up and down", Source{File: write("in/up.json", `{"$ref":"../in/../other/s.json"}`)}, []string{"nothing else is read"}},
		{"symbolic link", Source{File: write("in/links.json", `{"$ref":"link.json"}`)}, []string{"link.json", "escapes"}},
		{"broken neighbour", Source{File: write("in/broken.json", `{"$ref":"self.json"}`)}, []string{"self.json", "not JSON"}},
		{"no neighbour", Source{File: write("in/alone.json", `{"$ref":"none.json"}`)}, []string{"none.json"}},
		{"no file", Source{File: filepath.Join(dir, "none.json")}, []string{"none.json: no such file"}},
		{"directory", Source{File: dir}, []string{"not a regular file"}},
		{"device", Source{File: "/dev/zero"}, []string{"not a regular file"}},
		{"too large", Source{File: write("in/large.json", `"`+strings.Repeat("x", maxFile)+`"`)}, []string{"larger than 1MiB"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile(tt.in)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range append(tt.want, "") {
				if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %q, want one line with %q", err, want)
				}
			}
		})
	}
}

func TestCompileFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a b#c.json":  `{"$ref":"shared.json#/$defs/code"}`,
		"shared.json": `{"$defs":{"code":{"type":"string","$ref":"#/$defs/short"},"short":{"maxLength":4}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Compile(Source{File: filepath.Join(dir, "a b#c.json")})
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]bool{`"4711"`: true, `"47110"`: false, `4711`: false} {
		if err := s.Check([]byte(value)); (err == nil) != want {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestCompileDrafts makes sure that metaschemas come from the library.
func TestCompileDrafts(t *testing.T) {
	t.Parallel()
	for _, draft := range []string{
		"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#",
		"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema",
		"https://json-schema.org/draft/2020-12/schema",
	} {
		s := compile(t, `{"$schema":"`+draft+`","type":"string","format":"date-time"}`)
		if err := s.Check([]byte(`"hunter2"`)); err == nil {
			t.Errorf("%s: formats are not asserted", draft)
		}
	}
}
