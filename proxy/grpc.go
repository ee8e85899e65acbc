package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// isGRPC knows the media types of gRPC whose messages are protobuf.
func isGRPC(media string) bool {
	return media == exchange.TypeGRPC || media == exchange.TypeGRPC+"+proto"
}

// locateRPC finds the operation behind a gRPC path and the agent, where a host of
// its own names it. Everywhere else gRPC has no place for the agent's name but
// the tenant and the credential. A call that has neither is for the agent that has
// the host together with the gateway, as it would be at the root over HTTP.
func (de *decoder) locateRPC(x *exchange.Exchange) error {
	x.Call.Binding, x.Call.Version, x.Call.Accept = bindingRPC(x.Request), wire.V10, accept(x.Request.Header)
	host, err := de.screen(x)
	if err != nil {
		return err
	}
	a, shared := de.at(host)
	if shared { // the tenant may name another
		x.Home = a
	} else {
		x.Agent = a
	}
	x.Shared = x.Agent == nil
	x.Call.Extra = de.methods(x.Request.Header)
	return de.findRPC(x)
}

// noRoute is the refusal of what is there on no binding. A gRPC client reads nothing
// but a status.
func (de *decoder) noRoute(x *exchange.Exchange) error {
	if x.Call.Binding == wire.GRPC {
		return wire.Errorf(wire.MethodNotFound, "no such service")
	}
	if x.Site.Agent == wellKnown {
		return wire.Errorf(wire.MethodNotFound, "no such path: the base URL of an agent ends in a slash for clients that resolve paths by it, as in %sbilling/", exchange.AgentsPath)
	}
	return de.prefix.noPath(x)
}

// wellKnown is in the place of an agent's id where a client has resolved the path of a card
// by a base URL without a slash at its end (RFC 3986 §5.2.3).
const wellKnown = ".well-known"

// findRPC finds the operation behind a gRPC path.
func (de *decoder) findRPC(x *exchange.Exchange) error {
	method, version, ok := x.Call.Extra.ByRPC(x.Request.URL.Path)
	switch {
	case !ok:
		return de.noRoute(x)
	case x.Request.Method != http.MethodPost:
		return exchange.NotAllowed([]string{http.MethodPost})
	case x.Request.ProtoMajor < 2:
		return wire.Errorf(wire.Malformed, "gRPC needs HTTP/2")
	case !isGRPC(mediaType(x.Request.Header)):
		return wire.Errorf(wire.ContentType, "send Content-Type: application/grpc or application/grpc+proto")
	}
	x.Call.Version, x.Call.Method = version, method
	x.Call.Streaming = method != nil && method.Streams
	return nil
}

// bindingRPC tells in which form a request to a path of gRPC is refused: a browser
// or an HTTP client that has come to the wrong door cannot read trailers.
func bindingRPC(r *http.Request) wire.Binding {
	if r.ProtoMajor < 2 || !isGRPC(mediaType(r.Header)) {
		return wire.HTTPJSON
	}
	return wire.GRPC
}

// decodeRPC reads the one message of a gRPC call.
func (de *decoder) decodeRPC(x *exchange.Exchange, version wire.Version) *wire.Error {
	method := x.Call.Method
	if method == nil {
		return wire.Errorf(wire.MethodNotFound, "no such method")
	}
	limit := int(de.Server.Limits.Body)
	message, err := onlyMessage(x.Body.Bytes(), limit)
	switch {
	case errors.Is(err, grpcframe.ErrTooLarge):
		return wire.Errorf(wire.TooLarge, "the message exceeds server.limits.body (%d bytes)", limit)
	case errors.Is(err, grpcframe.ErrCompressed):
		return wire.Errorf(wire.Encoded, "the message must not be compressed").Because(err)
	case err != nil:
		return wire.Errorf(wire.InvalidRequest, "the body is not one uncompressed gRPC message").Because(err)
	}
	return x.Call.DecodeGRPC(method, x.Call.Version, message, version, de.decodeLimits())
}

var errNotOne = errors.New("not exactly one gRPC message")

// onlyMessage takes the message out of a body that must have exactly one.
func onlyMessage(body []byte, limit int) ([]byte, error) {
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

// receiveRPC reads the answer of a unary gRPC call: at most one message, and the
// status behind it, which the header has instead where there is no message. What stands
// in front of an agent may know HTTP alone, and refuse the call by that.
func (fw *forwarder) receiveRPC(x *exchange.Exchange, l *exchange.UpstreamCall, resp *http.Response, body []byte) (exchange.Received, error) {
	media := mediaType(resp.Header)
	switch said := resp.Header.Get(exchange.StatusFields[0]) != "" || resp.Trailer.Get(exchange.StatusFields[0]) != ""; {
	case resp.StatusCode >= http.StatusMultipleChoices && (!isGRPC(media) || !said):
		return exchange.Received{}, fw.statusError(x, l, resp, false)
	case !isGRPC(media):
		return exchange.Received{}, wire.Errorf(wire.BadAgentResponse, "the agent's answer is not gRPC").Because(heardStatus(resp))
	}
	if e := wire.ReadStatus(resp.Header, resp.Trailer); e != nil {
		return exchange.Received{Failed: e}, nil
	}
	if resp.StatusCode >= http.StatusMultipleChoices { // one of the two is wrong
		return exchange.Received{}, fw.statusError(x, l, resp, false)
	}
	message, err := onlyMessage(body, len(body))
	if err != nil {
		return exchange.Received{}, wire.Errorf(wire.BadAgentResponse, "the agent's answer is not one message").Because(err)
	}
	doc, err := wire.ResponseJSON(l.Call.Method, l.Version, message)
	if err != nil {
		return exchange.Received{}, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	seen, err := fw.judge(l, doc)
	return exchange.Received{Bytes: message, Doc: doc, Seen: seen}, err
}

// systemServices are gRPC's own: they say whether the gateway is up and what the
// protocol looks like, nothing of agents or callers, and so to anybody.
var systemServices = []string{
	"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
}

// serveSystem hands a call to gRPC's own services. Like the status listener's
// answers it leaves no record: load balancers ask every few seconds.
func (de *decoder) serveSystem(w http.ResponseWriter, r *http.Request, _ exchange.Site) {
	x := &exchange.Exchange{FromClient: exchange.FromClient{Writer: &exchange.Response{ResponseWriter: w}, Request: r}}
	x.Call.Binding, x.Call.Version = bindingRPC(r), wire.V10
	_, err := de.screen(x)
	if err == nil && x.Call.Binding != wire.GRPC {
		err = wire.Errorf(wire.Malformed, "this is a gRPC service")
	}
	if err != nil {
		wire.WriteError(w, &x.Call, de.Refusal(x, err))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if de.Drain != nil { // who watches has been told by then, and would stay for ever
		defer de.Drain(cancel)()
	}
	de.System.ServeHTTP(w, r.WithContext(ctx))
}
