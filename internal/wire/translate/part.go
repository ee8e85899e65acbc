package translate

// compat marks a data part whose data is no object. Before 1.0 there was no way to
// say it; the SDKs have agreed on {"value":X} and this key in the part's metadata.
const compat = "data_part_compat"

var partRules = []rule{
	{only10, before1, lost, "`mediaType` and `filename` of parts that are text or data."},
	{only10, before1, changed, "Data that is no object becomes `{\"value\":X}`, marked by `data_part_compat` in the part's " +
		"metadata, as the SDKs do it."},
	{before1, only10, changed, "Data that is marked so becomes what it was, `null` included. Metadata that has nothing but " +
		"the mark goes with it."},
	{after01, onlyP03, changed, "A file's bytes become base64 of base64, as the SDKs for Go, Java and Python have it, but for " +
		"callers that say they are JavaScript and agents with `fileBytes: plain`."},
	{onlyP03, every, changed, "A file's bytes that are base64 of base64 become base64; others stay, as the SDK for " +
		"JavaScript has them, and so do all bytes of such a caller or agent."},
	{every, every, changed, "Base64 in the alphabet of URLs becomes the standard one, with padding."},
	{kinded, every, refused, "A caller's message without parts: `INVALID_PARAMS`, as the SDKs' servers say it. Nothing could be made up for it."},
	{onlyP03, only10, refused, "A caller's message without `content`: `INVALID_PARAMS`. 1.0 wants parts, and nothing could be made up for them."},
	{kinded, every, changed, "A part without `kind` (`type` in 0.1) is what its members say it is, as the SDKs read it: text, file and data " +
		"have no member in common."},
	{every, every, refused, "A part that is not exactly one of text, file and data, or a file that is not exactly one of " +
		"bytes and URI: `INVALID_PARAMS` for a caller, `INVALID_AGENT_RESPONSE` for an agent."},
}

// part is one part of a message or artifact, whatever it was written in. Exactly
// one of text, data, bytes and uri is set.
//
// Each field is a piece of the source as it is written there, quotes and escapes included, so that a
// text of a megabyte is copied once and not parsed.
type part struct {
	text, data, bytes, uri []byte
	name, media            []byte // of a file
	metadata               []byte
}

// Rows of partObject and fileObject.
const (
	partText = iota
	partData
	partFile
	partBytes
	partURI
	partName
	partMedia
	partMetadata
	partKind
)

// partObject says where a part has what. In d01 and d03 a file is an object of its
// own, in p03 data is too; see part.read.
var partObject = newObject("Part", "",
	member{say: everywhere("text")},
	member{say: everywhere("data")},
	member{say: words{"file", "file", "file", ""}},
	member{say: words{"", "", "", "raw"}},
	member{say: words{"", "", "", "url"}},
	member{say: words{"", "", "", "filename"}},
	member{say: words{"", "", "", "mediaType"}},
	member{say: everywhere("metadata")},
	member{say: words{"type", "kind", "", ""}, also: []string{"kind", "type"}},
)

var fileObject = newObject("File", "",
	member{say: words{"", "", "", ""}},
	member{say: words{"", "", "", ""}},
	member{say: words{"", "", "", ""}},
	member{say: words{"bytes", "bytes", "fileWithBytes", "raw"}},
	member{say: words{"uri", "uri", "fileWithUri", "url"}},
	member{say: words{"name", "name", "name", "filename"}},
	member{say: words{"mimeType", "mimeType", "mimeType", "mediaType"}},
)

// parts writes the parts of a message or artifact. ProtoJSON leaves out an empty
// list, the other dialects want one.
//
// What the agent is asked with empty parts it answers with an error or, worse, out of nothing; so a
// caller's message without parts is refused, and an agent's is shown as it is.
func (w *writer) parts(raw []byte) bool {
	switch {
	case raw == nil && w.call != nil && (w.from < p03 || w.from == p03 && w.to == d10): // else it may be an empty list
		if w.from == p03 {
			w.broken("message.content is missing") // its name there
		} else {
			w.broken("message.parts is missing")
		}
		return false
	case raw == nil && w.to != d01 && w.to != d03:
		return false
	case raw == nil:
		raw = []byte("[]")
	case !isArray(raw):
		w.broken("parts is not an array")
		return false
	}
	w.literal("[")
	for value := range elements(raw) {
		w.comma()
		w.part(value)
	}
	w.literal("]")
	return true
}

// part writes one part:
//
//	0.1            {"type":"text","text":"a"}   {"type":"file","file":{"bytes":"…"}}   {"type":"data","data":{…}}
//	0.3 JSON-RPC   {"kind":"text","text":"a"}   {"kind":"file","file":{"bytes":"…"}}   {"kind":"data","data":{…}}
//	0.3 ProtoJSON  {"text":"a"}                 {"file":{"fileWithBytes":"…"}}         {"data":{"data":{…}}}
//	1.0            {"text":"a"}                 {"raw":"…"}                            {"data":…}
//
// Data is an object before 1.0; what is none is wrapped, {"value":X}, with a mark in the metadata by
// which the SDKs unwrap it.
func (w *writer) part(raw []byte) {
	p, wrong := readPart(w.from, raw)
	if wrong != "" {
		w.broken(wrong)
	}
	w.literal("{")
	defer w.literal("}")
	switch {
	case p.text != nil:
		w.kind("text")
		w.verbatim("text", p.text)
	case p.data != nil:
		w.kind("data")
		w.data(p)
		return
	case p.bytes != nil || p.uri != nil:
		w.kind("file")
		w.file(p)
	}
	w.verbatim("metadata", p.metadata)
}

// kind writes what tells parts apart before 1.0.
func (w *writer) kind(kind string) {
	if name := partObject.members[partKind].say[w.to]; name != "" {
		w.name(name)
		w.word(kind)
	}
}

// readPart takes a part to pieces and says what is wrong with it.
//
// A part of 0.3 without "kind" is read by what it has. The SDKs read it
// so, and text, file and data have no member in common.
func readPart(d dialect, raw []byte) (p part, wrong string) {
	if !isObject(raw) {
		return p, "a part is not an object"
	}
	var v values
	partObject.gather(d, raw, &v)
	if d != d10 && v[partFile] != nil {
		if !isObject(v[partFile]) {
			return p, "the file of a part is not an object"
		}
		fileObject.gather(d, v[partFile], &v)
	}
	p = part{
		text: v[partText], data: v[partData], bytes: v[partBytes], uri: v[partURI],
		name: worth(v[partName]), media: worth(v[partMedia]), metadata: v[partMetadata],
	}
	if d == p03 && p.data != nil {
		p.data = inner(p.data)
	}
	if p.bytes != nil && p.uri != nil { // printed by an SDK that has no absent strings
		p.bytes, p.uri = worth(p.bytes), worth(p.uri)
	}
	if p.metadata != nil && !isObject(p.metadata) {
		return p, "the metadata of a part is not an object"
	}
	n := 0
	for _, one := range [...][]byte{p.text, p.data, p.bytes, p.uri} {
		if one != nil {
			n++
		}
	}
	if n == 0 && d != p03 && hasNullData(raw) {
		p.data, n = []byte("null"), 1
	}
	if n != 1 {
		return p, "a part is not exactly one of text, file and data"
	}
	if d != d10 {
		p.unwrap()
	}
	return p, ""
}

// worth is nil for an empty string: ProtoJSON's way to say that there is none.
//
//	{"file":{"bytes":"","uri":"https://f.example/a"}}   a file by URI: the bytes are an unset field
func worth(raw []byte) []byte {
	if len(raw) <= len(`""`) {
		return nil
	}
	return raw
}

// inner is the struct in the data part of 0.3's ProtoJSON, where an empty one may
// be left out.
func inner(data []byte) []byte {
	if s := lookup(data, "data"); s != nil {
		return s
	}
	return []byte("{}")
}

// hasNullData reports whether a part says "data":null, which in 1.0 is a value.
func hasNullData(raw []byte) bool {
	for name, value := range members(raw) {
		if isNull(value) && string(unescaped(name)) == "data" {
			return true
		}
	}
	return false
}

// unwrap undoes what compat marks.
//
//	0.3   {"kind":"data","data":{"value":[1,2]},"metadata":{"data_part_compat":true}}
//	1.0   {"data":[1,2]}
func (p *part) unwrap() {
	if !isTrue(lookup(p.metadata, compat)) || !isObject(p.data) {
		return
	}
	var value []byte
	n := 0
	for name, v := range members(p.data) {
		if n++; string(unescaped(name)) == "value" {
			value = v
		}
	}
	if value == nil || n != 1 {
		return
	}
	p.data = value
	p.metadata = without(p.metadata, compat)
}

// without copies an object but for one member; nil if nothing remains.
//
// It gives new memory; object stays as it is.
func without(object []byte, member string) []byte {
	w := buffer{out: []byte("{")}
	for name, value := range members(object) {
		if string(unescaped(name)) == member {
			continue
		}
		w.name(string(name))
		w.raw(value)
	}
	if len(w.out) == 1 {
		return nil
	}
	return append(w.out, '}')
}

// data writes a data part's data and metadata.
//
//	1.0        {"data":7}
//	p03        {"data":{"data":{"value":7}},"metadata":{"data_part_compat":true}}
//	d01, d03   {"data":{"value":7},"metadata":{"data_part_compat":true}}
func (w *writer) data(p part) {
	w.name("data")
	if w.to == p03 {
		w.literal(`{"data":`)
	}
	wrap := w.to != d10 && !isObject(p.data)
	if wrap {
		w.literal(`{"value":`)
	}
	w.raw(p.data)
	if wrap {
		w.literal("}")
		p.metadata = without(p.metadata, compat)
	}
	if w.to == p03 {
		w.literal("}")
	}
	if !wrap {
		w.verbatim("metadata", p.metadata)
		return
	}
	w.name("metadata")
	if p.metadata == nil {
		p.metadata = []byte("{}")
	}
	w.raw(p.metadata[:len(p.metadata)-1])
	w.name(compat)
	w.literal("true}")
}
