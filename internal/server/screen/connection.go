package screen

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Fields that are about a request and not about its connection: who calls, what is asked, how
// it is written, where it comes from. A client that names one of them in Connection has every
// intermediary that follows RFC 9110 §7.6.1 take it off, and is judged without it.
var (
	reliedOn = []string{
		"Connection", "Host", "Transfer-Encoding", "Expect",
		"Authorization", "Proxy-Authorization", "Cookie", "DPoP", "X-API-Key", "X-CSRF-Token", "Origin", "Client-Cert",
		"X-Client-Cert", "Accept", "User-Agent", "Idempotency-Key", "Last-Event-ID", "Forwarded", "Via", "X-Real-IP",
		"True-Client-IP", "X-Request-ID", "X-HTTP-Method-Override", "X-Original-URL", "X-Rewrite-URL", "Traceparent",
		"Tracestate", "Baggage",
	}
	reliedOnPrefixes = []string{
		"A2A-", "X-A2A-", "X-Gateway-", "X-Forwarded-", "Content-", "Accept-", "Sec-Fetch-", "Webhook-", "If-", "Grpc-",
	}
)

// checkConnection takes off what Connection names (RFC 9110 §7.6.1): offers to upgrade, which
// are declined by not answering them (§7.8), and whatever else proxies say of their own
// connections. It refuses names of fields that the gateway relies on, those of also among them:
// that is how headers are stripped which somebody in front has set (L3).
func checkConnection(h http.Header, also []string) *wire.Error {
	for _, line := range h["Connection"] {
		for more := true; more; {
			var option string
			option, line, more = strings.Cut(line, ",")
			switch option = strings.Trim(option, " \t"); {
			case option == "", strings.EqualFold(option, "keep-alive"), strings.EqualFold(option, "close"):
				continue
			case !IsToken(option):
				return malformed("Connection must be a list of names")
			}
			if name, ok := relies(option, also); ok {
				return malformed("Connection must not name " + name + ", which the gateway relies on")
			}
			delete(h, http.CanonicalHeaderKey(option))
		}
	}
	return nil
}

// relies finds a name among those of fields that the gateway relies on, and says what to
// call it: what the client has written is not repeated.
func relies(option string, also []string) (string, bool) {
	same := func(name string) bool { return strings.EqualFold(name, option) }
	if i := slices.IndexFunc(reliedOn, same); i >= 0 {
		return reliedOn[i], true
	}
	if i := slices.IndexFunc(reliedOnPrefixes, func(p string) bool {
		return len(option) >= len(p) && strings.EqualFold(p, option[:len(p)])
	}); i >= 0 {
		return "a field " + reliedOnPrefixes[i] + "…", true
	}
	return "a field", slices.ContainsFunc(also, same)
}

// IsToken reports whether s is a token of RFC 9110 §5.6.2, as names of fields and methods are.
func IsToken(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0:
			return false
		}
	}
	return s != ""
}
