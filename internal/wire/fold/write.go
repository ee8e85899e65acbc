package fold

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Names of the members that are kept apart.
const (
	nameID         = "id"
	nameContext    = "contextId"
	nameStatus     = "status"
	nameArtifacts  = "artifacts"
	nameHistory    = "history"
	nameMetadata   = "metadata"
	nameArtifactID = "artifactId"
	nameParts      = "parts"
)

var (
	keptOfTask     = []string{nameID, nameContext, nameStatus, nameArtifacts, nameHistory, nameMetadata}
	keptOfArtifact = []string{nameArtifactID, nameParts, nameMetadata}
)

// Snapshot appends the task as it is now to dst. Of a task that is not Known it is
// what updates have said of it; where nothing has, it is an error.
//
// A task that no event has changed is written exactly as it came.
func (t *Task) Snapshot(dst []byte) ([]byte, error) {
	if t.id == "" {
		return dst, errUnknown
	}
	w := writer{out: dst}
	w.open('{')
	w.members(&t.rest, keptOfTask, func(name string) { w.ofTask(t, name) })
	w.close('}')
	return w.out, nil
}

// writer appends JSON.
type writer struct {
	out  []byte
	lead []byte // of the member whose name comes next, as it was written; nil for none
}

// members writes an object's members in their order and as they were written. Those that
// have changed where they are kept apart stand where they stood, or at the end.
func (w *writer) members(o *object, names []string, kept func(name string)) {
	for _, m := range o.members {
		w.lead = m.lead
		if m.value == nil {
			kept(m.name)
		} else {
			w.name(m.name)
			w.raw(m.value)
		}
		w.lead = nil
	}
	for _, name := range names {
		if !o.stands(name) {
			kept(name)
		}
	}
}

// stands reports whether a member that is kept apart has a place.
func (o *object) stands(name string) bool {
	return slices.ContainsFunc(o.members, func(m member) bool { return m.apart && m.name == name })
}

// ofTask writes a member of the task that is kept apart, if there is one.
func (w *writer) ofTask(t *Task, name string) {
	switch name {
	case nameID:
		w.text(name, t.id)
	case nameContext:
		w.text(name, t.context)
	case nameStatus:
		if t.status != nil {
			w.name(name)
			w.raw(t.status)
		}
	case nameArtifacts:
		if t.index == nil {
			return
		}
		w.name(name)
		w.open('[')
		for i := range t.artifacts {
			w.artifact(&t.artifacts[i])
		}
		w.close(']')
	case nameHistory:
		if t.hasPast {
			w.name(name)
			w.array(t.history)
		}
	case nameMetadata:
		w.metadata(&t.metadata)
	}
}

func (w *writer) artifact(a *artifact) {
	if a.whole != nil {
		w.element(a.whole)
		return
	}
	w.comma()
	w.open('{')
	w.members(&a.rest, keptOfArtifact, func(name string) {
		switch name {
		case nameArtifactID:
			w.text(name, a.id)
		case nameParts:
			w.name(name)
			w.array(a.parts)
		case nameMetadata:
			w.metadata(&a.metadata)
		}
	})
	w.close('}')
}

// metadata writes the metadata, unless there is none.
func (w *writer) metadata(o *object) {
	if len(o.members) == 0 {
		return
	}
	w.name(nameMetadata)
	w.open('{')
	w.members(o, nil, nil)
	w.close('}')
}

func (w *writer) array(values [][]byte) {
	w.open('[')
	for _, value := range values {
		w.element(value)
	}
	w.close(']')
}

// element writes one of an array, with what stood before it where that still fits.
func (w *writer) element(value []byte) {
	first := w.out[len(w.out)-1] == '['
	if lead := value[:len(value)-len(bare(value))]; first == bytes.ContainsRune(lead, ',') {
		w.comma()
		value = bare(value)
	}
	w.raw(value)
}

// bare is an element of an array without what stood before it.
func bare(element []byte) []byte { return bytes.TrimLeft(element, space) }

// text writes a member that is a string; an empty one is left out.
func (w *writer) text(name, value string) {
	if value != "" {
		w.name(name)
		w.quote(value)
	}
}

// name writes the name of a member, with the comma before it where one belongs.
func (w *writer) name(name string) {
	if w.lead != nil {
		w.raw(w.lead)
		w.lead = nil
		return
	}
	w.comma()
	w.quote(name)
	w.out = append(w.out, ':')
}

// comma separates what comes next from what was written before it, if it was in the
// same object or array.
func (w *writer) comma() {
	switch w.out[len(w.out)-1] {
	case '{', '[', ':':
	default:
		w.out = append(w.out, ',')
	}
}

func (w *writer) quote(s string)   { w.out, _ = jsontext.AppendQuote(w.out, s) } // it was read as UTF-8
func (w *writer) raw(value []byte) { w.out = append(w.out, value...) }
func (w *writer) open(c byte)      { w.out = append(w.out, c) }
func (w *writer) close(c byte)     { w.out = append(w.out, c) }
