package proxy

import (
	"context"
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// Headers cross the gateway by allow-list, in both directions: a header that is
// on neither list ends here, whatever its name. A deny-list would have to know
// every spelling of every identity header that any agent trusts.
var (
	// requestHeaders go from the caller to the agent unchanged. Accept does too, its
	// lines joined.
	requestHeaders = []string{
		"Accept-Language", "Content-Type", "User-Agent", "Idempotency-Key",
	}
	// callHeaders are those of them that are about the caller's one call. On another
	// an agent would take it for the same.
	callHeaders = []string{"Idempotency-Key"}
	// optionalHeaders are those that most calls do not have.
	optionalHeaders = []string{"Accept-Language", "Idempotency-Key"}
	// responseHeaders go from the agent to the caller unchanged.
	responseHeaders = []string{"Content-Type", "Content-Language", "Retry-After"}

	// What every request says. Whoever has a header may replace such a list, not change it.
	unnamed   = []string{""}
	unencoded = []string{"identity"}

	// What every answer says, likewise.
	unstored  = []string{"no-store"}
	unsniffed = []string{"nosniff"}
)

// outgoing builds the header of the request to the agent from nothing.
func (fe *frontend) outgoing(ctx context.Context, x *exchange, l *upstreamCall) (http.Header, error) {
	in, accept := x.r.Header, accepted(x.r.Header, x.call.Accept)
	out := make(http.Header, fieldCount(x, l, accept))
	x.terms.Send.Apply(out, l.Version)
	for _, name := range requestHeaders {
		if v := in[name]; len(v) > 0 {
			out[name] = v[:1:1]
		}
	}
	if l.own {
		for _, name := range callHeaders {
			delete(out, name)
		}
	}
	l.describe(out, accept)
	for _, name := range x.agent.Request {
		if v := in[name]; len(v) > 0 {
			out[name] = v
		}
	}
	// Without it net/http would add its own User-Agent and ask for gzip.
	if out["User-Agent"] == nil {
		out["User-Agent"] = unnamed
	}
	out["Accept-Encoding"] = unencoded // what is compressed cannot be checked
	out["A2a-Version"] = l.Says
	out["X-Request-Id"] = x.id[:]
	out["Via"] = fe.via(x)
	return out, x.agent.Upstream.Authorize(ctx, out, fe.caller(x, l))
}

// fieldCount is how many fields outgoing makes, or a few more. Up to eight take half the memory
// of nine.
func fieldCount(x *exchange, l *upstreamCall, accept []string) int {
	n := 7 + len(x.agent.Request) + len(x.agent.Upstream.Shown()) // with Content-Type and Traceparent
	if accept != nil || l.own || l.retell != nil {
		n++
	}
	if len(x.terms.Send) > 0 {
		n++
	}
	for _, name := range optionalHeaders {
		if x.r.Header[name] != nil {
			n++
		}
	}
	return n
}

// caller is what the agent's credentials may depend on; nil where they depend on nothing.
func (au *authenticator) caller(x *exchange, l *upstreamCall) *upstream.Caller {
	if !x.agent.Upstream.Asks() {
		return nil
	}
	c := &upstream.Caller{
		Principal: x.principal, Header: x.r.Header, Agent: x.agent.ID, Target: l.URL, Shared: au.origins.Others(l.URL, x.agent.ID), Method: l.call.Method.Name,
		Task: l.call.TaskID, Context: l.call.ContextID, Extensions: x.terms.Send, Demanded: l.shows,
	}
	c.Token = au.authn.Token(x.principal, x.r.Header)
	if x.principal.Workload != nil {
		c.Workload = au.authn.Token(x.principal.Workload, x.r.Header)
	}
	switch {
	case x.skill != "":
		c.Skills = []string{x.skill}
	case !x.agentwide:
		c.Skills = x.view.Skills // all of them had to be allowed
		if x.decision.Skills != nil {
			c.Skills = x.decision.Skills // one was enough
		}
	}
	return c
}

// describe sets what the request says about its body and the answer it wants.
// Where the call was not retold, that is the caller's own word, accept among it.
func (l *upstreamCall) describe(out http.Header, accept []string) {
	switch {
	case l.Binding == wire.GRPC:
		out["Content-Type"] = []string{typeGRPC}
		out["Te"] = []string{"trailers"} // or proxies in between may drop the status
		return
	case l.retell == nil && !l.own:
		if accept != nil {
			out["Accept"] = accept
		}
		return
	}
	if out["Accept"] = []string{"application/json"}; l.call.Streaming {
		out["Accept"] = []string{typeEvents}
	}
	if delete(out, "Content-Type"); len(l.body) > 0 {
		out["Content-Type"] = []string{"application/json"}
	}
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

// incoming builds the header of the response to the caller from the agent's,
// whose values unreadable has looked at. How an answer is written that was retold
// is the gateway's own word.
func (x *exchange) incoming(resp *http.Response) {
	x.announce()
	from, to := resp.Header, x.w.Header()
	for _, names := range [...][]string{responseHeaders, x.agent.Response} {
		for _, name := range names {
			if name == "Content-Type" && x.upstream.retell != nil {
				continue
			}
			if v := from[name]; len(v) > 0 {
				to[name] = v // in the place of those of a stream that this one goes on from
			}
		}
	}
	if x.w.readers != nil {
		x.w.readers.more = x.agent.Response
	}
	if media := from.Get("Content-Type"); x.upstream.retell == nil && x.call.Labelled(media) != media {
		to.Set("Content-Type", x.call.Labelled(media))
	}
	// The agent's challenge makes sense only to a caller whose own credential it judged.
	if challenge := from["Www-Authenticate"]; len(challenge) > 0 && x.agent.Upstream.Passes("Authorization") {
		to["Www-Authenticate"] = challenge
	}
	guard(to)
}

// stamp sets what every response to a call says.
func (x *exchange) stamp() {
	x.announce()
	guard(x.w.Header())
}

// announce says which extensions are active.
func (x *exchange) announce() {
	activated := x.answerable()
	activated.Respond(x.w.Header(), x.names.Or(x.call.Version))
	x.rec.ExtensionsActivated = activated
}

// guard keeps an answer from being stored, and from being taken for what it is not.
func guard(h http.Header) {
	h["Cache-Control"], h["X-Content-Type-Options"] = unstored, unsniffed
}

// cleanValue refuses what could split a response (CR, LF) or end a C string.
func cleanValue(v string) bool {
	return !strings.ContainsAny(v, "\r\n\x00")
}
