package server

import (
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// singletons are the fields of which a second line is a second opinion (L9),
// in net/http's spelling. Authorization and the other credentials are counted
// by authn, which knows how many the configuration asks for.
var singletons = [...]string{
	"Content-Type", "Accept", "A2a-Version", "X-A2a-Version", "Traceparent", "Last-Event-Id",
	"Content-Encoding", "Expect",
}

func screenFields(h http.Header, most int) *wire.Error {
	lines := 0
	for name, values := range h {
		// CGI and its heirs (WSGI, PHP) turn a hyphen into an underscore, others a
		// dot: X_Forwarded_For would become a field that the gateway owns (L2).
		if strings.IndexByte(name, '_') >= 0 || strings.IndexByte(name, '.') >= 0 {
			return malformed("field names must not hold underscores or dots")
		}
		lines += len(values)
	}
	if lines > most {
		return wire.Errorf(wire.TooLarge, "Request has more than %d header fields", most)
	}
	for _, name := range singletons {
		if len(h[name]) > 1 {
			return malformed("field " + name + " is repeated")
		}
	}
	if _, ok := h["Upgrade"]; ok {
		return malformed("protocol upgrades are not offered") // h2c, websocket (L16)
	}
	for _, line := range h["Connection"] {
		if !onlyTokens(line, "close", "keep-alive") {
			// Any other token makes an intermediary drop the field it names (L3).
			return malformed("Connection may only say close or keep-alive")
		}
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
