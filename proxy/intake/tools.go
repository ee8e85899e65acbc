package intake

import (
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// EnterTools is the stage Locate of the server of MCP, at which there is no agent yet. A page whose
// origin may not call is refused whatever it asks, as MCP demands against DNS rebinding
// (2025-11-25, Transports, Security Warning).
func (fe *Frontend) EnterTools(x *exchange.Exchange) error {
	x.Call.Binding, x.Call.Version = wire.HTTPJSON, wire.V10
	if _, err := fe.Screen(x); err != nil {
		return err
	}
	if origin := x.Request.Header["Origin"]; origin != nil && !fe.ownOrigin(origin) &&
		(fe.Server.CORS == nil || !fe.Server.CORS.Allows(origin)) {
		return foreignPage()
	}
	if x.Writer.Readers != nil {
		x.Writer.Readers.Expose("Mcp-Session-Id")
	}
	switch x.Request.Method {
	case http.MethodPost, http.MethodGet, http.MethodDelete:
		return nil
	}
	return exchange.NotAllowed([]string{http.MethodDelete, http.MethodGet, http.MethodPost})
}

// ofMCP are methods that MCP hosts begin with.
var ofMCP = []string{"initialize", "server/discover", "ping", "tools/list", "tools/call"}

// ToolsElsewhere is what e becomes for an MCP host at an address of A2A: it says where the server of MCP is.
func (fe *Frontend) ToolsElsewhere(x *exchange.Exchange, e *wire.Error) *wire.Error {
	if fe.Server.MCP == nil || e.Kind != wire.MethodNotFound || x.Call.Binding != wire.JSONRPC {
		return e
	}
	body := x.Body.Bytes()
	from, to := jsonscan.MemberSpan(body, "method")
	var name string
	if from == to || json.Unmarshal(body[from:to], &name) != nil || !slices.Contains(ofMCP, name) {
		return e
	}
	return wire.Errorf(wire.MethodNotFound, "Method not found: %q is a method of MCP, which is served at %s", name, fe.PublicURL.String()+fe.Server.MCP.Path)
}
