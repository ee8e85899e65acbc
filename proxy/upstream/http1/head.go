package http1

import (
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// mostFields is how many fields a head or the trailers of an answer may have.
const mostFields = 256

// head is what stands before an answer's body.
type head struct {
	status  int
	text    string // status and reason
	minor   int    // of the version
	header  http.Header
	trailer http.Header // those that are announced; nil for none
	length  int64       // -1 when none is given
	chunked bool
	closes  bool // the connection, after this answer
}

// parse reads a whole head (RFC 9112 §4, §5), each line of which ends with CR and LF. There
// may be room for the values of its fields.
//
// h is overwritten as a whole, since interim answers are parsed into the same place. Values are
// slices of text, which is a copy of the buffer: they stay valid after it is reused.
func (h *head) parse(text string, room []string) error {
	line, rest, _ := strings.Cut(text, "\r\n")
	*h = head{length: -1}
	if !h.statusLine(line) {
		return broken("it does not begin with a status line")
	}
	var err error
	if h.header, err = fields(rest, room); err != nil {
		return err
	}
	return h.meaning()
}

// statusLine reads "HTTP/1.1 200 OK". The reason may be left out, and the space with it.
func (h *head) statusLine(line string) bool {
	const version = "HTTP/1.x "
	if len(line) < len(version)+3 || line[:7] != "HTTP/1." || line[7]>>1 != '0'>>1 || line[8] != ' ' {
		return false
	}
	h.minor, h.text = int(line[7]-'0'), line[len(version):]
	for _, c := range []byte(h.text[:3]) {
		if c < '0' || c > '9' {
			return false
		}
		h.status = h.status*10 + int(c-'0')
	}
	reason := h.text[3:]
	return h.status >= 100 && (reason == "" || reason[0] == ' ') && httpguts.ValidHeaderFieldValue(reason)
}

// fields reads fields up to and with the empty line. There may be room for their values.
//
// All values of single fields share one array, room or one that is made for them, which is one
// allocation instead of one per field. append to a value never reaches its neighbour, because the
// slices have no spare capacity.
func fields(text string, room []string) (http.Header, error) {
	n := strings.Count(text, "\n") - 1
	if n > mostFields {
		return nil, broken("it has too many fields")
	}
	header, values := make(http.Header, n), room
	if n > len(room) {
		values = make([]string, n)
	}
	for {
		line, rest, _ := strings.Cut(text, "\r\n")
		if line == "" {
			return header, nil
		}
		name, value, ok := strings.Cut(line, ":")
		// A name with a space before it is a folded line, and one with a space behind it
		// is read in more than one way.
		if !ok || !httpguts.ValidHeaderFieldName(name) {
			return nil, broken("a field has no name")
		}
		value = strings.Trim(value, " \t")
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, broken("a field has control characters in it")
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		if before := header[name]; before != nil {
			header[name] = append(before, value)
		} else {
			values[0] = value
			header[name], values = values[:1:1], values[1:]
		}
		text = rest
	}
}

// meaning reads what the fields say about the body and the connection. An answer that
// says it in two ways, or the same twice, is refused: somebody before us may have
// believed the other.
//
// Transfer-Encoding and Trailer are taken out of the header, as net/http does: they are about
// this connection alone. HTTP/1.0 closes after each answer, as keep-alive is not asked for.
func (h *head) meaning() error {
	if v := h.header["Content-Length"]; v != nil {
		n, ok := length(v)
		if !ok {
			return broken("its Content-Length is not one number")
		}
		h.length = n
	}
	if v := h.header["Transfer-Encoding"]; v != nil {
		switch {
		case h.length >= 0:
			return broken("it has a length and chunks")
		case h.minor == 0:
			return broken("HTTP/1.0 has no transfer codings")
		case len(v) != 1 || !strings.EqualFold(v[0], "chunked"):
			return broken("its transfer coding is not chunked alone")
		}
		h.chunked = true
		delete(h.header, "Transfer-Encoding")
	}
	if v := h.header["Trailer"]; v != nil && h.chunked {
		if !h.announce(v) {
			return broken("it announces trailers about its length")
		}
		delete(h.header, "Trailer")
	}
	if h.closes = h.minor == 0; httpguts.HeaderValuesContainsToken(h.header["Connection"], "close") && !h.closes {
		h.closes = true
		delete(h.header, "Connection")
	}
	return nil
}

// mostDigits bounds a length to what fits everywhere.
const mostDigits = 18

// length reads one Content-Length of at most 18 digits. "5, 5" and two equal lines are refused,
// which RFC 9112 §6.3 lets a recipient do: an intermediary that took the first and one that took
// the list would disagree.
func length(values []string) (int64, bool) {
	if len(values) != 1 || len(values[0]) > mostDigits {
		return 0, false
	}
	n, err := strconv.ParseUint(values[0], 10, 63)
	return int64(n), err == nil // 63 bits
}

// framing are the fields that say where an answer ends.
var framing = [...]string{"Content-Length", "Transfer-Encoding", "Trailer"}

// announce takes over the names of trailers, as net/http does. Values come later, or not.
func (h *head) announce(values []string) bool {
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			name = textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name))
			if slices.Contains(framing[:], name) {
				return false
			}
			if name == "" {
				continue
			}
			if h.trailer == nil {
				h.trailer = http.Header{}
			}
			h.trailer[name] = nil
		}
	}
	return true
}
