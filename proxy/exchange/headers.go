package exchange

import (
	"net/http"
	"strings"
)

// scripts are what runtimes of JavaScript call themselves in User-Agent: Node's
// fetch and grpc-js, Deno, Bun, and browsers.
var scripts = []string{"node", "undici", "deno", "bun/", "mozilla/"}

// ResponseHeaders go from the agent to the caller unchanged.
var ResponseHeaders = []string{"Content-Type", "Content-Language", "Retry-After"}

// What every answer says, likewise.
var unstored = []string{"no-store"}

var unsniffed = []string{"nosniff"}

// Incoming builds the header of the response to the caller from the agent's,
// whose values unreadable has looked at. How an answer is written that was retold
// is the gateway's own word.
//
// Other fields of the agent's response stay behind: a Set-Cookie or an Access-Control-Allow-Origin would
// be the gateway's own word to the client. The configuration names those that pass in addition.
func (x *Exchange) Incoming(resp *http.Response) {
	x.announce()
	from, to := resp.Header, x.Writer.Header()
	for _, names := range [...][]string{ResponseHeaders, x.Agent.Response} {
		for _, name := range names {
			if name == "Content-Type" && x.Upstream.Retell != nil {
				continue
			}
			if v := from[name]; len(v) > 0 {
				to[name] = v // in the place of those of a stream that this one goes on from
			}
		}
	}
	if x.Writer.Readers != nil {
		x.Writer.Readers.more = x.Agent.Response
	}
	if media := from.Get("Content-Type"); x.Upstream.Retell == nil && x.Call.Labelled(media) != media {
		to.Set("Content-Type", x.Call.Labelled(media))
	}
	// The agent's challenge makes sense only to a caller whose own credential it judged.
	if challenge := from["Www-Authenticate"]; len(challenge) > 0 && x.Agent.Upstream.Passes("Authorization") {
		to["Www-Authenticate"] = challenge
	}
	Guard(to)
}

// Stamp sets what every response to a call says.
func (x *Exchange) Stamp() {
	x.announce()
	Guard(x.Writer.Header())
}

// announce says which extensions are active.
func (x *Exchange) announce() {
	activated := x.Answerable()
	activated.Respond(x.Writer.Header(), x.Names.Or(x.Call.Version))
	x.Rec.ExtensionsActivated = activated
}

// Guard keeps an answer from being stored, and from being taken for what it is not.
//
//	Cache-Control: no-store              an answer is for one caller (RFC 9111 §5.2.2.5)
//	X-Content-Type-Options: nosniff      a browser must not take JSON for HTML
//
// The slices are shared by all responses and never written to, which spares two allocations per call.
func Guard(h http.Header) {
	h["Cache-Control"], h["X-Content-Type-Options"] = unstored, unsniffed
}

// CleanValue refuses what could split a response (CR, LF) or end a C string.
func CleanValue(v string) bool {
	return !strings.ContainsAny(v, "\r\n\x00")
}
