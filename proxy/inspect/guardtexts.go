package inspect

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
)

// texts are what guards look at in a document, and where it stands there.
type texts struct {
	cs      *wire.Carriers
	content guard.Content
	spots   []spot // by index of content.Texts
	old     []data // of parts in a task's history
	reread  func(doc []byte) (*wire.Carriers, error)
}

// spot is where a text stands: a string of JSON with its quotes, or a number.
type spot struct {
	span    [2]int
	carrier int  // index of what it is in
	name    bool // it is a member's name
	old     int  // it is in the data with this index in texts.old; -1 for none
}

// data is where the data of a part stands.
type data struct {
	span    [2]int
	carrier int
	of      int // index of its message
}

// shortestNumber is how many digits a number has at least that anybody looks for.
const shortestNumber = 7

// readTexts finds the texts of a document: those of parts, the strings, names and large numbers in their
// data and in metadata, the names and URLs of files, and what artifacts are called. Files' contents are
// not looked at.
func readTexts(cs *wire.Carriers, phase guard.Phase, who string, reread func([]byte) (*wire.Carriers, error)) *texts {
	t := &texts{cs: cs, content: guard.Content{Phase: phase, Who: who, Texts: make([]guard.Text, 0, len(cs.List))}, reread: reread}
	t.spots = make([]spot, 0, len(cs.List))
	for i := range cs.List {
		c := &cs.List[i]
		switch c.Place {
		case wire.InPart:
			t.part(i, c)
		case wire.InArtifact:
			t.members(i, called)
		}
	}
	for _, m := range cs.Marks {
		if !m.Listed {
			t.named(m.Carrier, m.Begin())
			t.value(m.Carrier, m.Value)
		}
	}
	for i := range cs.List {
		for _, span := range cs.List[i].Near {
			t.value(i, span)
		}
	}
	return t
}

// named takes the name of a member, which begins at a place of the document.
func (t *texts) named(i, from int) {
	t.text(i, [2]int{from, from + quoted(t.cs.Doc[from:])}, true)
}

// part reads a part.
func (t *texts) part(i int, c *wire.Carrier) {
	t.count(c.Parent, c.History)
	if c.Text != [2]int{} {
		t.text(i, c.Text, false)
	}
	if c.Data != [2]int{} {
		t.content.Data = append(t.content.Data, guard.Data{Value: t.cs.Doc[c.Data[0]:c.Data[1]], Of: c.Parent, Part: c.Index, Old: c.History})
		from := len(t.spots)
		t.value(i, c.Data)
		if c.History {
			for n := from; n < len(t.spots); n++ {
				t.spots[n].old = len(t.old)
			}
			t.old = append(t.old, data{c.Data, i, c.Parent})
		}
	}
	if c.File {
		t.members(i, ofFiles)
	}
}

// count counts a part of a message or artifact. Parts of one stand behind each other.
func (t *texts) count(of int, old bool) {
	n := len(t.content.Parts)
	if n == 0 || t.content.Parts[n-1].Of != of {
		t.content.Parts = append(t.content.Parts, guard.Parts{Of: of, Count: 1, Old: old})
		return
	}
	t.content.Parts[n-1].Count++
}

// called are the members of artifacts that say what they are.
var called = map[string]bool{"name": true, "description": true}

// ofFiles are the members of parts, and of files in them, that say where a file is and what it is called,
// in any version, as the most lenient reader has them.
var ofFiles = map[string]bool{"name": true, "filename": true, "url": true, "uri": true, "filewithuri": true}

// members reads the strings of some members of an object, and of the file in it.
func (t *texts) members(i int, of map[string]bool) {
	s := t.cs.Rescan(i)
	defer s.Release()
	t.object(s, i, of, true)
}

func (t *texts) object(s *jsonscan.Scanner, i int, of map[string]bool, outer bool) {
	for s.Enter(); s.More(); {
		var buf [jsonscan.LongestName + 4]byte
		name := string(jsonscan.Fold(buf[:0], s.Name(), jsonscan.LongestName))
		switch kind := s.Kind(); {
		case kind == '"' && of[name]:
			from, to := s.Skip()
			t.text(i, [2]int{from, to}, false)
		case kind == '{' && outer && name == "file" && of["url"]:
			t.object(s, i, of, false)
		default:
			s.Skip()
		}
	}
}

// value reads whatever stands in a value.
func (t *texts) value(i int, span [2]int) {
	s := wire.Rescan(t.cs.Doc[:span[1]])
	defer s.Release()
	s.Pos = span[0]
	t.any(s, i)
}

func (t *texts) any(s *jsonscan.Scanner, i int) {
	switch s.Kind() {
	case '{':
		for s.Enter(); s.More(); {
			s.Kind()
			from := s.Pos
			s.Name()
			t.named(i, from)
			t.any(s, i)
		}
	case '[':
		for s.Enter(); s.More(); {
			t.any(s, i)
		}
	case '"':
		from, to := s.Skip()
		t.text(i, [2]int{from, to}, false)
	case '0':
		if from, to := s.Skip(); to-from >= shortestNumber {
			t.text(i, [2]int{from, to}, false)
		}
	default:
		s.Skip()
	}
}

// quoted is how long the string is that stands at the beginning of a document, with its quotes.
func quoted(doc []byte) int {
	for i := 1; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// text takes a string of the document, or a number.
func (t *texts) text(i int, span [2]int, name bool) {
	raw := t.cs.Doc[span[0]:span[1]]
	if len(raw) <= len(`""`) {
		return
	}
	value := ""
	switch {
	case raw[0] != '"':
		value = string(raw)
	case bytes.IndexByte(raw, '\\') < 0:
		value = string(raw[1 : len(raw)-1])
	default:
		plain, err := jsontext.AppendUnquote(nil, raw)
		if err != nil { // half of a surrogate pair, which has been mended
			return
		}
		value = string(plain)
	}
	c := &t.cs.List[i]
	text := guard.Text{Value: value, Of: i, Part: -1, Name: name, Old: c.History}
	if c.Place == wire.InPart {
		text.Of, text.Part = c.Parent, c.Index
	}
	t.content.Texts = append(t.content.Texts, text)
	t.spots = append(t.spots, spot{span, i, name, -1})
}

// Redaction is the extension under whose URI the metadata of a message or artifact say what the gateway
// has redacted (docs/extensions/redaction.md).
const Redaction = "https://a2a-gateway.dev/extensions/redaction/v1"

// redacted is the document with marks in the place of what is cut, and what has happened in the metadata
// around it. Without cuts it is the document itself.
func (t *texts) redacted(r *guard.Result) ([]byte, error) {
	return t.rewritten(r.Cuts, r.Whole, func(i int) string {
		return detect.Replace(t.content.Texts[i].Value, r.Cuts[i], guard.Mark)
	})
}

// rewritten is the document with other texts in the place of those that have cuts, and with other data in the
// messages that are to be redacted as a whole: numbers are no texts.
func (t *texts) rewritten(cuts map[int][]detect.Finding, whole map[int]string, text func(i int) string) ([]byte, error) {
	if len(cuts) == 0 && len(whole) == 0 {
		return t.cs.Doc, nil
	}
	counts := map[int]map[string]int{} // by carrier, of each kind
	count := func(carrier int, kind string) {
		whose := t.whose(carrier)
		if counts[whose] == nil {
			counts[whose] = map[string]int{}
		}
		counts[whose][kind]++
	}
	splices := make([]jsonscan.Splice, 0, len(cuts))
	for _, d := range t.old {
		if kind, ok := whole[d.of]; ok {
			splices = append(splices, jsonscan.Splice{Start: d.span[0], End: d.span[1], Text: marked(kind)})
			count(d.carrier, kind)
		}
	}
	names := 0
	for _, i := range slices.Sorted(maps.Keys(cuts)) {
		list := cuts[i]
		at := t.spots[i]
		if at.old >= 0 && whole[t.old[at.old].of] != "" {
			continue
		}
		with := text(i)
		if at.name { // two members must not have one name
			if names++; names > 1 {
				with += " " + strconv.Itoa(names)
			}
		}
		plain, _ := jsontext.AppendQuote(nil, with) // invalid UTF-8 is replaced
		splices = append(splices, jsonscan.Splice{Start: at.span[0], End: at.span[1], Text: string(plain)})
		for _, f := range list {
			count(at.carrier, f.Kind)
		}
	}
	if len(splices) == 0 { // it says nothing that could be redacted
		return t.cs.Doc, nil
	}
	return t.told(jsonscan.Spliced(t.cs.Doc, splices), counts)
}

// marked is the data of a part with nothing but a mark: an object, as A2A 0.3 has no other data.
func marked(kind string) string {
	plain, _ := jsontext.AppendQuote(nil, guard.Mark(kind))
	return `{"redacted":` + string(plain) + `}`
}

// whose is the message or artifact that something is in, or what else has metadata.
func (t *texts) whose(i int) int {
	for t.cs.List[i].Place == wire.InPart && t.cs.List[i].Parent >= 0 {
		i = t.cs.List[i].Parent
	}
	return i
}

// told is a document of which the metadata say how much was redacted, by kind.
func (t *texts) told(doc []byte, counts map[int]map[string]int) ([]byte, error) {
	cs, err := t.reread(doc)
	if err != nil {
		return nil, err
	}
	for i, kinds := range counts {
		cs.Set(i, Redaction, said(kinds))
	}
	return cs.Apply(), nil
}

// said is how much was redacted, as metadata have it: {"redacted":{"email":1,"iban":2}}.
func said(kinds map[string]int) []byte {
	out := []byte(`{"redacted":{`)
	for n, kind := range slices.Sorted(maps.Keys(kinds)) {
		if n > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, kind) // invalid UTF-8 is replaced
		out = strconv.AppendInt(append(out, ':'), int64(kinds[kind]), 10)
	}
	return append(out, "}}"...)
}
