package wire

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// change is one call of Remove, Set or Add.
//
// Changes are kept, and not made, because a caller goes through the marks while it asks for them.
type change struct {
	carrier int
	listed  bool   // of the extensions; else of the metadata
	remove  int    // where the member begins that goes; -1 to keep or make one
	key     string // or URI
	value   []byte // of a member of metadata
}

// Remove takes a mark out. What it stood in stays, though empty.
//
//	{"metadata":{"urn:x/k":1,"b":2}}   {"metadata":{"b":2}}
//	{"extensions":["urn:x"]}           {"extensions":[]}
func (c *Carriers) Remove(m Mark) {
	c.changes = append(c.changes, change{carrier: m.Carrier, listed: m.Listed, remove: m.span[0]})
}

// Set gives a carrier's metadata a member, in the place of one of that name. value is
// JSON, and kept until Apply. A status has no metadata: there it does nothing.
//
// TaskStatus has no member metadata in any version (A2A 1.0 §4.1.2), and an agent that validates its
// documents would refuse one.
func (c *Carriers) Set(i int, key string, value []byte) {
	if c.List[i].Place != InStatus {
		c.changes = append(c.changes, change{carrier: i, remove: -1, key: key, value: value})
	}
}

// Add lists a URI in a carrier's extensions, unless it is listed. Only messages and
// artifacts have such lists, and those of 0.1 have none: elsewhere it does nothing.
//
//	{"messageId":"m"}   {"extensions":["urn:x"],"messageId":"m"}
func (c *Carriers) Add(i int, uri string) {
	if p := c.List[i].Place; c.lists && (p == InMessage || p == InArtifact) {
		c.changes = append(c.changes, change{carrier: i, listed: true, remove: -1, key: uri})
	}
}

// Apply returns the document with the changes made, in the order in which they were
// asked for: Doc itself if there are none, else new memory. Everything that was not
// changed stays as it is, byte for byte.
//
// Several changes to one object are made together, since where a comma goes depends on what else
// stays there.
func (c *Carriers) Apply() []byte {
	changes := slices.Clone(c.changes)
	slices.SortStableFunc(changes, func(x, y change) int { return cmp.Compare(x.carrier, y.carrier) })
	var cuts []jsonscan.Splice
	for len(changes) > 0 {
		i, n := changes[0].carrier, 1
		for n < len(changes) && changes[n].carrier == i {
			n++
		}
		cuts = c.rewrite(cuts, i, changes[:n])
		changes = changes[n:]
	}
	if len(cuts) == 0 {
		return c.Doc
	}
	return jsonscan.Spliced(c.Doc, cuts)
}

// rewrite adds what the changes to one object come to.
//
// A box that was not there is put first in its object, where only the opening brace has to be known.
func (c *Carriers) rewrite(cuts []jsonscan.Splice, i int, changes []change) []jsonscan.Splice {
	var made []string
	at := &c.List[i]
	for _, listed := range [...]bool{false, true} {
		if !slices.ContainsFunc(changes, func(ch change) bool { return ch.listed == listed }) {
			continue
		}
		b := c.box(at, listed)
		for _, ch := range changes {
			if ch.listed == listed {
				b.change(ch)
			}
		}
		if b.span != [2]int{} {
			cuts = b.cuts(cuts)
		} else if len(b.added) > 0 {
			made = append(made, b.name+b.whole())
		}
	}
	if len(made) == 0 {
		return cuts
	}
	text, start := strings.Join(made, ","), at.Span[0]+1
	if bytes.TrimLeft(c.Doc[start:], " \t\r\n")[0] != '}' {
		text += ","
	}
	return append(cuts, jsonscan.Splice{Start: start, End: start, Text: text})
}

// box is the metadata or the extensions of one object while they are changed.
//
// Changes are made to its items first and become splices last, so that a member that is removed and set
// again, or set twice, is written once.
type box struct {
	listed bool   // an array of URIs; else an object
	name   string // with its colon
	span   [2]int // its value in the document; {0, 0} if it has none
	holds  bool   // the value is of the right type
	items  []item
	added  []item
}

// item is a member or an element. What was there before has a span.
type item struct {
	key         string // unescaped name, or URI
	word        bool   // it has a key: not an element that is no string
	gone        bool
	set         []byte // the value that it gets
	span, value [2]int
}

// box reads the metadata or the extensions of an object.
//
// It reads the few bytes of this object a second time: to keep the place of every member of every
// object would cost all documents for the sake of the few that are changed.
func (c *Carriers) box(at *Carrier, listed bool) *box {
	b, kind := &box{name: `"metadata":`, span: at.metadata}, byte('{')
	if listed {
		b, kind = &box{listed: true, name: `"extensions":`, span: at.extensions}, '['
	}
	s := Rescan(c.Doc[:b.span[1]])
	defer s.Release()
	s.Pos = b.span[0]
	if b.holds = s.Kind() == kind; !b.holds {
		return b
	}
	for s.Enter(); s.More(); {
		s.Kind()
		it := item{span: [2]int{s.Pos, 0}, word: true}
		switch {
		case !listed:
			it.key = string(s.Name())
			it.value[0], it.value[1] = s.Skip()
		case s.Kind() == '"':
			it.key = string(s.Text())
		default:
			it.word = false
			s.Skip()
		}
		it.span[1] = s.Pos
		b.items = append(b.items, it)
	}
	return b
}

// change makes one change.
//
//	Set of a key that is there     gets another value where it stands
//	Add of a URI that is there     nothing; one that was removed is listed anew at the end
//	Remove                         by where the item begins, since two may have one key
func (b *box) change(ch change) {
	if ch.remove >= 0 {
		at, ok := slices.BinarySearchFunc(b.items, ch.remove, func(it item, start int) int {
			return cmp.Compare(it.span[0], start)
		})
		if ok {
			b.items[at].gone = true
		}
		return
	}
	for _, list := range [][]item{b.items, b.added} {
		for i := range list {
			if it := &list[i]; it.word && it.key == ch.key && (!b.listed || !it.gone) {
				it.gone, it.set = false, ch.value
				return
			}
		}
	}
	b.added = append(b.added, item{key: ch.key, word: true, set: ch.value})
}

// text is the items that were added.
func (b *box) text() string {
	var out []byte
	for i, it := range b.added {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, it.key) // invalid UTF-8 is replaced
		if !b.listed {
			out = append(append(out, ':'), it.set...)
		}
	}
	return string(out)
}

// whole is the value of a box that was not there.
func (b *box) whole() string {
	if b.listed {
		return "[" + b.text() + "]"
	}
	return "{" + b.text() + "}"
}

// cuts adds what changes the box where it stands.
//
// A value that is no object, such as "metadata":null, is replaced whole when something is put into it,
// and stays as it is when something was to be taken out.
func (b *box) cuts(cuts []jsonscan.Splice) []jsonscan.Splice {
	if !b.holds {
		if len(b.added) > 0 {
			cuts = append(cuts, jsonscan.Splice{Start: b.span[0], End: b.span[1], Text: b.whole()})
		}
		return cuts
	}
	kept := 0
	for i, it := range b.items {
		if it.gone {
			cuts = append(cuts, jsonscan.Cutting(i, len(b.items), kept, func(i int) [2]int { return b.items[i].span }))
			continue
		}
		kept++
		if it.set != nil {
			cuts = append(cuts, jsonscan.Splice{Start: it.value[0], End: it.value[1], Text: string(it.set)})
		}
	}
	if len(b.added) == 0 {
		return cuts
	}
	at, text := b.span[0]+1, b.text()
	if n := len(b.items); n > 0 {
		at = b.items[n-1].span[1]
	}
	if kept > 0 {
		text = "," + text
	}
	return append(cuts, jsonscan.Splice{Start: at, End: at, Text: text})
}
