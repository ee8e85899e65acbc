package forward

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
)

// passThrough sends what the caller sent. Only a tenant that named the agent gives
// way to the one that the interface has.
//
// Over JSON-RPC the path is the interface's own; over HTTP+JSON the path and the query of the
// caller go behind it; over gRPC the path is the method's.
func (fw *Forwarder) passThrough(x *exchange.Exchange) error {
	c := &x.Call
	l := &exchange.UpstreamCall{Endpoint: x.Endpoint, Call: c, Verb: x.Request.Method, Holder: x.Body}
	if x.Named {
		replaceTenant(x)
	}
	if x.Webhook != nil {
		body, err := fw.SubstitutedBody(x)
		if err != nil {
			return err
		}
		c.Body, l.Holder = body, nil
	}
	l.Body = c.Body
	switch c.Binding {
	case wire.HTTPJSON:
		l.Path, l.Query = pathBelow(x), ForwardedQuery(queryString(x))
	case wire.GRPC:
		message, err := grpcMessage(x)
		if err != nil {
			return err
		}
		l.Path, l.Body, l.Holder = c.Method.RPC(c.Version), grpcframe.Append(nil, message), nil
	}
	x.Upstream = l
	return nil
}

// grpcMessage is the caller's protobuf message, as it came but for what names the agent.
// One whose context or webhook had to be replaced is made of its document, and has what A2A
// knows of it.
//
// A message that is made of its document loses fields that the protobuf schema of A2A does not
// have. It is done only where the alternative is a foreign context or webhook.
func grpcMessage(x *exchange.Exchange) ([]byte, error) {
	c := &x.Call
	switch {
	case x.Foreign != nil, x.Webhook != nil:
		return wire.RequestMessage(c.Method, c.Version, c.Body)
	case x.Named && len(c.TenantSpans) > 0:
		return wire.ReplaceTenant(c.Method, c.Version, c.Message, x.Endpoint.Tenant)
	}
	return c.Message, nil
}

// queryString is the caller's query, with the interface's tenant where one there
// named the agent.
func queryString(x *exchange.Exchange) string {
	raw := cmp.Or(x.Query, x.Request.URL.RawQuery)
	if x.Named && raw != "" {
		return ownership.ReplaceQuery(raw, "tenant", x.Endpoint.Tenant)
	}
	return raw
}

// replaceTenant puts the interface's tenant where the body names the agent. An empty
// tenant is none (ProtoJSON).
func replaceTenant(x *exchange.Exchange) {
	spans := x.Call.TenantSpans
	for i := len(spans) - 1; i >= 0; i-- { // from the end, so that the others stay where they are
		x.Call.Body = jsonscan.Replaced(x.Call.Body, spans[i][0], spans[i][1], intake.Quoted(x.Endpoint.Tenant))
	}
	x.Call.Tenant = x.Endpoint.Tenant
}

// pathBelow is the path below the interface's URL.
//
// /{tenant}/message:send becomes /message:send, or gets the interface's own tenant.
func pathBelow(x *exchange.Exchange) string {
	if !x.Named || x.Route.Tenant == "" {
		return x.Rest
	}
	_, path, _ := strings.Cut(x.Rest[1:], "/") // the first segment named the agent
	if x.Endpoint.Tenant == "" {
		return "/" + path
	}
	return "/" + url.PathEscape(x.Endpoint.Tenant) + "/" + path
}
