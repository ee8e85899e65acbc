package message

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// File is what one part says of a file. A part that could be read as one thing by some
// clients or agents and as another by others is read as all of them: whoever judges it
// judges everything that anybody might take from it.
type File struct {
	Part       int      // index of its Carrier
	URLs       []string // that lead to it; those that are empty are left out
	Bytes      int64    // of the larger of its inline contents, once decoded; 0 for none
	Inline     bool     // it has a content, though perhaps an empty one
	Names      []string // that it goes by
	MediaTypes []string // that the part says, in lower case and without parameters
}

// Files reads the parts of a document that are files, in the order of the document. It reads again only
// the parts of which ReadCarriers has found that they may be.
func Files(c *wire.Carriers) []File {
	var list []File
	for i := range c.List {
		if !c.List[i].File {
			continue
		}
		r := fileReader{of: File{Part: i}, proto: c.Side.Version == wire.V03 && c.Side.Binding != wire.JSONRPC}
		r.s = c.Rescan(i)
		r.object(false)
		r.s.Release()
		if r.is {
			list = append(list, r.of)
		}
	}
	return list
}

// fileReader is a part while it is read as a file.
type fileReader struct {
	s     *jsonscan.Scanner
	of    File
	proto bool // the document is ProtoJSON of 0.3
	is    bool // there is a file
}

// object reads a part, or the object that a file is before 1.0.
//
//	0.1, 0.3       {"file":{"name":"a.txt","mimeType":"text/plain","bytes":"…"}}   or "uri"
//	0.3 ProtoJSON  {"file":{"fileWithBytes":"…"}}                                  or "fileWithUri"
//	1.0            {"raw":"…","filename":"a.txt","mediaType":"text/plain"}         or "url"
//
// Names are folded first, since an agent that reads JSON leniently finds "URL" where it looks for
// "url".
func (r *fileReader) object(inner bool) {
	s := r.s
	for s.Enter(); s.More(); {
		var buf [jsonscan.LongestName + 4]byte
		name := string(jsonscan.Fold(buf[:0], s.Name(), jsonscan.LongestName))
		switch {
		case name == "file" && s.Kind() == '{' && !inner:
			r.is = true
			r.object(true)
		case s.Kind() == '"':
			r.member(name)
		default:
			s.Skip()
		}
	}
}

// member reads a member that is a string, by its folded name in any version.
func (r *fileReader) member(name string) {
	switch name {
	case "url", "uri", "filewithuri":
		if link := string(r.s.Text()); link != "" {
			r.of.URLs, r.is = append(r.of.URLs, link), true
		}
	case "raw", "bytes", "filewithbytes":
		r.is, r.of.Inline = true, true
		r.of.Bytes = max(r.of.Bytes, r.size(r.s.Text()))
	case "name", "filename":
		r.of.Names = append(r.of.Names, string(r.s.Text()))
	case "mimetype", "mediatype":
		r.of.MediaTypes = append(r.of.MediaTypes, bareType(string(r.s.Text())))
	default:
		r.s.Skip()
	}
}

// size is how many bytes an inline content has.
func (r *fileReader) size(text []byte) int64 {
	if r.proto {
		if n, ok := doubled(text); ok {
			return n
		}
	}
	return plainSize(text)
}

// Replace returns the document with text parts in the place of the parts whose index
// texts has: Doc itself if there are none, else new memory. Their number, and all that
// was not replaced, stays as it is, byte for byte.
func Replace(c *wire.Carriers, texts map[int]string) []byte {
	if len(texts) == 0 {
		return c.Doc
	}
	cuts := make([]jsonscan.Splice, 0, len(texts))
	for i, text := range texts {
		at := c.List[i].Span
		quoted, _ := jsontext.AppendQuote(nil, text) // invalid UTF-8 is replaced
		cuts = append(cuts, jsonscan.Splice{Start: at[0], End: at[1], Text: "{" + textKind(c, at) + `"text":` + string(quoted) + "}"})
	}
	return jsonscan.Spliced(c.Doc, cuts)
}

// textKind is the member that says of a part that it is a text, as the part that it
// replaces says its kind: of versions that say it, some agents do not.
func textKind(c *wire.Carriers, part [2]int) string {
	for _, name := range []string{"kind", "type"} {
		if value, _ := wire.MemberOf(c.Doc, part, name); value != [2]int{} {
			return `"` + name + `":"text",`
		}
	}
	switch {
	case c.Side.Version == wire.V01:
		return `"type":"text",`
	case c.Side.Version == wire.V03 && c.Side.Binding == wire.JSONRPC:
		return `"kind":"text",`
	}
	return ""
}
