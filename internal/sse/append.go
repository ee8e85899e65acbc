package sse

import (
	"bytes"
	"strings"
)

// Forget is an event id that has readers forget the one they have: it is written as a field
// with nothing in it (WHATWG HTML §9.2.6).
const Forget = "\x00"

// Append appends e to dst as one frame with LF line ends: event, id, a data
// line for every line of Data, and the blank line. CR and CRLF in Data are line
// ends too and come back as LF; what has no spelling is left out: line ends in ID
// and Name, and NULs in ID, which would make readers ignore it.
//
// An event without data appends nothing. A browser dispatches none either, but some
// parsers do, httpx-sse for one, with text in it that is no document.
func Append(dst []byte, e Event) []byte {
	if !e.HasData && len(e.Data) == 0 {
		return dst
	}
	dst = appendField(dst, "event: ", e.Name, "\r\n")
	dst = appendField(dst, "id: ", e.ID, "\r\n\x00")
	return append(appendLines(dst, "data: ", e.Data), '\n')
}

// AppendAround appends to dst what Append would before the bytes of e.Data, and gives
// what it would append behind them, so that long data need not be copied. It is not ok,
// and dst is as it was, where the data has line ends or there is none.
func AppendAround(dst []byte, e Event) (head, tail []byte, ok bool) {
	if len(e.Data) == 0 || !oneLine(e.Data) {
		return dst, nil, false
	}
	dst = appendField(dst, "event: ", e.Name, "\r\n")
	dst = appendField(dst, "id: ", e.ID, "\r\n\x00")
	return append(dst, "data: "...), behind, true
}

// oneLine reports whether text has no line ends.
func oneLine(text []byte) bool {
	return bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0
}

// behind is what stands behind the bytes of data without line ends.
var behind = []byte("\n\n")

// AppendComment appends text as comment lines, such as a heartbeat. No blank line
// stands behind them: it would end an event, and parsers that look whether they have
// an id instead of whether they have data make one of it (httpx-sse, which is in the
// Python SDKs, does so ever after the first id).
func AppendComment(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, ":\n"...)
	}
	return appendLines(dst, ": ", text)
}

// appendField writes one field of a frame, or nothing for an empty value. Characters that end a line
// are left out: an agent could write fields of its own behind them.
func appendField(dst []byte, prefix, value, without string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, prefix...)
	if clean(value, without) {
		return append(append(dst, value...), '\n')
	}
	for i := range len(value) {
		// A line end here would let an agent write lines of its own.
		if strings.IndexByte(without, value[i]) < 0 {
			dst = append(dst, value[i])
		}
	}
	return append(dst, '\n')
}

// clean reports whether a text has none of these bytes.
func clean(text, without string) bool {
	for i := range len(without) {
		if strings.IndexByte(text, without[i]) >= 0 {
			return false
		}
	}
	return true
}

// appendLines writes prefix before every line of text; no text is one line.
func appendLines[T string | []byte](dst []byte, prefix string, text T) []byte {
	dst = append(dst, prefix...)
	from := len(dst)
	dst = append(dst, text...)
	if oneLine(dst[from:]) {
		return append(dst, '\n') // JSON as every agent writes it
	}
	dst = dst[:from]
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
			// the LF that follows ends the line
		case c == '\r', c == '\n':
			dst = append(dst, '\n')
			dst = append(dst, prefix...)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '\n')
}
