package intake

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// pageVerbs are what pages may ask with.
const pageVerbs = "DELETE, GET, HEAD, POST"

// clientFields are the request fields that clients of A2A and MCP send and that browsers ask for.
var clientFields = []string{
	"Accept", "Accept-Language", "Content-Type", "Cache-Control", "Authorization", "DPoP", "A2A-Version", "A2A-Extensions", "X-A2A-Extensions",
	"Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name",
	"Last-Event-ID", "Idempotency-Key", "If-None-Match", "Traceparent", "Tracestate", "Baggage",
}

// PageFields are all that pages may send, in one line. They are the same at all paths: a
// preflight has no credential, and must not tell which agents exist.
func (fe *Frontend) PageFields() string {
	list := slices.Clone(clientFields)
	for _, name := range slices.Concat(fe.Authn.CredentialHeaders(), fe.Server.CORS.Headers) {
		if !slices.ContainsFunc(list, func(known string) bool { return strings.EqualFold(known, name) }) {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// preflights reports whether a request is a browser's question, which comes before the
// request of a page and without its credential (Fetch, CORS-preflight fetch).
func preflights(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header["Origin"] != nil && r.Header["Access-Control-Request-Method"] != nil
}

// ServePreflight answers it. Whether there is anything at the path is for the call to find
// out, whose caller is known.
func (fe *Frontend) ServePreflight(fields string) record.Stage {
	return func(x *exchange.Exchange) error {
		x.Call.Binding, x.Call.Version = wire.HTTPJSON, wire.V10
		if _, err := fe.Screen(x); err != nil {
			return err
		}
		h := x.Writer.Header()
		fe.Server.CORS.Preflight(h, x.Request.Header["Origin"], pageVerbs, fields)
		if !fe.Server.CORS.Allows(x.Request.Header["Origin"]) {
			return foreignPage()
		}
		exchange.Guard(h)
		x.Writer.Readers = nil // all is said
		x.Writer.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// foreignPage is the refusal of pages whose origin is not listed.
func foreignPage() *wire.Error {
	return wire.Errorf(wire.Denied, "Pages of this origin may not call: it is not among server.cors.origins")
}

// checkCrossOrigin refuses a call that a page of another origin has had a browser make without asking
// first, as browsers do where a request has no JSON and no field that pages seldom send (Fetch,
// CORS-safelisted request-header). They come from where their user is, and with the user's client
// certificate; that the page cannot read the answer does not keep a call without a body from
// having its effect.
func (fe *Frontend) checkCrossOrigin(x *exchange.Exchange) error {
	origin := x.Request.Header["Origin"]
	if origin == nil || x.Request.Method != http.MethodPost || x.Call.Binding != wire.HTTPJSON || mediatype.OfRequest(x.Request.Header.Get("Content-Type")) {
		return nil
	}
	if fe.ownOrigin(origin) || fe.Server.CORS != nil && fe.Server.CORS.Allows(origin) {
		return nil
	}
	return foreignPage()
}

// ownOrigin reports whether a page is at a host that requests may name.
func (fe *Frontend) ownOrigin(origin []string) bool {
	if len(origin) != 1 {
		return false
	}
	_, authority, _ := strings.Cut(origin[0], "://")
	host, ok := hostname.Canonical(authority)
	_, own := fe.Self[host]
	return ok && (own || fe.Hosts[host] != nil)
}
