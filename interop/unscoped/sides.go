package main

import (
	"context"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2agrpcv0 "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/grpc"
)

const wellKnown = a2asrv.WellKnownAgentCardPath

// side is a version of the protocol in a binding; either http or grpc serves it.
type side struct {
	name    string
	version a2a.ProtocolVersion
	binding a2a.TransportProtocol
	http    func(a2asrv.RequestHandler) http.Handler
	grpc    func(a2asrv.RequestHandler, *grpc.Server)
}

// sides are all but 0.3 over HTTP+JSON: what this version of the SDK has for that is a
// form of its own, with other paths and names than 0.3 has.
func sides() []side {
	return []side{
		{name: "v10-jsonrpc", version: "1.0", binding: a2a.TransportProtocolJSONRPC, http: plain(a2asrv.NewJSONRPCHandler)},
		{name: "v10-rest", version: "1.0", binding: a2a.TransportProtocolHTTPJSON, http: plain(a2asrv.NewRESTHandler)},
		{
			name: "v10-grpc", version: "1.0", binding: a2a.TransportProtocolGRPC,
			grpc: func(h a2asrv.RequestHandler, s *grpc.Server) { a2agrpc.NewHandler(h).RegisterWith(s) },
		},
		{name: "v03-jsonrpc", version: a2av0.Version, binding: a2a.TransportProtocolJSONRPC, http: plain(a2av0.NewJSONRPCHandler)},
		{
			name: "v03-grpc", version: a2av0.Version, binding: a2a.TransportProtocolGRPC,
			grpc: func(h a2asrv.RequestHandler, s *grpc.Server) { a2agrpcv0.NewHandler(h).RegisterWith(s) },
		},
	}
}

// plain is a constructor without its options.
func plain(
	make func(a2asrv.RequestHandler, ...a2asrv.TransportOption) http.Handler,
) func(a2asrv.RequestHandler) http.Handler {
	return func(h a2asrv.RequestHandler) http.Handler { return make(h) }
}

// card serves the card of a side that is at an address.
func (s side) card(at string) http.Handler {
	card := &a2a.AgentCard{
		Name: "Unscoped", Description: "Knows tasks by their ids alone.", Version: "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{{URL: at, ProtocolBinding: s.binding, ProtocolVersion: s.version}},
		Capabilities:        a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		DefaultInputModes:   []string{"text/plain"},
		DefaultOutputModes:  []string{"text/plain"},
		Skills:              []a2a.AgentSkill{{ID: "work", Name: "Work", Description: "Works.", Tags: []string{"test"}}},
	}
	if s.version == a2av0.Version {
		return a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(card))
	}
	return a2asrv.NewStaticAgentCardHandler(card)
}

// unary and stream count requests over gRPC.
func (s *site) unary(ctx context.Context, r any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	s.requests.Add(1)
	return next(ctx, r)
}

func (s *site) stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	s.requests.Add(1)
	return next(srv, stream)
}
