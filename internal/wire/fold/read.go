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
	at  place // of the member that is being read, until one of its own is
}

// place is where a member stands in the document.
type place struct{ from, named int } // the end of what is before it, and that of its name

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

// done gives the reader back, without the document.
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
		from := r.offset()
		name, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		said := name.String() // before anything else is read
		r.at = place{from, r.offset()}
		if err := member(said); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// offset is where the decoder stands in the document.
func (r *reader) offset() int { return int(r.dec.InputOffset()) }

// space is what may stand between values, and before the value of a member.
const space = ", \t\r\n"

// since gives the member at a place, now that its value has been read: what leads to the
// value, and the value.
func (r *reader) since(at place) (lead, value []byte) {
	end := r.offset()
	value = bytes.TrimLeft(r.doc[at.named:end:end], ":"+space)
	from := end - len(value)
	return r.doc[at.from:from:from], value
}

// array reads an array of any values, each with what stands between it and the one before.
// null is the same as leaving the array out.
func (r *reader) array() (elements [][]byte, err error) {
	if null, err := r.enter('[', "an array"); null || err != nil {
		return nil, err
	}
	for r.dec.PeekKind() != ']' {
		from := r.offset()
		if err := r.dec.SkipValue(); err != nil {
			return nil, err
		}
		elements = append(elements, r.doc[from:r.offset():r.offset()])
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
	end := r.offset()
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
	lead  []byte // what leads to the value: a comma, the name and a colon, as written; nil for one that was added
	value []byte // nil where it has changed and is kept apart
	apart bool   // what it holds is kept elsewhere as well
}

// object holds members in order of first appearance.
type object struct {
	members []member
	at      map[string]int // by name, once something was merged
}

// members reads all of an object.
func (r *reader) members() (o object, err error) {
	err = r.object(func(name string) error {
		at := r.at
		if err := r.dec.SkipValue(); err != nil {
			return err
		}
		lead, value := r.since(at)
		o.members = append(o.members, member{name: name, lead: lead, value: value})
		return nil
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
		o.members = append(o.members, member{name: m.name, value: m.value})
	}
}

// touch notes that a member that is kept apart has changed there.
func (o *object) touch(name string) {
	for i := range o.members {
		if m := &o.members[i]; m.apart && m.name == name {
			m.value = nil
		}
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
