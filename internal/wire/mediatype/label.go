package mediatype

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
)

// byteOrderMark is U+FEFF in UTF-8. JSON must not begin with it, and who reads JSON may
// pass over it (RFC 8259 §8.1).
var byteOrderMark = []byte("\xef\xbb\xbf")

// AfterBOM is a document without the byte order mark that it may begin with.
func AfterBOM(doc []byte) []byte { return bytes.TrimPrefix(doc, byteOrderMark) }

// Form is how the body of an answer is written where it is not as A2A has it: words for
// the record such as "no Content-Type, byte order mark", or "".
type Form string

// note adds one deviation to those that have been found.
func (f *Form) note(what string) {
	if *f != "" {
		*f += ", "
	}
	*f += Form(what)
}

// Label is what the lines of a Content-Type header say about a body.
//
//	application/json; charset=utf-8     JSON, as A2A has it
//	text/plain                          neither: the body decides
//	text/html                           Other
//	application/json; charset=utf-16    coded, and refused unless it is ASCII
type Label struct {
	Form         // what is not as A2A has it
	Media string // the media type; "" where there is none, or none that can be read
	JSON  bool   // it is a type of JSON's
	Other bool   // it is another format's, so that a JSON body could be read in two ways
	coded string // a charset that is not JSON's
}

// ReadLabel reads a Content-Type header. Types that say nothing about the format, as
// text/plain and application/octet-stream, leave it to the body.
func ReadLabel(lines []string) Label {
	if len(lines) == 1 && (lines[0] == JSON || lines[0] == A2A) { // as nearly all are written
		return Label{Media: lines[0], JSON: true}
	}
	var l Label
	var said []string
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			if item = strings.TrimSpace(item); item != "" {
				said = append(said, item)
			}
		}
	}
	if len(said) == 0 {
		l.note("no Content-Type")
		return l
	}
	l.JSON = true
	for _, item := range said {
		l.read(item)
	}
	if len(said) > 1 {
		l.Form = ""
		l.note("more than one Content-Type")
	}
	return l
}

// read reads one media type with its parameters.
func (l *Label) read(item string) {
	media, params, err := mime.ParseMediaType(item)
	if err != nil {
		media, _, _ = strings.Cut(item, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	l.Media = media
	sub := media[strings.IndexByte(media, '/')+1:]
	switch {
	case media == JSON, media == A2A, media == Problem:
	case sub == "json", strings.HasSuffix(sub, "+json"), sub == "x-json", strings.HasPrefix(sub, "json"):
		l.note("Content-Type " + Quoted(media))
	case media == "text/plain", sub == "octet-stream", sub == media:
		l.JSON = false
		l.note("Content-Type " + Quoted(media))
	default:
		l.JSON, l.Other = false, true
	}
	switch charset := strings.ToLower(params["charset"]); charset {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
	default:
		l.coded = charset
		if len(charset) > longest || strings.ContainsFunc(charset, func(c rune) bool { return c <= ' ' || c > '~' }) {
			l.coded = "that has no name"
		}
		l.note("charset " + l.coded)
	}
}

// Document finds the JSON document that the body of an answer is, where it can be read
// in one way only. A byte order mark is no part of it. The error names what came, in words
// that a caller may be shown.
func (l Label) Document(body []byte) ([]byte, Form, error) {
	form := l.Form
	if name := wideText(body); name != "" {
		return nil, form, fmt.Errorf("the agent's answer is in %s, and JSON is UTF-8", name)
	}
	doc := AfterBOM(body)
	if len(doc) < len(body) {
		form.note("byte order mark")
	}
	rest := bytes.TrimLeft(doc, " \t\r\n")
	looks := len(rest) > 0 && (rest[0] == '{' || rest[0] == '[')
	switch {
	case l.Other && len(body) > 0:
		return nil, form, fmt.Errorf("the agent's answer is no JSON (%s)", Quoted(l.Media))
	case len(rest) == 0, l.JSON && l.coded == "":
	case l.coded != "" && !isASCII(doc):
		return nil, form, fmt.Errorf("the agent's answer is in charset %s, and JSON is UTF-8", l.coded)
	case !l.JSON && !looks:
		return nil, form, fmt.Errorf("the agent's answer is no JSON (%s)", Quoted(l.Media))
	}
	return doc, form, nil
}

// Corrected reports whether the label is another than the document's.
func (l Label) Corrected() bool { return l.Form != "" || l.Other }

// wideText names the encoding of a text in UTF-16 or UTF-32, by its byte order mark or by
// the NUL beside its first character, which JSON has in ASCII; "" for any other.
func wideText(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(b, []byte("\x00\x00\xfe\xff")),
		bytes.HasPrefix(b, []byte("\x00\x00\x00")):
		return "UTF-32"
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return "UTF-16"
	case len(b) < 2 || b[0] != 0 && b[1] != 0:
		return ""
	case len(b) > 3 && b[0] != 0 && b[2] == 0 && b[3] == 0:
		return "UTF-32"
	}
	return "UTF-16"
}

// isASCII reports whether b reads alike in every charset that agents name.
func isASCII(b []byte) bool {
	return !bytes.ContainsFunc(b, func(c rune) bool { return c > 0x7f })
}
