package transcode

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Pattern is a message and its document, for messages that differ from it in one text only: its document
// is then the one before, with another text. An agent that streams what a model says sends thousands
// of these. Nobody needs to check them again: all fields are where they were.
//
// The zero Pattern is like no message. A Pattern is for one goroutine.
type Pattern struct {
	message []byte
	levels  []level // the messages around the text, from the outside in, and the text
	doc     []byte
	at      Span // of the text in doc, without its quotes
}

// Span is a part of a document, from a byte up to another.
type Span struct{ From, To int }

// level is a field of a message that has a length: where that stands, and where its bytes begin and end.
type level struct{ size, from, to int }

// mostLevels bounds how deep the text of a pattern is. A2A has a text at most five messages deep.
const mostLevels = 8

// Forget has the pattern be like no message.
func (p *Pattern) Forget() { p.levels = p.levels[:0] }

// Learn makes p that of a message of type m, which has one field of a name (in JSON) that is a text, and of
// its document, in which the text is at a place. Where that does not hold, p is like no message.
func (p *Pattern) Learn(m *Message, name string, message, doc []byte, at Span) {
	p.Forget()
	key := []byte(`"` + name + `":`)
	path, n := m.text(key, message, 0, make([]level, 0, mostLevels))
	if n != 1 {
		return
	}
	text := path[len(path)-1]
	if quoted, err := appendString(nil, message[text.from:text.to]); err != nil || !bytes.Equal(quoted, doc[at.From-1:at.To+1]) {
		return
	}
	p.levels = append(p.levels, path...)
	p.message, p.doc, p.at = append(p.message[:0], message...), append(p.doc[:0], doc...), at
}

// text is the way to the text with a key, and how many there are, as far as two. The message begins at
// an offset.
func (m *Message) text(key, message []byte, offset int, path []level) (found []level, n int) {
	if m.known != nil || len(path) == mostLevels {
		return nil, 0
	}
	for at := 0; at < len(message); {
		number, kind, tag := protowire.ConsumeTag(message[at:])
		if tag < 0 {
			return nil, 0
		}
		size := protowire.ConsumeFieldValue(number, kind, message[at+tag:])
		if size < 0 {
			return nil, 0
		}
		from := at + tag
		at = from + size
		f := m.field(number)
		if f == nil || kind != protowire.BytesType {
			continue
		}
		b, _ := protowire.ConsumeBytes(message[from:])
		here := level{size: offset + from, from: offset + at - len(b), to: offset + at}
		switch {
		case f.kind == protoreflect.StringKind && !f.list && bytes.Equal(f.key, key):
			found, n = slices.Concat(path, []level{here}), n+1
		case f.kind == protoreflect.MessageKind && !f.entry:
			inner, more := f.of.text(key, b, here.from, append(path, here))
			if more > 0 {
				found, n = inner, n+more
			}
		}
		if n > 1 {
			return nil, n
		}
	}
	return found, n
}

// Document is the document of a message that is like the pattern's. ok is false for one that is not, or
// whose text is no UTF-8.
func (p *Pattern) Document(message []byte) (doc []byte, ok bool) {
	text, ok := p.textOf(message)
	if !ok {
		return nil, false
	}
	doc = make([]byte, 0, len(p.doc)+len(text)+len(text)/8)
	doc = append(doc, p.doc[:p.at.From-1]...)
	doc, err := appendString(doc, text)
	if err != nil {
		return nil, false
	}
	return append(doc, p.doc[p.at.To+1:]...), true
}

// textOf is the text of a message that is like the pattern's.
//
// On the way in, what is in front of each length must be what it was; on the way out, what is behind each
// field up to the end of the message that it is in.
func (p *Pattern) textOf(message []byte) (text []byte, ok bool) {
	if len(p.levels) == 0 {
		return nil, false
	}
	var ends [mostLevels]int
	at, was, end := 0, 0, len(message)
	for i, l := range p.levels {
		same := p.message[was:l.size]
		if !bytes.HasPrefix(message[at:end], same) {
			return nil, false
		}
		at += len(same)
		size, n := protowire.ConsumeVarint(message[at:end])
		if n < 0 || size > uint64(end-at-n) { //nolint:gosec // not below zero
			return nil, false
		}
		at, was, ends[i] = at+n, l.from, end
		end = at + int(size) //nolint:gosec // at most the message's
	}
	text = message[at:end]
	for i := len(p.levels) - 1; i >= 0; i-- {
		at, was, end = end, p.levels[i].to, ends[i]
		outer := len(p.message)
		if i > 0 {
			outer = p.levels[i-1].to
		}
		if !bytes.Equal(message[at:end], p.message[was:outer]) {
			return nil, false
		}
	}
	return text, true
}
