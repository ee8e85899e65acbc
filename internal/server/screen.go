package server

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Screen judges all that a handler can still see of how a request was written,
// before anyone reads what it says. What parsers disagree about is refused,
// never repaired: the route, the decision, the audit record and the agent must
// all be about one request. It returns nil for a request that is in order.
//
// The rows of the threat model it answers: field names (L2), Connection (L3),
// credentials in the URL (L5), Host (L7), repeated singletons (L9), path (L11,
// L12), query (L13), verb and body (L15), Upgrade (L16), sizes (L22), content
// coding (L23). The framing of HTTP/1.1 (L17) was judged by internal/server/strict before;
// of HTTP/2's, where frames make the body, a length that says otherwise is left (L18).
// Messages never repeat what the client sent: it may be a credential.
//
// Whether the host is one that is served, and which verbs a route has, is asked
// elsewhere. lim must have its Defaults.
func Screen(r *http.Request, lim Limits) *wire.Error {
	if e := screenVerb(r); e != nil {
		return e
	}
	if e := screenTarget(r, &lim); e != nil {
		return e
	}
	if e := screenHost(r); e != nil {
		return e
	}
	if e := screenFields(r, lim.Fields); e != nil {
		return e
	}
	return screenBody(r)
}

// screenVerb knows the verbs that some route may have. Names are case-sensitive
// (RFC 9110 §9.1), so "get" is an unknown one. CONNECT and TRACE are never
// forwarded by a gateway that checks content.
func screenVerb(r *http.Request) *wire.Error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return nil
	}
	e := wire.Errorf(wire.VerbNotAllowed, "HTTP method not allowed")
	e.Header = http.Header{"Allow": {"DELETE, GET, HEAD, POST"}}
	return e
}

// screenTarget takes origin-form only. The absolute form, which clients send to
// forward proxies, comes with a second host, and net/http has dropped the Host
// field by now: whether the two agree cannot be known any more (L7).
func screenTarget(r *http.Request, lim *Limits) *wire.Error {
	target := r.RequestURI
	switch {
	case len(target) > int(lim.Target):
		return wire.Errorf(wire.TooLarge, "Request target is longer than %d bytes", int64(lim.Target))
	case !strings.HasPrefix(target, "/"):
		return malformed("request target must be a path")
	case strings.IndexByte(target, '#') >= 0:
		return malformed("request target must not hold a fragment")
	case r.URL.User != nil || r.URL.Host != "" || r.URL.Scheme != "":
		return malformed("request target must be a path")
	}
	if e := screenPath(r.URL); e != nil {
		return e
	}
	return screenQuery(r.URL, lim)
}

// screenHost leaves an absent Host, which HTTP/1.0 allows, to no one's guess.
// On HTTP/2 a Host field may stand beside :authority; they must be one.
func screenHost(r *http.Request) *wire.Error {
	if _, ok := CanonicalHost(r.Host); !ok {
		return malformed("Host must be a host name or address with an optional port")
	}
	for _, host := range r.Header["Host"] {
		if host != r.Host {
			return malformed("Host and :authority differ")
		}
	}
	return nil
}

// screenBody refuses content where it has no meaning (RFC 9110 §9.3.1): some
// agents read it and others leave it on the connection, where it would be the
// next request. A length that is not known is -1.
func screenBody(r *http.Request) *wire.Error {
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
