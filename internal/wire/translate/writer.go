package translate

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// writer writes one document in one dialect from pieces of one in another.
//
// One is made per document. from and to may be equal: then objects are copied and only ids and what
// the call decides are written anew.
type writer struct {
	buffer
	from, to dialect
	reads    Bytes  // of files in the source
	writes   Bytes  // and in what is written
	wrong    string // what is wrong with the source; the first thing found
	proper   bool   // members go by the dialect's own names only, for who reads no others

	// Of a call. Ids in the source are not looked at then.
	call     *wire.Call
	target   *To
	settings settings
	inPath   bool // ids of the params stand in a path
	quiet    bool // leave historyLength out: nothing but 0.1 has it here

	// Of an answer.
	task, context naming
	configID      string // the config that the call named
	history       *int   // messages of history to keep, nil for all
	mixed         bool   // roles and states in 0.3's words
	artifacts     map[string]int
	position      int    // of the artifact in its list
	appends, last []byte // what an update says about its artifact

	message []byte // the message being written, as the source has it
}

// naming is how ids of one sort go by on the caller's side.
type naming struct {
	Alias
	known string // what a missing one is, as the caller says it; "" when nobody knows
}

// broken keeps the first thing that is wrong with the source.
func (w *writer) broken(what string) {
	if w.wrong == "" {
		w.wrong = what
	}
}

// spelled is what the one who reads calls a thing of which every dialect has a word.
func (w *writer) spelled(x words) string {
	if w.mixed {
		return x[d03]
	}
	return x[w.to]
}

// object retells one object by its table.
//
// The order of members is that of the table and not the source's, since what stands first in one
// dialect may be made of several members of another.
func (w *writer) object(o *object, raw []byte) {
	switch {
	case !isObject(raw):
		w.broken(o.name + " is not an object")
		w.literal("{}")
	case w.from == w.to:
		w.copy(o, raw)
	default:
		if o == messageObject {
			w.message = raw
		}
		var v values
		o.gather(w.from, raw, &v)
		w.literal("{")
		w.fields(o, &v)
		w.literal("}")
	}
}

// fields writes the members of an object that the target has, from those that were
// found in the source.
func (w *writer) fields(o *object, v *values) {
	if o.kind != "" && w.to == d03 {
		w.name("kind")
		w.word(o.kind)
	}
	for i := range o.members {
		if m := &o.members[i]; m.say[w.to] != "" {
			w.member(m, v[i], v)
		}
	}
}

// member writes one member, or nothing where there is nothing to say.
func (w *writer) member(m *member, raw []byte, v *values) {
	mark := len(w.out)
	w.name(m.say[w.to])
	if !w.value(m, raw, v) {
		w.out = w.out[:mark]
	}
}

// copy keeps an object of the same dialect as it stands: order, numbers, unknown
// members. Only ids change, and what the call decides; see kept.
//
// Params of a call get the members that the call decides (ids, tenant, page token) at the end, from
// the wire.Call, whether or not the document had them.
func (w *writer) copy(o *object, raw []byte) {
	w.literal("{")
	w.kept(o, raw)
	if w.call != nil {
		for i := range o.members {
			if m := &o.members[i]; m.is.ofCall() && m.say[w.to] != "" {
				w.member(m, nil, nil)
			}
		}
	}
	w.literal("}")
}

// kept writes the members of such an object, without those that are left out. Who reads
// names of the dialect only gets what other names and words mean in these: protobuf
// would drop them, and a query is read by other code than a document.
func (w *writer) kept(o *object, raw []byte, out ...string) {
	for name, value := range members(raw) {
		plain := unescaped(name)
		s := o.find(w.from, plain)
		switch {
		case slices.Contains(out, string(plain)):
		case s == nil:
			if !w.stray(o, plain) {
				w.name(string(name))
				w.raw(value)
			}
		case !w.proper:
			w.keep(&o.members[s.at], string(name), value)
		}
	}
	if !w.proper {
		return
	}
	var v values
	o.gather(w.from, raw, &v)
	for i := range o.members {
		if m := &o.members[i]; v[i] != nil {
			w.keep(m, m.say[w.to], v[i])
		}
	}
}

// stray reports whether a member that the dialect does not have is left out: a tenant
// in a dialect that has none would be unknown, and kept, as would an id, but agents of
// several versions might understand it, and go by the caller's id where the call has the
// agent's.
func (w *writer) stray(o *object, name []byte) bool {
	return o.tenant && string(name) == "tenant" || w.call != nil && slices.Contains(o.ids, string(name))
}

// keep writes one member that is known, unless the call decides about it.
func (w *writer) keep(m *member, name string, value []byte) {
	if m.is == aTenant || w.call != nil && m.is.ofCall() {
		return
	}
	mark := len(w.out)
	w.name(name)
	switch {
	case isNull(value), !m.is.reaches() && (!w.proper || !m.is.differs(value)) && (!w.mixed || !m.is.spelled()):
		w.raw(value)
	case !w.value(m, value, nil):
		w.out = w.out[:mark]
	}
}
