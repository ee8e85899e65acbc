package wire

import (
	"bytes"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/transcode"
)

// Series reads the events of one stream. Agents that say what a model says, word by word,
// send thousands of events that differ in a few strings at which nobody here looks: a
// text, a timestamp. Of such an event it is enough to know that these are strings, and
// that everything else is what it was in the event before; what there is to find in it is
// then what was found in that one.
//
// A Series is for one goroutine.
//
// Two events of one stream, of which the second is not read again:
//
//	{"kind":"artifact-update","taskId":"T","append":true,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"Hel"}]}}
//	{"kind":"artifact-update","taskId":"T","append":true,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"lo"}]}}
//
// Only the characters of the text differ, and text is a string that is looked at by nobody. A stream
// of tokens costs a comparison of bytes per event so, in place of a pass of the scanner.
type Series struct {
	binding Binding
	version Version
	method  *Method // may be nil
	limits  Limits

	begun   bool
	before  pattern
	message transcode.Pattern // before, as gRPC has it
}

// NewSeries reads answers as ReadAnswer does.
func NewSeries(b Binding, v Version, m *Method, lim Limits) *Series {
	return &Series{binding: b, version: v, method: m, limits: lim}
}

// Read reads the next event. What it returns may be shared by several events, so nobody may
// change it; and its ID is a piece of one of them, with the same bytes in all. Ids stand in the
// same place in all of them.
//
// The first event of a stream is not learnt: it is mostly the task itself, and what follows are updates.
func (s *Series) Read(body []byte) (*Answer, error) {
	if s.before.matches(body) {
		return s.before.answer, nil
	}
	// Streams begin with something that does not come again, and many have nothing else.
	into := &s.before
	if !s.begun {
		s.begun, into = true, nil
	}
	r := answerReader{binding: s.binding, version: s.version, method: s.method}
	if err := r.read(body, s.limits, into); err != nil {
		return nil, err
	}
	a := new(r.a) // without the reader, which is larger
	if s.before.known {
		s.before.answer = a
	}
	return a, nil
}

// ReadMessage is Read for an event that came over gRPC, and ResponseJSON: doc is the event's document,
// nil where nothing is known of what an extension's RPC answers.
//
// An event of gRPC has lengths around its text, so that its bytes are compared by transcode.Pattern, which
// knows the fields. That gives the document of the event before the text of this one, and spares
// the checks, the writing and the reading of a document. Two events, of which the second is not read again:
//
//	22 11 0a 01 54 1a 0c 0a 01 61 22 07 0a 05 "Hello"    of artifact "a" of task "T"
//	22 12 0a 01 54 1a 0d 0a 01 61 22 08 0a 06 " world"
//
// The pattern is learnt where Read has learnt one, of the same event. An event that Read recognises and the
// pattern does not, for a timestamp that is another, leaves both as they are.
func (s *Series) ReadMessage(message []byte) (doc []byte, a *Answer, err error) {
	if doc, ok := s.message.Document(message); ok {
		return doc, s.before.answer, nil
	}
	if doc, err = ResponseJSON(s.method, s.version, message); err != nil {
		return nil, nil, err
	}
	before := s.before.answer
	if a, err = s.Read(doc); err != nil || s.before.answer == before {
		return doc, a, err
	}
	s.message.Forget()
	if t, err := s.method.types(s.version); err == nil && s.before.known {
		if at, ok := s.before.text(); ok {
			s.message.Learn(t.response.documents, partText, message, doc, at)
		}
	}
	return doc, a, nil
}

// Bounds of what is remembered of an event, for as long as the stream lasts.
const (
	patternBytes = 2 << 10
	patternFree  = 32
)

// pattern is an event that others may be like.
type pattern struct {
	known  bool    // there is one
	answer *Answer // what was found in it
	doc    []byte
	free   []jsonscan.Span // of doc: strings' characters that do not matter, first to last
}

// learn makes p that of a document that has been read, and found to be a.
//
// Not learned is what is too long to keep or has too many free strings to be worth comparing; an
// error, which ends a stream anyhow; and half a surrogate pair, of which the other half might come
// with other characters around it.
func (p *pattern) learn(s *jsonscan.Scanner, a *Answer) {
	p.known, p.answer = false, nil
	switch {
	case len(s.Doc) > patternBytes || len(s.Strings()) > patternFree || a.Error != 0 || s.Halves():
		return
	case len(s.Strings()) > 0 && int(s.Strings()[0].From) < max(a.IDAt, a.Chunk.ID[0]):
		return // where an id is depends on what stands before it
	}
	switch a.Kind {
	case kindTask, kindMessage, kindStatus, kindArtifact: // nothing but these is found by where it stands
		p.doc, p.free = append(p.doc[:0], s.Doc...), append(p.free[:0], s.Strings()...)
		p.known = true
	}
}

// partText is the member of a part that is its text.
const partText = "text"

// text is where the one text of a document without spaces stands.
func (p *pattern) text() (at transcode.Span, ok bool) {
	for _, f := range p.free {
		if !bytes.HasSuffix(p.doc[:f.From], []byte(`"`+partText+`":"`)) {
			continue
		}
		if ok { // one of them may be in metadata
			return at, false
		}
		at, ok = transcode.Span{From: int(f.From), To: int(f.To)}, true
	}
	return at, ok
}

// matches reports whether a document has nothing in it that p does not have, but for the
// characters of strings that do not matter. A reader of the whole of it would find the same,
// in the same places up to the first of these.
//
// TextLength is how long the text of a string is, up to its quote, and negative where it holds what JSON
// does not permit in one: the event is then read by the scanner, which says what is wrong.
func (p *pattern) matches(doc []byte) bool {
	if !p.known {
		return false
	}
	was := 0
	for _, f := range p.free {
		same := p.doc[was:f.From]
		if !bytes.HasPrefix(doc, same) {
			return false
		}
		doc = doc[len(same):]
		n := jsonscan.TextLength(doc)
		if n < 0 {
			return false
		}
		doc, was = doc[n:], int(f.To)
	}
	return bytes.Equal(doc, p.doc[was:])
}
