package inspect

import (
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// MeetAgent makes sure of the agent, in the same words for one that does not exist and for
// one this caller has no business with.
//
// On a shared endpoint the agent is named first, by tenant or credential. What it refuses is told
// as UnknownAgent (404) in every case: whether an agent exists is not for those to know who have
// no business with it.
func (in *Inspector) MeetAgent(x *exchange.Exchange) error {
	if x.Shared {
		if err := in.NameAgent(x); err != nil {
			return err
		}
	}
	if x.Agent == nil {
		return agents.ErrUnknown
	}
	if hidden := in.Policy.Hides(x.Principal, x.Agent.ID); hidden != nil {
		return hidden // told as the same; the record says by which rule
	}
	return nil
}

// ReadCall decodes the body by the binding.
//
// JSON-RPC is decoded even where the version is refused, so that the error carries the caller's
// id (JSON-RPC 2.0 §5). An envelope that was posted to a path of HTTP+JSON is taken for what it
// is, as agno's clients post it.
func (in *Inspector) ReadCall(x *exchange.Exchange) *wire.Error {
	body := x.Body.Bytes()
	if x.MayBeEnvelope() {
		if wire.IsEnvelope(body) {
			unwrapEnvelope(x)
		} else if x.Route.Method == nil {
			return exchange.NotAllowed(x.Route.Allow)
		}
	}
	var query url.Values // parsing an empty one would still cost a map
	if x.Request.URL.RawQuery != "" {
		query = x.Request.URL.Query()
	}
	version, e := wire.RequestVersion(x.Request.Header, query)
	if e != nil {
		if x.Call.Binding == wire.JSONRPC {
			_ = x.Call.DecodeJSONRPC(body, "", in.DecodeLimits()) // for the caller's id
		}
		x.Call.Version = wire.V10 // whose word it is for a version that nobody here speaks
		return e
	}
	if version != "" {
		x.Call.Spelled = wire.SpelledVersion(x.Request.Header, query)
	}
	json := mediatype.OfRequest(x.Request.Header.Get("Content-Type"))
	switch x.Call.Binding {
	case wire.GRPC:
		return in.DecodeRPC(x, version)
	case wire.JSONRPC:
		if !json {
			return wire.Errorf(wire.ContentType, "send Content-Type: application/json")
		}
		return x.Call.DecodeJSONRPC(body, version, in.DecodeLimits())
	}
	if len(body) > 0 && !json {
		return wire.Errorf(wire.ContentType, "send Content-Type: application/json or application/a2a+json")
	}
	return x.Call.DecodeHTTP(x.Route, query, body, version, in.DecodeLimits())
}
