package state

import (
	"encoding/binary"
	"slices"
	"sync/atomic"
	"time"
	"unique"
)

// entry is a Record as the memory driver holds it: what differs from task to
// task here, what many tasks share behind one handle. With its key and the map's
// room it is about 200 bytes for the usual 36-byte ids. It fills a size class of
// the allocator exactly; one more word would cost two.
type entry struct {
	text    string // the key (kind, agent, id; see appendKey), then the trace as in pack, then the context
	key     uint32 // where the key ends in text
	id      uint32 // where the id starts in it
	origin  unique.Handle[origin]
	created int64        // Unix nanoseconds
	used    atomic.Int64 // Unix seconds of the last Claim or Lookup; set under the shard's lock

	// Neighbours on the shelf of a task, guarded by the lock of its index.
	newer, older *entry
}

// origin is the part of a Record that is the same for every task one principal
// starts in the same way. Handles of equal origins share one copy, which the
// collector frees with the last of them.
type origin struct {
	owner, tenant, skill, endpoint, version string
	extensions                              string // packed
}

// newEntry copies everything it keeps: the strings of a Record are often pieces
// of a request body, which must not live as long as the record.
func newEntry(key []byte, r Record, now time.Time) *entry {
	if r.Created.IsZero() {
		r.Created = now
	}
	text := make([]byte, 0, textRoom)
	text = binary.AppendUvarint(append(text, key...), uint64(len(r.Trace)))
	text = append(append(text, r.Trace...), r.Context...)
	e := &entry{
		text: string(text),                 // one allocation for all of it
		key:  uint32(len(key)),             //nolint:gosec // keys have some hundred bytes
		id:   uint32(len(key) - len(r.ID)), //nolint:gosec // keys have some hundred bytes
		origin: unique.Make(origin{
			owner: r.Owner, tenant: r.Tenant, skill: r.Skill,
			endpoint: r.Endpoint, version: r.Version,
			extensions: pack(r.Extensions),
		}),
		created: r.Created.UnixNano(),
	}
	e.used.Store(now.Unix())
	return e
}

// name is the key under which the entry is stored.
func (e *entry) name() string { return e.text[:e.key] }

// context is the context of a task, or what an alias stands for.
func (e *entry) context() string {
	_, context := e.tail()
	return context
}

// tail is what text holds behind the key.
func (e *entry) tail() (trace, context string) {
	n, width := uvarint(e.text[e.key:])
	rest := e.text[int(e.key)+width:]
	return rest[:n], rest[n:]
}

// before reports whether a list names e ahead of f: the newer first,
// of equal ones that with the greater id, as ids often grow with time.
func (e *entry) before(f *entry) bool {
	if e.created != f.created {
		return e.created > f.created
	}
	return e.text[e.id:e.key] > f.text[f.id:f.key]
}

// shares reports whether e and f stand on one shelf of an agent.
func (e *entry) shares(f *entry) bool {
	o, p := e.origin.Value(), f.origin.Value()
	return o.owner == p.owner && o.tenant == p.tenant
}

// record is the inverse of newEntry. Agent and kind are the caller's: they are
// equal to those in the key, or the entry would not have been found. extensions are what
// the record's most likely are, see unpackAs.
func (e *entry) record(agent string, k Kind, extensions []string) Record {
	o := e.origin.Value()
	trace, context := e.tail()
	return Record{
		Agent: agent, Kind: k, ID: e.text[e.id:e.key],
		Owner: o.owner, Tenant: o.tenant, Skill: o.skill, Context: context,
		Endpoint: o.endpoint, Version: o.version, Extensions: unpackAs(o.extensions, extensions),
		Created: time.Unix(0, e.created).UTC(), Trace: trace,
	}
}

// keyRoom lets the usual key be built on the stack, textRoom what is stored with it;
// longer ones cost an allocation.
const (
	keyRoom  = 384
	textRoom = 512
)

// appendKey writes the key of an id. The agent is length-prefixed, so that no
// choice of agent and id makes the key of another pair.
func appendKey(dst []byte, agent string, k Kind, id string) []byte {
	dst = append(dst, byte(k))
	dst = binary.AppendUvarint(dst, uint64(len(agent)))
	dst = append(dst, agent...)
	return append(dst, id...)
}

// agentOf reads the agent back out of a key.
func agentOf(key string) string {
	n, width := uvarint(key[1:])
	return key[1+width : 1+width+n]
}

// pack makes one string of a list, so that an origin can be compared.
func pack(list []string) string {
	if len(list) == 0 {
		return ""
	}
	var b []byte
	for _, s := range list {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return string(b)
}

// unpack is the inverse of pack. The empty list comes back as nil.
func unpack(packed string) []string {
	var list []string
	for packed != "" {
		n, width := uvarint(packed)
		packed = packed[width:]
		list = append(list, packed[:n])
		packed = packed[n:]
	}
	return list
}

// unpackAs is unpack, where the list most likely is the one at hand, which is returned
// then: whoever claims an id anew has the same extensions nearly always.
func unpackAs(packed string, list []string) []string {
	rest := packed
	for _, s := range list {
		if rest == "" {
			return unpack(packed)
		}
		n, width := uvarint(rest)
		if n != len(s) || rest[width:width+n] != s {
			return unpack(packed)
		}
		rest = rest[width+n:]
	}
	if rest != "" || packed == "" {
		return unpack(packed)
	}
	return slices.Clip(list)
}

// uvarint reads what pack wrote, and nothing else: there is no outside input here.
func uvarint(s string) (value, width int) {
	for shift := 0; ; shift += 7 {
		c := s[width]
		width++
		value |= int(c&0x7f) << shift
		if c < 0x80 {
			return value, width
		}
	}
}
