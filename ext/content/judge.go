package content

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Values holds the values in metadata against the schemas of active extensions: what
// stands under the URI in a request's own metadata, and under the keys that have
// schemas anywhere but in a task's history.
// History is left out, as it may be older than the extension.
func (t *Terms) Values(c *wire.Carriers) []Violation {
	if len(c.Marks) == 0 {
		return nil
	}
	var f findings
	for _, uri := range t.Active {
		s, enforced := t.schemas(uri)
		if s == nil || s.Request == nil && len(s.Metadata) == 0 {
			continue
		}
		for i := range c.Marks {
			m := &c.Marks[i]
			on := &c.List[m.Carrier]
			if m.Listed || on.History {
				continue
			}
			pointer := func() string { return c.PointerTo(*m) }
			value := c.Doc[m.Value[0]:m.Value[1]]
			// One key may have both.
			if m.Key == uri && on.Place == wire.InParams {
				f.hold(law{s.Request, uri, enforced}, value, pointer)
			}
			f.hold(law{s.Metadata[m.Key], uri, enforced}, value, pointer)
		}
	}
	return f.list
}

// JudgesObjects reports whether Objects could find anything.
func (t *Terms) JudgesObjects() bool {
	for _, uri := range t.Active {
		if s, _ := t.schemas(uri); ofObjects(s) {
			return true
		}
	}
	return false
}

// Objects holds messages, artifacts, statuses and parts against the schemas of active
// extensions, history aside. c must be of a document in A2A 1.0's JSON.
func (t *Terms) Objects(c *wire.Carriers) []Violation {
	var f findings
	for _, uri := range t.Active {
		s, enforced := t.schemas(uri)
		if !ofObjects(s) {
			continue
		}
		for i := range c.List {
			on := &c.List[i]
			if on.History {
				continue
			}
			l := law{of(s, on.Place), uri, enforced}
			// The part of the document is checked where it lies, without a copy.
			f.hold(l, c.Doc[on.Span[0]:on.Span[1]], func() string { return c.Pointer(i) })
		}
	}
	return f.list
}

// Data holds the data parts of messages and artifacts, history aside, against a
// schema, such as that of a skill's input.
// The pointers lead to the data itself, wherever the version has it within the part.
func Data(c *wire.Carriers, s *schema.Schema, enforced bool) []Violation {
	if s == nil {
		return nil
	}
	var f findings
	for i := range c.List {
		on := &c.List[i]
		if on.Place != wire.InPart || on.Data == [2]int{} || on.History {
			continue
		}
		f.hold(law{schema: s, enforced: enforced}, c.Doc[on.Data[0]:on.Data[1]], func() string {
			return c.Pointer(i) + within(c.Doc[on.Span[0]:on.Span[1]], on.Data[0]-on.Span[0])
		})
	}
	return f.list
}

// schemas are an extension's, nil if it has none or they are off, and whether what
// breaks them is enforced.
func (t *Terms) schemas(uri string) (*ext.Compiled, bool) {
	s := t.Book.Schemas(uri)
	if s == nil {
		return nil, false
	}
	mode := t.mode(uri)
	if mode == ext.Off {
		return nil, false
	}
	return s, mode == ext.Enforce
}

// ofObjects reports schemas for objects, beside those for metadata; false for nil.
func ofObjects(s *ext.Compiled) bool {
	return s != nil && (s.Message != nil || s.Artifact != nil || s.Status != nil || s.Part != nil)
}

// of is the schema for an object, nil for none.
// Params of a request have a schema of their own, by key: see Values.
func of(s *ext.Compiled, p wire.Place) *schema.Schema {
	switch p {
	case wire.InMessage:
		return s.Message
	case wire.InArtifact:
		return s.Artifact
	case wire.InStatus:
		return s.Status
	case wire.InPart:
		return s.Part
	}
	return nil
}

// law is a schema and whose it is.
// A violation says whose schema was broken by uri.
type law struct {
	schema   *schema.Schema // nil allows everything
	uri      string         // "" for a skill's
	enforced bool
}

// hold holds a value against a law. Where the value is matters, and is worked out,
// only if it breaks it.
func (f *findings) hold(l law, value []byte, pointer func() string) {
	if l.schema == nil || len(f.list) == most && (f.refuses || !l.enforced) {
		return // what it finds would not be kept
	}
	err := l.schema.Check(value)
	if err == nil {
		return
	}
	v := Violation{
		Extension: l.uri, Fault: Invalid, Pointer: pointer(),
		// This is for an error that is no violation, as of a schema that the library fails on.
		Text: "cannot be checked", Enforced: l.enforced,
	}
	if broken, ok := errors.AsType[*schema.Violation](err); ok {
		v.Pointer += broken.Pointer
		v.Text = broken.Text
	}
	f.add(v)
}

// within is the pointer from an object to a value inside of it that begins at an
// offset. Versions before 1.0 wrap data in one or two objects of their own.
func within(object []byte, offset int) string {
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true))
	for d.InputOffset() <= int64(offset) {
		if _, err := d.ReadToken(); err != nil {
			return ""
		}
	}
	return string(d.StackPointer())
}
