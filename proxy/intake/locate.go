package intake

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/server/screen"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Locate finds the agent and the binding from host and path, and a hint of the
// version. It refuses what is malformed before anything is read from it. An
// agent that does not exist is not refused yet: before authentication, it must
// look like one that does.
func (de *Decoder) Locate(x *exchange.Exchange) error {
	guessBinding(x)
	x.Call.Accept = accept(x.Request.Header)
	host, err := de.Screen(x)
	if err != nil {
		return err
	}
	if bindingRPC(x.Request) == wire.GRPC { // no RPC has this path
		x.Call.Binding, x.Call.Version = wire.GRPC, wire.V10
		return de.NoRoute(x)
	}
	switch a, shared := de.AgentAt(host); {
	case a != nil && (!shared || x.Site.Fixed == "" && x.Site.Agent == ""):
		x.Agent = a
	case x.Site.Fixed == exchange.SharedPath, x.Site.Fixed == exchange.SharedPath+"/":
		x.Shared = true
	case x.Site.Agent == "":
		return de.noAgentHere(x)
	default:
		x.Agent = de.Agents[x.Site.Agent]
	}
	x.Skill, x.Path = x.Site.Skill, x.Site.Skill
	// Screen has made sure that the path has one spelling only, the one that
	// net/url writes, so what is left of it has as well.
	x.Rest = (&url.URL{Path: x.Site.Rest}).EscapedPath()
	x.Call.Extra = de.methods(x.Request.Header)
	if err := de.SettleBinding(x); err != nil {
		return err
	}
	return de.checkCrossOrigin(x)
}

// noAgentHere refuses what names no agent, and says where agents are to clients that have
// dropped the path of one.
func (de *Decoder) noAgentHere(x *exchange.Exchange) error {
	path := x.Request.URL.Path
	if rest, ok := below(path, de.Prefix.Public); ok {
		path = slashed(rest)
	}
	switch path {
	case "/", exchange.CardPath, exchange.LegacyCardPath:
		return wire.Errorf(wire.MethodNotFound, "no such path: agents are below %s, each at a path of its own", de.Prefix.Public+exchange.AgentsPath)
	}
	return de.Prefix.noPath(x)
}

// Nowhere ends what no route took.
func (de *Decoder) Nowhere(x *exchange.Exchange) error { return de.Prefix.noPath(x) }

// guessBinding settles the shape of a refusal by screen, before anything in the request
// is believed: a POST to what looks like an agent's base is meant as JSON-RPC, and
// its client understands no other error. binding decides anew.
func guessBinding(x *exchange.Exchange) {
	if x.Request.Method == http.MethodPost && x.Site.Base() {
		x.Call.Binding, x.Call.Version = wire.JSONRPC, wire.V10
	}
}

// accept joins the lines of Accept, as any recipient may (RFC 9110 §5.3).
func accept(h http.Header) string {
	if lines := h["Accept"]; len(lines) > 1 {
		return strings.Join(lines, ", ")
	}
	return h.Get("Accept")
}

// Screen refuses what is malformed or meant for another host.
func (fe *Frontend) Screen(x *exchange.Exchange) (string, error) {
	if e := screen.Request(x.Request, fe.Server.Limits.Screen(), fe.Relied...); e != nil {
		return "", e
	}
	host, ok := hostname.Canonical(x.Request.Host)
	if _, own := fe.Self[host]; !ok || !own && fe.Hosts[host] == nil {
		return "", wire.Errorf(wire.Misdirected, "")
	}
	return host, nil
}

// SettleBinding settles the binding: JSON-RPC is a POST to the base itself, everything
// below the base is HTTP+JSON.
//
// A version follows from the path: /v1/… is 0.3's, all other paths are 1.0's. JSON-RPC's comes
// from the method's name, later.
func (de *Decoder) SettleBinding(x *exchange.Exchange) error {
	base := x.Rest == "" || x.Rest == "/"
	switch {
	case x.Rest == exchange.CardPath, x.Rest == exchange.LegacyCardPath, base && !x.Shared && Reads(x.Request.Method):
		x.Call.Binding, x.Call.Version = wire.HTTPJSON, wire.V10
		return nil
	case base && x.Shared && x.Request.Method != http.MethodPost:
		x.Call.Binding, x.Call.Version = wire.JSONRPC, wire.V10
		return exchange.NotAllowed([]string{http.MethodPost})
	case base:
		x.Call.Binding, x.Call.Version = wire.JSONRPC, wire.V10
		if x.Request.Method != http.MethodPost {
			return exchange.NotAllowed([]string{http.MethodGet, http.MethodHead, http.MethodPost})
		}
		return nil
	}
	x.Call.Binding = wire.HTTPJSON
	route, ok := x.Call.Extra.ByRoute(x.Request.Method, x.Rest)
	if ok && route.Method == nil {
		// Whether this agent has the extensions' verbs is not known yet.
		route, ok = x.Call.Extra.Asked(NoExtension).ByRoute(x.Request.Method, x.Rest)
	}
	x.Route, x.Call.Version = route, route.Version
	switch {
	case !ok:
		x.Call.Version = wire.V10
		return de.NoRoute(x)
	case route.Method == nil && x.MayBeEnvelope():
		return nil // the body may say what is asked
	case route.Method == nil:
		return exchange.NotAllowed(route.Allow)
	}
	x.Call.Method, x.Call.Streaming = route.Method, route.Method.Streams
	return nil
}
