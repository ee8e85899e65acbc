package proxy

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// passThrough sends what the caller sent. Only a tenant that named the agent gives
// way to the one that the interface has.
func (fw *forwarder) passThrough(x *exchange) error {
	c := &x.call
	l := &upstreamCall{Endpoint: x.endpoint, call: c, verb: x.r.Method, holder: x.body}
	if x.named {
		replaceTenant(x)
	}
	if x.webhook != nil {
		body, err := fw.substituted(x)
		if err != nil {
			return err
		}
		c.Body, l.holder = body, nil
	}
	l.body = c.Body
	switch c.Binding {
	case wire.HTTPJSON:
		l.path, l.query = pathBelow(x), forwardedQuery(queryString(x))
	case wire.GRPC:
		message, err := grpcMessage(x)
		if err != nil {
			return err
		}
		l.path, l.body, l.holder = c.Method.RPC(c.Version), grpcframe.Append(nil, message), nil
	}
	x.upstream = l
	return nil
}

// grpcMessage is the caller's protobuf message, as it came but for what names the agent.
// One whose context or webhook had to be replaced is made of its document, and has what A2A
// knows of it.
func grpcMessage(x *exchange) ([]byte, error) {
	c := &x.call
	switch {
	case x.foreign != nil, x.webhook != nil:
		return wire.RequestMessage(c.Method, c.Version, c.Body)
	case x.named && len(c.TenantSpans) > 0:
		return wire.ReplaceTenant(c.Method, c.Version, c.Message, x.endpoint.Tenant)
	}
	return c.Message, nil
}

// queryString is the caller's query, with the interface's tenant where one there
// named the agent.
func queryString(x *exchange) string {
	raw := cmp.Or(x.query, x.r.URL.RawQuery)
	if x.named && raw != "" {
		return replaceQuery(raw, "tenant", x.endpoint.Tenant)
	}
	return raw
}

// replaceTenant puts the interface's tenant where the body names the agent. An empty
// tenant is none (ProtoJSON).
func replaceTenant(x *exchange) {
	spans := x.call.TenantSpans
	for i := len(spans) - 1; i >= 0; i-- { // from the end, so that the others stay where they are
		x.call.Body = splice(x.call.Body, spans[i][0], spans[i][1], quoted(x.endpoint.Tenant))
	}
	x.call.Tenant = x.endpoint.Tenant
}

// pathBelow is the path below the interface's URL.
func pathBelow(x *exchange) string {
	if !x.named || x.route.Tenant == "" {
		return x.rest
	}
	_, path, _ := strings.Cut(x.rest[1:], "/") // the first segment named the agent
	if x.endpoint.Tenant == "" {
		return "/" + path
	}
	return "/" + url.PathEscape(x.endpoint.Tenant) + "/" + path
}
