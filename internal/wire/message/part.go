package message

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// compat marks, in the metadata of a part, data that is no object. Before 1.0 there was no way to say
// it; the SDKs have agreed on {"value":X} with this mark.
const compat = "data_part_compat"

// piece is a part while it is read.
//
// A part of 1.0 is one of text, raw, url and data (a oneof of the proto); what was before had a kind. A
// part that is two of them is one thing to some agents and another to others.
type piece struct {
	wire.Part
	said string // its kind or type
	data [2]int // where its data stands; {0, 0} for none
	null bool   // its data is null

	text, inline, url bool // what it has
	filled            bool // the inline file is not an empty string
	file              bool // it has a file's object, whatever is in it
}

// part reads one part of the message.
func (r *messageReader) part() {
	if r.Kind() != '{' {
		r.Skip()
		r.Invalid("a part is not an object")
		return
	}
	var p piece
	var seen uint32
	n := r.partTable()
	for r.Enter(); r.More(); {
		r.partMember(&p, r.Member(n, &seen))
	}
	if !r.Failed() {
		r.settlePart(&p)
		r.m.Parts = append(r.m.Parts, p.Part)
	}
}

// partMember reads the value of a member of a part.
func (r *messageReader) partMember(p *piece, f jsonscan.Field) {
	if r.Kind() == 'n' { // absent, but data can be null
		p.null = p.null || f == fieldData
		r.Skip()
		return
	}
	switch f {
	case fieldKind:
		said := r.wanted("the kind of a part")
		if p.said != "" && p.said != said {
			r.Invalid("a part says two kinds")
		}
		p.said = said
	case fieldText:
		p.Text, p.text = r.wanted("the text of a part"), true
	case fieldData:
		p.data[0], p.data[1] = r.Skip()
	case fieldFile:
		p.file = true
		r.file(p)
	case fieldMetadata:
		p.Metadata = r.marks("the metadata of a part")
	default:
		r.fileMember(p, f)
	}
}

// file reads the object that a file is before 1.0.
func (r *messageReader) file(p *piece) {
	if !r.IsObject("the file of a part") {
		return
	}
	var seen uint32
	n := r.fileTable()
	for r.Enter(); r.More(); {
		f := r.Member(n, &seen)
		if r.Kind() == 'n' {
			r.Skip()
			continue
		}
		r.fileMember(p, f)
	}
}

// fileMember reads the value of a member that files have: in 1.0 beside the others.
func (r *messageReader) fileMember(p *piece, f jsonscan.Field) {
	switch f {
	case fieldBytes:
		p.inline = true
		p.Bytes, p.filled = r.inline()
	case fieldURL:
		p.URL, p.url = r.wanted("the URL of a file"), true
	case fieldFileName:
		p.Name = r.wanted("the name of a file")
	case fieldMediaType:
		p.MediaType = bareType(r.wanted("the media type of a part"))
	case fieldOpaque:
		if from, to := r.Skip(); to-from > len(`""`) {
			r.Invalid("a part has a member that means something in another version of A2A")
		}
	default:
		r.Skip()
	}
}

// wanted reads a string, which must be one.
func (r *messageReader) wanted(what string) string {
	if r.Kind() != '"' {
		r.Skip()
		r.Invalid(what + " is not a string")
		return ""
	}
	return string(r.Text())
}

// inline reads the bytes of a file, and says how many they are.
func (r *messageReader) inline() (n int64, filled bool) {
	if r.Kind() != '"' {
		r.Skip()
		r.Invalid("the bytes of a file are not a string")
		return 0, false
	}
	text := r.Text()
	if r.proto03() {
		if n, ok := doubled(text); ok {
			return n, true
		}
	}
	return plainSize(text), len(text) > 0
}

// plainSize is how many bytes base64 text stands for, in either alphabet, with padding
// or without. It is an upper bound where the text is none: decoders skip what they do
// not know, or refuse it.
//
//	"aGV5"      3
//	"aGV5Cg=="  4: eight characters less two of padding, three quarters of six, rounded down
func plainSize(text []byte) int64 {
	return int64(len(bytes.TrimRight(text, "="))) * 3 / 4
}

// doubled is plainSize for base64 of base64, which is how the SDKs for Go, Java and Python
// write files in ProtoJSON of 0.3; ok reports whether the text is that. A file that is
// itself base64, from an SDK that does as the proto says, cannot be told from it.
//
//	"YUdWNQ=="   aGV5, which is hey: 3
func doubled(text []byte) (n int64, ok bool) {
	once := base64.NewDecoder(base64.StdEncoding, bytes.NewReader(text))
	twice := base64.NewDecoder(base64.StdEncoding.Strict(), oneLine{once})
	n, err := io.Copy(io.Discard, twice)
	return n, err == nil && n > 0
}

// oneLine keeps the decoder behind it from skipping the ends of lines.
type oneLine struct{ io.Reader }

var errLineEnd = errors.New("a line ends")

// Read implements io.Reader.
func (l oneLine) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	if bytes.ContainsAny(b[:n], "\r\n") {
		return 0, errLineEnd
	}
	return n, err
}

// bareType is a media type without parameters, in lower case.
func bareType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s))
}

// settlePart says what a part is that has been read.
//
// An SDK without absent strings prints "bytes":"" beside a URI; the empty one of the two then counts as
// not there.
func (r *messageReader) settlePart(p *piece) {
	if p.inline && p.url { // printed by an SDK that has no absent strings
		p.inline, p.url = p.filled, p.URL != ""
		p.file = true
	}
	data := p.data != [2]int{}
	n := 0
	for _, has := range [...]bool{p.text, data, p.inline, p.url} {
		if has {
			n++
		}
	}
	if n == 0 && p.null && !p.file && !r.proto03() {
		p.Kind, p.Bytes = wire.PartData, int64(len("null")) // in 1.0 null is a value
	}
	switch {
	case n > 1, p.file && !p.inline && !p.url:
		r.Invalid("a part is not exactly one of text, file and data")
	case p.text:
		p.Kind, p.Bytes = wire.PartText, int64(len(p.Text))
	case p.inline, p.url:
		p.Kind = wire.PartFile
	case data:
		p.Kind = wire.PartData
		r.partData(p)
	}
	if !p.agrees() {
		r.Invalid("a part is not what its kind says")
	}
}

// agrees reports whether a part is what it says. One that is nothing may say what
// nobody knows.
func (p *piece) agrees() bool {
	switch p.said {
	case "", p.Kind:
		return true
	case wire.PartText, wire.PartFile, wire.PartData:
		return false
	}
	return p.Kind == ""
}

// partData reads a part's data. Before 1.0 it had to be an object, and what is none may
// stand in one; see compat.
func (r *messageReader) partData(p *piece) {
	span := p.data
	if r.proto03() {
		inner, n := wire.MemberOf(r.Doc, span, "data")
		switch {
		case r.Doc[span[0]] != '{', n > 1, n == 1 && inner == [2]int{}:
			r.Invalid("the data of a part is not in a member data of its own")
			return
		case n == 0, r.Doc[inner[0]] == 'n': // an empty struct may be left out
			p.Data, p.Bytes = map[string]any{}, int64(len("{}"))
			return
		}
		span = inner
	}
	if r.call.Version != wire.V10 && p.Metadata[compat] == true {
		if value, n := wire.MemberOf(r.Doc, span, "value"); n == 1 && value != [2]int{} {
			span = value
			if delete(p.Metadata, compat); len(p.Metadata) == 0 {
				p.Metadata = nil
			}
		}
	}
	p.Bytes = int64(span[1] - span[0])
	p.Data = r.at(span)
}
