package proxy

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// The two places where clients look for a card: 0.3 and 1.0 use the first,
// 0.1 and 0.2 the second.
const (
	cardPath       = "/.well-known/agent-card.json"
	legacyCardPath = "/.well-known/agent.json"
)

// locate finds the agent and the binding from host and path, and a hint of the
// version. It refuses what is malformed before anything is read from it. An
// agent that does not exist is not refused yet: before authentication, it must
// look like one that does.
func (de *decoder) locate(x *exchange) error {
	guessBinding(x)
	x.call.Accept = accept(x.r.Header)
	host, err := de.screen(x)
	if err != nil {
		return err
	}
	if bindingRPC(x.r) == wire.GRPC { // no RPC has this path
		x.call.Binding, x.call.Version = wire.GRPC, wire.V10
		return de.noRoute(x)
	}
	switch a, shared := de.at(host); {
	case a != nil && (!shared || x.at.fixed == "" && x.at.agent == ""):
		x.agent = a
	case x.at.fixed == sharedPath, x.at.fixed == sharedPath+"/":
		x.shared = true
	case x.at.agent == "":
		return de.noAgentHere(x)
	default:
		x.agent = de.agents[x.at.agent]
	}
	x.skill, x.path = x.at.skill, x.at.skill
	// Screen has made sure that the path has one spelling only, the one that
	// net/url writes, so what is left of it has as well.
	x.rest = (&url.URL{Path: x.at.rest}).EscapedPath()
	x.call.Extra = de.methods(x.r.Header)
	if err := de.binding(x); err != nil {
		return err
	}
	return de.checkCrossOrigin(x)
}

// noAgentHere refuses what names no agent, and says where agents are to clients that have
// dropped the path of one.
func (de *decoder) noAgentHere(x *exchange) error {
	path := x.r.URL.Path
	if rest, ok := below(path, de.prefix.public); ok {
		path = slashed(rest)
	}
	switch path {
	case "/", cardPath, legacyCardPath:
		return wire.Errorf(wire.MethodNotFound, "no such path: agents are below %s, each at a path of its own", de.prefix.public+agentsPath)
	}
	return de.prefix.noPath(x)
}

// nowhere ends what no route took.
func (de *decoder) nowhere(x *exchange) error { return de.prefix.noPath(x) }

// guessBinding settles the shape of a refusal by screen, before anything in the request
// is believed: a POST to what looks like an agent's base is meant as JSON-RPC, and
// its client understands no other error. binding decides anew.
func guessBinding(x *exchange) {
	if x.r.Method == http.MethodPost && x.at.base() {
		x.call.Binding, x.call.Version = wire.JSONRPC, wire.V10
	}
}

// accept joins the lines of Accept, as any recipient may (RFC 9110 §5.3).
func accept(h http.Header) string {
	if lines := h["Accept"]; len(lines) > 1 {
		return strings.Join(lines, ", ")
	}
	return h.Get("Accept")
}

// screen refuses what is malformed or meant for another host.
func (fe *frontend) screen(x *exchange) (string, error) {
	if e := server.Screen(x.r, fe.Server.Limits, fe.relied...); e != nil {
		return "", e
	}
	host, ok := server.CanonicalHost(x.r.Host)
	if _, own := fe.self[host]; !ok || !own && fe.hosts[host] == nil {
		return "", wire.Errorf(wire.Misdirected, "")
	}
	return host, nil
}

// binding settles the binding: JSON-RPC is a POST to the base itself, everything
// below the base is HTTP+JSON.
func (de *decoder) binding(x *exchange) error {
	base := x.rest == "" || x.rest == "/"
	switch {
	case x.rest == cardPath, x.rest == legacyCardPath, base && !x.shared && reads(x.r.Method):
		x.call.Binding, x.call.Version = wire.HTTPJSON, wire.V10
		return nil
	case base && x.shared && x.r.Method != http.MethodPost:
		x.call.Binding, x.call.Version = wire.JSONRPC, wire.V10
		return notAllowed([]string{http.MethodPost})
	case base:
		x.call.Binding, x.call.Version = wire.JSONRPC, wire.V10
		if x.r.Method != http.MethodPost {
			return notAllowed([]string{http.MethodGet, http.MethodHead, http.MethodPost})
		}
		return nil
	}
	x.call.Binding = wire.HTTPJSON
	route, ok := x.call.Extra.ByRoute(x.r.Method, x.rest)
	if ok && route.Method == nil {
		// Whether this agent has the extensions' verbs is not known yet.
		route, ok = x.call.Extra.Asked(noExtension).ByRoute(x.r.Method, x.rest)
	}
	x.route, x.call.Version = route, route.Version
	switch {
	case !ok:
		x.call.Version = wire.V10
		return de.noRoute(x)
	case route.Method == nil && x.mayBeEnvelope():
		return nil // the body may say what is asked
	case route.Method == nil:
		return notAllowed(route.Allow)
	}
	x.call.Method, x.call.Streaming = route.Method, route.Method.Streams
	return nil
}

// mayBeEnvelope reports whether the body decides which binding a call has.
func (x *exchange) mayBeEnvelope() bool {
	return x.call.Binding == wire.HTTPJSON && x.r.Method == http.MethodPost && wire.TakesEnvelopes(x.rest)
}

// unwrapEnvelope takes a JSON-RPC request for what it is where one has been posted to a path of
// HTTP+JSON: the envelope says what is asked, and all that comes goes by that, as if it had come
// to the base.
func unwrapEnvelope(x *exchange) {
	x.call.Binding, x.call.Method, x.call.Streaming = wire.JSONRPC, nil, false
	x.route, x.rest = wire.Route{}, "/"
}

func notAllowed(verbs []string) *wire.Error {
	e := wire.Errorf(wire.VerbNotAllowed, "use %s here", strings.Join(verbs, " or "))
	e.Header = http.Header{"Allow": {strings.Join(verbs, ", ")}}
	return e
}
