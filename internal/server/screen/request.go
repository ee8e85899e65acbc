package screen

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Request judges all that a handler can still see of how a request was written,
// before anyone reads what it says. What parsers disagree about is refused,
// never repaired: the route, the decision, the audit record and the agent must
// all be about one request. It returns nil for a request that is in order.
//
// The rows of the threat model it answers: field names (L2), Connection (L3),
// credentials in the URL (L5), Host (L7), repeated singletons (L9), path (L11,
// L12), query (L13), verb and body (L15), sizes (L22), content coding (L23). The framing of HTTP/1.1 (L17) was judged by internal/server/strict before;
// of HTTP/2's, where frames make the body, a length that says otherwise is left (L18).
// Messages never repeat what the client sent: it may be a credential.
//
// What Connection says of the connection alone is taken off the header: offers to upgrade
// among it, which are not answered (L16). relied names further fields that decisions are made
// by, which must not be taken off.
//
// Whether the host is one that is served, and which verbs a route has, is asked
// elsewhere. lim must have its Defaults.
func Request(r *http.Request, lim Limits, relied ...string) *wire.Error {
	if e := checkVerb(r); e != nil {
		return e
	}
	if e := checkTarget(r, &lim); e != nil {
		return e
	}
	if e := checkHost(r); e != nil {
		return e
	}
	if e := checkFields(r, lim.Fields, relied); e != nil {
		return e
	}
	return checkBody(r)
}

// checkVerb knows the verbs that some route may have. Names are case-sensitive
// (RFC 9110 §9.1), so "get" is an unknown one. CONNECT and TRACE are never
// forwarded by a gateway that checks content.
func checkVerb(r *http.Request) *wire.Error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return nil
	}
	e := wire.Errorf(wire.VerbNotAllowed, "HTTP method not allowed")
	e.Header = http.Header{"Allow": {"DELETE, GET, HEAD, POST"}}
	return e
}

// checkTarget takes a path, a path behind the scheme and host that the request is for, as
// HTTP/1.1 has it toward proxies (RFC 9112 §3.2.2), and the asterisk of OPTIONS.
func checkTarget(r *http.Request, lim *Limits) *wire.Error {
	target := r.RequestURI
	switch {
	case len(target) > lim.Target:
		return wire.Errorf(wire.TargetTooLong, "Request target is longer than %d bytes (server.limits.target)", lim.Target)
	case strings.IndexByte(target, '#') >= 0:
		return malformed("request target must not hold a fragment")
	case r.Method == http.MethodOptions && r.URL.Path == "*" && (target == "*" || absolute(r)):
		return checkQuery(r.URL, lim)
	case strings.HasPrefix(target, "/") && r.URL.Scheme == "" && r.URL.Host == "" && r.URL.User == nil:
	case !absolute(r):
		return malformed("request target must be a path, or a URL of this host without a user")
	}
	if e := checkPath(r.URL); e != nil {
		return e
	}
	return checkQuery(r.URL, lim)
}

// absolute recognises a target in absolute form, beside which the Host field can be seen, as
// package http1 keeps it: net/http drops it, and nobody could tell any more that the two
// differ. On HTTP/2 the target would be a second :authority.
func absolute(r *http.Request) bool {
	u := r.URL
	return r.ProtoMajor == 1 && r.Header["Host"] != nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.Host == r.Host && u.User == nil
}

// checkHost leaves an absent Host, which HTTP/1.0 allows, to no one's guess. A Host field
// may stand beside the host that a request is for, which is the :authority of HTTP/2 and
// that of a target in absolute form. RFC 9112 §3.2.2 has the latter count and the field
// ignored; where they differ, whoever stands in front may have gone by the field.
func checkHost(r *http.Request) *wire.Error {
	host, ok := hostname.Canonical(r.Host)
	if !ok {
		return malformed("Host must be a host name or address with an optional port")
	}
	for _, field := range r.Header["Host"] {
		if named, ok := hostname.Canonical(field); !ok || named != host {
			return malformed("Host and the host of the request target differ")
		}
	}
	return nil
}

// checkBody refuses content where it has no meaning (RFC 9110 §9.3.1): some
// agents read it and others leave it on the connection, where it would be the
// next request. A length that is not known is -1.
func checkBody(r *http.Request) *wire.Error {
	if !lengthAgrees(r) {
		return malformed("Content-Length does not say how long the body is")
	}
	if r.ContentLength == 0 {
		return nil
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodDelete, http.MethodOptions:
		return malformed("this HTTP method takes no request body")
	}
	return nil
}

// lengthAgrees tells whether Content-Length, if there is one, says what net/http took the
// body's length to be. Over HTTP/2 it may be there twice, or before a body that has ended
// already (RFC 9113 §8.1.1).
func lengthAgrees(r *http.Request) bool {
	lengths := r.Header["Content-Length"]
	if len(lengths) == 0 {
		return true
	}
	var buf [20]byte
	return len(lengths) == 1 && lengths[0] == string(strconv.AppendInt(buf[:0], r.ContentLength, 10))
}

func malformed(message string) *wire.Error {
	return &wire.Error{Kind: wire.Malformed, Message: "Malformed HTTP request: " + message}
}
