package fold

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// reader walks a document once, front to back. What it returns are pieces of the
// document, not copies.
type reader struct {
	doc []byte
	buf bytes.Buffer
	dec jsontext.Decoder
}

// readers are kept because a new decoder allocates more than a short event is long.
var readers = sync.Pool{New: func() any { return new(reader) }}

// read begins to read doc; done ends it.
func read(doc []byte) *reader {
	r, _ := readers.Get().(*reader)
	// A decoder on a Buffer works on the Buffer's bytes, so that offsets are those
	// of doc.
	r.doc, r.buf = doc, *bytes.NewBuffer(doc)
	r.dec.Reset(&r.buf)
	return r
}

func (r *reader) done() {
	r.doc, r.buf = nil, bytes.Buffer{}
	r.dec.Reset(&r.buf) // lets go of doc
	readers.Put(r)
}

// object reads an object, member by member; member must read the value. null is
// the same as leaving the object out.
func (r *reader) object(member func(name string) error) error {
	if null, err := r.enter('{', "an object"); null || err != nil {
		return err
	}
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// array reads an array of any values. null is the same as leaving the array out.
func (r *reader) array() (elements [][]byte, err error) {
	if null, err := r.enter('[', "an array"); null || err != nil {
		return nil, err
	}
	for r.dec.PeekKind() != ']' {
		element, err := r.value()
		if err != nil {
			return nil, err
		}
		elements = append(elements, element)
	}
	_, err = r.dec.ReadToken()
	return elements, err
}

// enter goes into what must be an object or an array, or over a null.
func (r *reader) enter(kind jsontext.Kind, what string) (null bool, err error) {
	token, err := r.dec.ReadToken()
	switch {
	case err != nil:
		return false, err
	case token.Kind() == 'n':
		return true, nil
	case token.Kind() != kind:
		return false, fmt.Errorf("%s is not %s", r.dec.StackPointer(), what)
	}
	return false, nil
}

// value reads a value of any kind.
func (r *reader) value() ([]byte, error) {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(r.dec.InputOffset())
	return r.doc[end-len(raw) : end : end], nil
}

// optional reads a value, nil for a null.
func (r *reader) optional() ([]byte, error) {
	raw, err := r.value()
	if err != nil || raw[0] == 'n' {
		return nil, err
	}
	return raw, nil
}

// text reads a string, "" for a null.
func (r *reader) text() (string, error) {
	token, err := r.dec.ReadToken()
	switch {
	case err != nil:
		return "", err
	case token.Kind() == 'n':
		return "", nil
	case token.Kind() != '"':
		return "", fmt.Errorf("%s is not a string", r.dec.StackPointer())
	}
	return token.String(), nil
}

// flag reads a boolean, false for whatever else is there.
func (r *reader) flag() (bool, error) {
	raw, err := r.value()
	return err == nil && raw[0] == 't', err
}

// end makes sure that nothing stands behind the document.
func (r *reader) end() error {
	switch _, err := r.dec.ReadToken(); {
	case err == nil:
		return errors.New("something stands behind the document")
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// member of an object, as it stands in a document.
type member struct {
	name  string
	value []byte // nil where what it holds is kept elsewhere
}

// object holds members in order of first appearance.
type object struct {
	members []member
	at      map[string]int // by name, once something was merged
}

// members reads all of an object.
func (r *reader) members() (o object, err error) {
	err = r.object(func(name string) error {
		value, err := r.value()
		o.members = append(o.members, member{name, value})
		return err
	})
	return o, err
}

// merge sets members, replacing those of the same name. It looks names up, because
// an agent may add one with every event.
func (o *object) merge(members []member) {
	if len(members) == 0 {
		return
	}
	if o.at == nil {
		o.at = make(map[string]int, len(o.members)+len(members))
		for i, m := range o.members {
			o.at[m.name] = i
		}
	}
	for _, m := range members {
		if i, ok := o.at[m.name]; ok {
			o.members[i].value = m.value
			continue
		}
		o.at[m.name] = len(o.members)
		o.members = append(o.members, m)
	}
}

// lookup finds a string in an object that has been read before; "" where there is
// none.
func lookup(raw []byte, names ...string) string {
	found := ""
	for _, value := range pick(raw, names...) {
		if value[0] == '"' {
			text, _ := jsontext.AppendUnquote(nil, value) // it has been read before
			found = string(text)
		}
	}
	return found
}

// pick finds the members of these names in an object that has been read before.
func pick(raw []byte, names ...string) (found [][]byte) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	r := read(raw)
	defer r.done()
	_ = r.object(func(name string) error {
		value, err := r.value()
		for _, n := range names {
			if n == name && err == nil {
				found = append(found, value)
			}
		}
		return err
	})
	return found
}
