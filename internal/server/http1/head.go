package http1

import (
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/internal/server/httpfield"
)

// buffers are for what goes out at once.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, blockSize)
	return &b
}}

// bufferMost is what a buffer of the pool may have grown to.
const bufferMost = 64 << 10

// takeBuffer is an empty buffer of the pool, to be given back with giveBuffer.
func takeBuffer() *[]byte {
	b, _ := buffers.Get().(*[]byte)
	*b = (*b)[:0]
	return b
}

// giveBuffer gives back what nobody has any more; nil is nothing.
func giveBuffer(b *[]byte) {
	if b != nil && cap(*b) <= bufferMost {
		buffers.Put(b)
	}
}

// appendHead appends what is known of the head when the handler writes it. What it says
// about framing is for endHead.
func (w *response) appendHead(b []byte) []byte {
	b = appendFields(appendStatus(b, w.x.request.ProtoMinor, w.status), w.header)
	if w.header["Date"] == nil { // which who has set it may not want at all
		b = append(append(append(b, "Date: "...), httpfield.Date()...), "\r\n"...)
	}
	// A header that names a coding is of bytes that sniffing would take for something else.
	_, w.typed = w.header["Content-Type"]
	w.typed = w.typed || w.header["Content-Encoding"] != nil
	w.closes = w.closes || httpfield.HasToken(w.header["Connection"], "close")
	// One that is no number is left out, as net/http does, and the body is framed by what comes.
	if v := w.header["Content-Length"]; len(v) > 0 {
		if n, err := strconv.ParseInt(v[0], 10, 64); err == nil && n >= 0 {
			w.length = n
		}
	}
	return b
}

// appendStatus appends the status line, as in "HTTP/1.1 200 OK" and CR LF (RFC 9112 §4). The version is
// the request's: a client of HTTP/1.0 may not know what 1.1 means.
func appendStatus(b []byte, minor, status int) []byte {
	b = append(b, "HTTP/1."...)
	b = strconv.AppendInt(b, int64(minor), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	if text := http.StatusText(status); text != "" {
		b = append(b, text...)
	} else {
		b = strconv.AppendInt(append(b, "status code "...), int64(status), 10)
	}
	return append(b, "\r\n"...)
}

// appendFields appends the fields of a header in the order of their names, but those that
// are about framing.
func appendFields(b []byte, h http.Header) []byte {
	// On the stack: most answers have fewer fields.
	var room [24]string
	names := room[:0]
	for name := range h {
		switch name {
		case "Content-Length", "Transfer-Encoding", "Connection":
		default:
			names = append(names, name)
		}
	}
	// A map has no order of its own; the same answer is then the same bytes, for caches and for tests.
	slices.Sort(names)
	for _, name := range names {
		for _, value := range h[name] {
			b = appendField(b, name, value)
		}
	}
	return b
}

// appendField appends a field, unless its name is none; a name for a trailer is none. In a
// value there are no line ends, which would make two of it.
func appendField(b []byte, name, value string) []byte {
	if !isToken(name) {
		return b
	}
	b = append(append(b, name...), ": "...)
	at := len(b)
	b = append(b, textproto.TrimString(value)...)
	// A line end in a value would begin another field, or the body (response splitting).
	for i := at; i < len(b); i++ {
		if b[i] == '\r' || b[i] == '\n' {
			b[i] = ' '
		}
	}
	return append(b, "\r\n"...)
}

// isToken is of RFC 9110 §5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
		case strings.IndexByte("!#$%&'*+.^_`|~", c) < 0:
			return false
		}
	}
	return s != ""
}

// sniff says what the first of a body looks like, where the handler does not.
func (w *response) sniff(p []byte) {
	// The head waits for the first bytes of the body because of this.
	if !w.typed && !w.sent {
		*w.head = appendField(*w.head, "Content-Type", http.DetectContentType(p))
	}
	w.typed = true
}

// endHead ends the head with how the body is framed, where whole is all that there is of it,
// and whether the connection goes on.
func (w *response) endHead(b []byte, whole bool) []byte {
	old := w.x.request.ProtoMinor == 0
	length := w.length
	if length < 0 && whole && w.measured() {
		length = w.bytes
	}
	switch {
	case length >= 0:
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), length, 10), "\r\n"...)
	// No body, no framing (RFC 9112 §6.3): a length would be that of another answer.
	case w.silent():
	// HTTP/1.0 has no chunks.
	case old:
		w.closes = true // which is the body's end
	default:
		w.chunked = true
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	w.closes = w.closes || w.conn.server.ended.Load() || w.x.body.stays()
	switch {
	case w.closes && !old:
		b = append(b, "Connection: close\r\n"...)
	// HTTP/1.0 closes unless both say otherwise (RFC 9112 §9.3).
	case !w.closes && old:
		b = append(b, "Connection: keep-alive\r\n"...)
	}
	return append(b, "\r\n"...)
}

// measured reports whether a whole body has a length that is to be said. To HEAD it is that
// of the answer to GET, if that would have been held too.
func (w *response) measured() bool {
	if w.x.request.Method == http.MethodHead {
		return httpfield.HasBody(w.status) && w.bytes > 0 && w.bytes <= heldMost
	}
	return httpfield.HasBody(w.status)
}

// appendTrailers appends what the handler has set with http.TrailerPrefix.
func appendTrailers(b []byte, h http.Header) []byte {
	for name, values := range h {
		if name, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			for _, value := range values {
				b = appendField(b, textproto.CanonicalMIMEHeaderKey(name), value)
			}
		}
	}
	return b
}

// refusal is the answer to what is no request. The text says why.
func refusal(status int, text string) []byte {
	said := strconv.Itoa(status) + " " + http.StatusText(status)
	body := said + ": " + text + "\n"
	return []byte("HTTP/1.1 " + said + "\r\nContent-Type: text/plain; charset=utf-8\r\nDate: " + httpfield.Date() +
		"\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\nConnection: close\r\n\r\n" + body)
}
