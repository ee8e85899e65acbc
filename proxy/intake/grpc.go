package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// IsGRPC knows the media types of gRPC whose messages are protobuf.
func IsGRPC(media string) bool {
	return media == mediatype.GRPC || media == mediatype.GRPC+"+proto"
}

// LocateRPC finds the operation behind a gRPC path and the agent, where a host of
// its own names it. Everywhere else gRPC has no place for the agent's name but
// the tenant and the credential. A call that has neither is for the agent that has
// the host together with the gateway, as it would be at the root over HTTP.
func (de *Decoder) LocateRPC(x *exchange.Exchange) error {
	x.Call.Binding, x.Call.Version, x.Call.Accept = bindingRPC(x.Request), wire.V10, accept(x.Request.Header)
	host, err := de.Screen(x)
	if err != nil {
		return err
	}
	a, shared := de.AgentAt(host)
	if shared { // the tenant may name another
		x.Home = a
	} else {
		x.Agent = a
	}
	x.Shared = x.Agent == nil
	x.Call.Extra = de.methods(x.Request.Header)
	return de.FindRPC(x)
}

// NoRoute is the refusal of what is there on no binding. A gRPC client reads nothing
// but a status.
func (de *Decoder) NoRoute(x *exchange.Exchange) error {
	if x.Call.Binding == wire.GRPC {
		return wire.Errorf(wire.MethodNotFound, "no such service")
	}
	if x.Site.Agent == wellKnown {
		return wire.Errorf(wire.MethodNotFound, "no such path: the base URL of an agent ends in a slash for clients that resolve paths by it, as in %sbilling/", exchange.AgentsPath)
	}
	return de.Prefix.noPath(x)
}

// wellKnown is in the place of an agent's id where a client has resolved the path of a card
// by a base URL without a slash at its end (RFC 3986 §5.2.3).
const wellKnown = ".well-known"

// FindRPC finds the operation behind a gRPC path.
//
// Its refusals are written as gRPC status where the request is gRPC, and as HTTP errors to
// everybody else.
func (de *Decoder) FindRPC(x *exchange.Exchange) error {
	method, version, ok := x.Call.Extra.ByRPC(x.Request.URL.Path)
	switch {
	case !ok:
		return de.NoRoute(x)
	case x.Request.Method != http.MethodPost:
		return exchange.NotAllowed([]string{http.MethodPost})
	case x.Request.ProtoMajor < 2:
		return wire.Errorf(wire.Malformed, "gRPC needs HTTP/2")
	case !IsGRPC(MediaType(x.Request.Header)):
		return wire.Errorf(wire.ContentType, "send Content-Type: application/grpc or application/grpc+proto")
	}
	x.Call.Version, x.Call.Method = version, method
	x.Call.Streaming = method != nil && method.Streams
	return nil
}

// bindingRPC tells in which form a request to a path of gRPC is refused: a browser
// or an HTTP client that has come to the wrong door cannot read trailers.
func bindingRPC(r *http.Request) wire.Binding {
	if r.ProtoMajor < 2 || !IsGRPC(MediaType(r.Header)) {
		return wire.HTTPJSON
	}
	return wire.GRPC
}

// DecodeRPC reads the one message of a gRPC call.
func (de *Decoder) DecodeRPC(x *exchange.Exchange, version wire.Version) *wire.Error {
	method := x.Call.Method
	if method == nil {
		return wire.Errorf(wire.MethodNotFound, "no such method")
	}
	limit := int(de.Server.Limits.Body)
	message, err := OnlyMessage(x.Body.Bytes(), limit)
	switch {
	case errors.Is(err, grpcframe.ErrTooLarge):
		return wire.Errorf(wire.TooLarge, "the message exceeds server.limits.body (%d bytes)", limit)
	case errors.Is(err, grpcframe.ErrCompressed):
		return wire.Errorf(wire.Encoded, "the message must not be compressed").Because(err)
	case err != nil:
		return wire.Errorf(wire.InvalidRequest, "the body is not one uncompressed gRPC message").Because(err)
	}
	return x.Call.DecodeGRPC(method, x.Call.Version, message, version, de.DecodeLimits())
}

var errNotOne = errors.New("not exactly one gRPC message")

// OnlyMessage takes the message out of a body that must have exactly one.
func OnlyMessage(body []byte, limit int) ([]byte, error) {
	messages := grpcframe.NewReader(bytes.NewReader(body), limit)
	message, err := messages.Next()
	if errors.Is(err, io.EOF) {
		return nil, errNotOne
	}
	if err != nil {
		return nil, err
	}
	n := len(grpcframe.Append(nil, nil)) + len(message)
	if n != len(body) {
		return nil, errNotOne
	}
	return body[n-len(message):], nil
}

// ServeSystem hands a call to gRPC's own services. Like the status listener's
// answers it leaves no record: load balancers ask every few seconds.
func (de *Decoder) ServeSystem(w http.ResponseWriter, r *http.Request, _ exchange.Site) {
	x := &exchange.Exchange{FromClient: exchange.FromClient{Writer: &exchange.Response{ResponseWriter: w}, Request: r}}
	x.Call.Binding, x.Call.Version = bindingRPC(r), wire.V10
	_, err := de.Screen(x)
	if err == nil && x.Call.Binding != wire.GRPC {
		err = wire.Errorf(wire.Malformed, "this is a gRPC service")
	}
	if err != nil {
		failure.Write(w, &x.Call, de.Refusal(x, err))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if de.Drain != nil { // who watches has been told by then, and would stay for ever
		defer de.Drain(cancel)()
	}
	de.System.ServeHTTP(w, r.WithContext(ctx))
}
