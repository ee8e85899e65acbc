package screen

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// checkQuery bounds the query and makes sure that it reads one way only (L13),
// so that no parameter is there for the agent and not for the policy. It also
// refuses names that carry credentials (L5): URLs are logged by everyone.
func checkQuery(u *url.URL, lim *Limits) *wire.Error {
	query := u.RawQuery
	if query == "" {
		return nil
	}
	if len(query) > lim.Query {
		return wire.Errorf(wire.TargetTooLong, "Query is longer than %d bytes (server.limits.query)", lim.Query)
	}
	for count := 1; ; count++ {
		if count > lim.Parameters {
			return wire.Errorf(wire.TargetTooLong, "Query has more than %d parameters (server.limits.parameters)", lim.Parameters)
		}
		pair, rest, more := strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		name, ok := decode(name)
		if !ok {
			return malformed("query is not properly encoded")
		}
		if _, ok := decode(value); !ok {
			return malformed("query is not properly encoded")
		}
		if isCredential(name) {
			return malformed("credentials must not be sent in the URL")
		}
		if !more {
			return nil
		}
		query = rest
	}
}

// decode undoes the form encoding of a query's name or value. Nothing is
// allocated where there is nothing to undo. Beyond what net/url refuses, a
// semicolon (a separator to some parsers), control characters and invalid UTF-8
// are refused as well.
func decode(s string) (string, bool) {
	if strings.IndexByte(s, ';') >= 0 {
		return "", false
	}
	if strings.IndexByte(s, '%') >= 0 || strings.IndexByte(s, '+') >= 0 {
		decoded, err := url.QueryUnescape(s)
		if err != nil {
			return "", false
		}
		s = decoded
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return "", false
		}
	}
	return s, utf8.ValidString(s)
}

// isCredential knows the parameter names under which keys and tokens travel,
// in any case and with hyphens, underscores or dots between the words. A2A's own
// parameters (pageToken among them) are none of these.
func isCredential(name string) bool {
	var buf [24]byte
	folded := buf[:0]
	for i := range len(name) {
		c := name[i]
		if c == '-' || c == '_' || c == '.' {
			continue
		}
		if len(folded) == len(buf) {
			return false
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		folded = append(folded, c)
	}
	switch string(folded) {
	case "key", "apikey", "xapikey", "apitoken", "token", "accesstoken", "idtoken", "refreshtoken",
		"authtoken", "xauthtoken", "bearer", "bearertoken", "jwt", "auth", "authorization", "sessiontoken",
		"password", "passwd", "secret", "clientsecret", "clientassertion", "assertion", "credential", "credentials":
		return true
	}
	return false
}
