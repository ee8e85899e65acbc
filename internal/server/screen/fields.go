package screen

import (
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// isSingleton knows the fields of which a second line is a second opinion (L9),
// in net/http's spelling. Authorization and the other credentials are counted
// by authn, which knows how many the configuration asks for. Accept is a list
// (RFC 9110 §12.5.1), and the Python SDK for 0.3 sends two lines of it.
func isSingleton(name string) bool {
	switch name {
	case "Content-Type", "A2a-Version", "X-A2a-Version", "Traceparent", "Last-Event-Id",
		"Content-Encoding", "Expect":
		return true
	}
	return false
}

// foreignName finds what CGI and its heirs (WSGI, PHP) spell as they spell a
// hyphen: X_Forwarded_For would become a field that the gateway owns (L2).
func foreignName(name string) bool {
	return strings.IndexByte(name, '_') >= 0 || strings.IndexByte(name, '.') >= 0
}

// checkFields looks at every field once, and then at those that matter.
func checkFields(r *http.Request, most int, also []string) *wire.Error {
	lines := 0
	for name, values := range r.Header {
		if foreignName(name) {
			return malformed("field names must not hold underscores or dots")
		}
		if len(values) > 1 && isSingleton(name) {
			return malformed("field " + name + " is repeated")
		}
		lines += len(values)
	}
	for name := range r.Trailer { // those that are announced
		if foreignName(name) {
			return malformed("field names must not hold underscores or dots")
		}
	}
	if lines > most {
		return wire.Errorf(wire.FieldsTooLarge, "Request has more than %d header fields (server.limits.fields)", most)
	}
	if e := checkConnection(r.Header, also); e != nil {
		return e
	}
	return checkMeaning(r.Header)
}

// checkMeaning reads the fields that change what the others, or the body, are. Who opens a
// WebSocket can do nothing with another answer than 101, and is told that there is none; all
// other offers to upgrade are not answered.
func checkMeaning(h http.Header) *wire.Error {
	if h["Sec-Websocket-Key"] != nil {
		return malformed("WebSockets are not offered")
	}
	for _, line := range h["Expect"] {
		if !onlyTokens(line, "100-continue", "") {
			return malformed("Expect may only say 100-continue")
		}
	}
	for _, line := range h["Content-Encoding"] {
		if !onlyTokens(line, "identity", "") { // decompression bombs (L23)
			return wire.Errorf(wire.Encoded, "Request body must not be compressed")
		}
	}
	return nil
}

// onlyTokens tells whether a comma-separated list has no element but a and b,
// case ignored. Empty elements are skipped (RFC 9110 §5.6.1.2).
func onlyTokens(list, a, b string) bool {
	for more := true; more; {
		var token string
		token, list, more = strings.Cut(list, ",")
		token = strings.Trim(token, " \t")
		if token != "" && !strings.EqualFold(token, a) && !strings.EqualFold(token, b) {
			return false
		}
	}
	return true
}
