package translate

import (
	"bytes"
	"encoding/base64"
)

// Bytes is how somebody who speaks 0.3's ProtoJSON, or gRPC, has the bytes of files.
type Bytes uint8

// The SDKs for Go, Java and Python put base64 text where the proto has bytes, so
// that its ProtoJSON has base64 of base64; that is the usual form. The SDK for
// JavaScript does as the proto says. Of somebody whose form is not known, what does
// not look like base64 of base64 is taken for plain.
const (
	Doubled Bytes = iota
	Plain
)

// file writes a file part: in 1.0 into the part, else as an object.
func (w *writer) file(p part) {
	if w.to != d10 {
		w.name("file")
		w.literal("{")
		defer w.literal("}")
	}
	say := func(row int) string { return fileObject.members[row].say[w.to] }
	if p.bytes != nil {
		w.name(say(partBytes))
		w.bytes(p.bytes)
	} else {
		w.verbatim(say(partURI), p.uri)
	}
	w.verbatim(say(partName), p.name)
	w.verbatim(say(partMedia), p.media)
}

// bytes writes a file's bytes.
//
// 0.3's proto has bytes in fileWithBytes, which ProtoJSON writes as base64. The SDKs put base64 text
// into the field, so that what is on the wire is base64 of base64:
//
//	the file's bytes     "dGVzdA=="           test
//	as the SDKs send it  "ZEdWemRBPT0="       dGVzdA==, once more
func (w *writer) bytes(raw []byte) {
	switch {
	case w.from == w.to:
	case w.from == p03 && w.reads == Doubled:
		if text, err := base64.StdEncoding.AppendDecode(nil, inside(raw)); err == nil && isBase64(text) {
			raw = append(append([]byte{'"'}, text...), '"')
		}
	case w.to == p03 && w.writes == Doubled:
		once := buffer{}
		once.base64(raw)
		w.literal(`"`)
		w.out = base64.StdEncoding.AppendEncode(w.out, unescaped(inside(once.out)))
		w.literal(`"`)
		return
	}
	w.base64(raw)
}

// isBase64 reports whether bytes are themselves base64, of something. The decoder would
// pass over ends of lines, which a JSON string cannot hold as they are.
//
// A file that is itself base64 text cannot be told from one that was encoded twice. The configuration
// says it where it is known (fileBytes: plain).
func isBase64(text []byte) bool {
	if bytes.ContainsAny(text, "\r\n") {
		return false
	}
	_, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	return err == nil && len(text) > 0
}
