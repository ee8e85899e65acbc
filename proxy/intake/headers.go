package intake

import (
	"context"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Headers cross the gateway by allow-list, in both directions: a header that is
// on neither list ends here, whatever its name. A deny-list would have to know
// every spelling of every identity header that any agent trusts. Hop-by-hop headers (RFC 9110 §7.6.1) are on
// none, nor is what Connection names.
var (
	// RequestHeaders go from the caller to the agent unchanged. Accept does too, its
	// lines joined.
	RequestHeaders = []string{
		"Accept-Language", "Content-Type", "User-Agent", "Idempotency-Key",
	}
	// callHeaders are those of them that are about the caller's one call. On another
	// an agent would take it for the same.
	callHeaders = []string{"Idempotency-Key"}
	// optionalHeaders are those that most calls do not have.
	optionalHeaders = []string{"Accept-Language", "Idempotency-Key"}

	// What every request says. Whoever has a header may replace such a list, not change it.
	unnamed   = []string{""}
	Unencoded = []string{"identity"}
)

// Outgoing builds the header of the request to the agent from nothing.
func (fe *Frontend) Outgoing(ctx context.Context, x *exchange.Exchange, l *exchange.UpstreamCall) (http.Header, error) {
	in, accept := x.Request.Header, accepted(x.Request.Header, x.Call.Accept)
	out := make(http.Header, fieldCount(x, l, accept))
	x.Terms.Send.Apply(out, l.Version)
	for _, name := range RequestHeaders {
		if v := in[name]; len(v) > 0 {
			out[name] = v[:1:1]
		}
	}
	if l.Own {
		for _, name := range callHeaders {
			delete(out, name)
		}
	}
	l.Describe(out, accept)
	for _, name := range x.Agent.Request {
		if v := in[name]; len(v) > 0 {
			out[name] = v
		}
	}
	// Without it net/http would add its own User-Agent and ask for gzip.
	if out["User-Agent"] == nil {
		out["User-Agent"] = unnamed
	}
	out["Accept-Encoding"] = Unencoded // what is compressed cannot be checked
	out["A2a-Version"] = l.Says
	out["X-Request-Id"] = x.ID[:]
	out["Via"] = fe.Via(x)
	return out, x.Agent.Upstream.Authorize(ctx, out, fe.Caller(x, l))
}

// fieldCount is how many fields outgoing makes, or a few more. Up to eight take half the memory
// of nine.
func fieldCount(x *exchange.Exchange, l *exchange.UpstreamCall, accept []string) int {
	n := 7 + len(x.Agent.Request) + len(x.Agent.Upstream.Shown()) // with Content-Type and Traceparent
	if accept != nil || l.Own || l.Retell != nil {
		n++
	}
	if len(x.Terms.Send) > 0 {
		n++
	}
	for _, name := range optionalHeaders {
		if x.Request.Header[name] != nil {
			n++
		}
	}
	return n
}

// accepted is what the caller accepts, in one line, which is the caller's own where that is
// all of it.
func accepted(in http.Header, accept string) []string {
	own := in["Accept"]
	switch {
	case accept == "":
		return nil
	case len(own) == 1 && own[0] == accept:
		return own[:1:1]
	}
	return []string{accept}
}
