// Package schema holds values against JSON Schemas (draft 2020-12 unless a schema
// says otherwise).
//
// It owns where a schema comes from in the configuration, its compilation, and the
// results of values seen before. It does not own what a schema is about or what
// becomes of a value that breaks one. It never fetches anything: a schema that
// refers to a document outside of itself is refused, unless that is a file beside
// it. It may import internal/secret.
//
// A Source is a schema as the configuration has it (source.go); Compile makes a Schema of it with
// the library santhosh-tekuri/jsonschema, and Check holds a value against that in four steps:
//
//	memory.go  the result of the same bytes a moment ago, if there is one
//	value.go   the value is parsed, with every digit of its numbers
//	(library)  the value is held against the schema
//	faults.go  of all that is wrong the first part of the value is told, in the words of words.go
//
// The error names a place (RFC 6901) and a rule of the schema, and never quotes the value: it is
// written to logs and answered to callers, and values may be secrets.
package schema

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled schema. It is immutable but for what it remembers; any number
// of goroutines may use it. A nil Schema allows everything.
// It is made once for a section of the configuration, and asked by all calls on the agent.
type Schema struct {
	compiled *jsonschema.Schema
	names    map[string]string // of members, as they are written and as they are
	memory   *memory
}

// Violation is the first thing about a value that a schema does not allow: of those
// in the part of the value that ends first, so that a member is named before the
// object it is in.
// It is what Check returns as its error.
type Violation struct {
	Pointer string // RFC 6901, into the value; "" for the value as a whole
	Text    string // what is wrong, without the value itself, which may be a secret
}

// Error is Pointer and Text.
func (v *Violation) Error() string {
	if v.Pointer == "" {
		return v.Text
	}
	return v.Pointer + ": " + v.Text
}

// Compile reads and compiles a schema. Formats are asserted, contents of texts are
// not. Patterns are RE2's: they run in linear time, and know no look-around. The
// schema of the zero Source is nil.
// An error of an inline schema is at the key that is wrong; one of a file names the file.
func Compile(s Source) (*Schema, error) {
	if s.IsZero() {
		return nil, nil
	}
	doc, at, beside, err := s.read()
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	// Without a loader of its own the library would read any file: and network addresses are never
	// read.
	c.UseLoader(beside)
	if err := c.AddResource(at, doc); err != nil {
		return nil, s.told(err, doc)
	}
	compiled, err := c.Compile(at)
	if err != nil {
		return nil, s.told(err, doc)
	}
	// Values mostly have the members that their schema lists: their names need not be allocated
	// again.
	names := make(map[string]string)
	namesIn(doc, names)
	return &Schema{compiled: compiled, names: names, memory: newMemory()}, nil
}

// Check holds a JSON value against the schema. The error is a *Violation.
// The value is one JSON text; it is not changed, and not kept unless it comes twice.
func (s *Schema) Check(value []byte) error {
	if s == nil {
		return nil
	}
	key := s.memory.key(value)
	v, known := s.memory.recall(key, value)
	if !known {
		v = s.check(value)
		s.memory.keep(key, value, v)
	}
	if v == nil {
		return nil
	}
	return v
}

// check is Check without the memory; nil for a value that the schema allows.
func (s *Schema) check(value []byte) *Violation {
	doc, unread := parse(value, s.names)
	if unread != nil {
		return unread
	}
	var broken *jsonschema.ValidationError
	switch err := s.compiled.Validate(doc); {
	case err == nil:
		return nil
	case !errors.As(err, &broken):
		return &Violation{Text: "cannot be checked"}
	}
	return first(value, broken)
}
