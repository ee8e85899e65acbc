package gatewaytest

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	a2asrv03 "github.com/a2aproject/a2a-go/a2asrv"
	push03 "github.com/a2aproject/a2a-go/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"google.golang.org/grpc"
)

// Flavour is one server implementation: an SDK, a protocol version and a
// binding.
type Flavour struct {
	Name    string                // usable as an agent id: "go03-jsonrpc"
	Version a2a.ProtocolVersion   // "1.0", "0.3" or "0.1"
	Binding a2a.TransportProtocol // JSONRPC, HTTP+JSON or GRPC
	serve   func(at string, ex *Executor) service
}

// service is what a flavour puts on the network.
type service struct {
	card http.Handler
	rpc  http.Handler       // of every binding but gRPC
	grpc func(*grpc.Server) // of gRPC
}

// Flavours are the server implementations of the Go SDKs over HTTP.
func Flavours() []Flavour {
	return []Flavour{
		{"go03-jsonrpc", "0.3", a2a.TransportProtocolJSONRPC, serve03},
		{"go10-jsonrpc", "1.0", a2a.TransportProtocolJSONRPC, serve10},
		{"go10-rest", "1.0", a2a.TransportProtocolHTTPJSON, serveREST10},
		{"compat03-jsonrpc", "0.3", a2a.TransportProtocolJSONRPC, serveCompat},
		{"compat03-rest", "0.3", a2a.TransportProtocolHTTPJSON, serveCompatREST},
	}
}

// AllFlavours are the [Flavours], those of the SDKs over gRPC, and an agent of
// 0.1, for which there is no SDK.
func AllFlavours() []Flavour {
	return append(Flavours(),
		Flavour{"go10-grpc", "1.0", a2a.TransportProtocolGRPC, serveGRPC10},
		Flavour{"compat03-grpc", "0.3", a2a.TransportProtocolGRPC, serveCompatGRPC},
		Flavour{"go03-grpc", "0.3", a2a.TransportProtocolGRPC, serveGRPC03},
		Flavour{"hand01-jsonrpc", "0.1", a2a.TransportProtocolJSONRPC, serve01})
}

// speaks reports whether both mean the same version, with or without a patch
// number.
func speaks(a, b a2a.ProtocolVersion) bool { return a[:min(3, len(a))] == b[:min(3, len(b))] }

// sameSide reports whether bytes may pass between the two untouched.
func (f Flavour) sameSide(g Flavour) bool {
	return speaks(f.Version, g.Version) && f.Binding == g.Binding
}

// cardPath is where an agent of the version has its card, by protocol.
func cardPath(v a2a.ProtocolVersion) string {
	if speaks(v, "0.1") {
		return "/.well-known/agent.json"
	}
	return a2asrv.WellKnownAgentCardPath
}

// Agent is a running agent of one flavour.
type Agent struct {
	Flavour

	ID      string    // unique among the agents of a test; the flavour's name or longer
	URL     string    // origin of the card, without a trailing slash; endpoint of all bindings but gRPC
	CardURL string    // where its card is
	Exec    *Executor // what it executes, to count executions
	// Endpoints are origins that the card names beside its own.
	Endpoints []string
}

// Start runs an agent until the test ends.
func Start(t testing.TB, f Flavour) *Agent {
	t.Helper()
	return start(t, f, newExecutor())
}

func start(t testing.TB, f Flavour, ex *Executor) *Agent {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		ex.stop()
		server.CloseClientConnections()
		server.Close()
	})
	a := &Agent{Flavour: f, ID: f.Name, Exec: ex, URL: server.URL, CardURL: server.URL + cardPath(f.Version)}
	at := server.URL
	var listener net.Listener
	if f.Binding == a2a.TransportProtocolGRPC {
		listener = listen(t)
		at = listener.Addr().String()
		a.Endpoints = []string{"http://" + at}
	}
	s := f.serve(at, ex)
	mux.Handle(cardPath(f.Version), s.card)
	if listener != nil {
		serveGRPC(t, listener, ex, s.grpc)
	} else {
		mux.Handle("/", severable(ex.behind(s.rpc)))
	}
	return a
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// handler10 is the request handler of the 1.0 SDK; its compatibility handlers
// for 0.3 stand on the same.
func handler10(card *a2a.AgentCard, ex *Executor) a2asrv.RequestHandler {
	extended := *card
	extended.Description += " Extended."
	return a2asrv.NewHandler(ex,
		a2asrv.WithLogger(quiet()),
		a2asrv.WithCapabilityChecks(&card.Capabilities),
		a2asrv.WithExtendedAgentCard(&extended),
		a2asrv.WithCallInterceptors(everyone{}, activating{ex: ex}),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(),
			push.NewHTTPPushSender(&push.HTTPSenderConfig{Timeout: 5 * time.Second, AllowPrivateNetworks: true})))
}

func card10(at string, v a2a.ProtocolVersion, b a2a.TransportProtocol, ex *Executor) *a2a.AgentCard {
	return &a2a.AgentCard{
		Name:                "Rich",
		Description:         "Does every operation of the protocol.",
		Version:             "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{{URL: at, ProtocolBinding: b, ProtocolVersion: v}},
		Capabilities: a2a.AgentCapabilities{
			Streaming: true, PushNotifications: true, ExtendedAgentCard: true, Extensions: ex.declared,
		},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills: []a2a.AgentSkill{
			{ID: "work", Name: "Work", Description: "Works.", Tags: []string{"test"}},
			{ID: "rest", Name: "Rest", Description: "Rests.", Tags: []string{"test"}},
		},
	}
}

func serve10(at string, ex *Executor) service {
	c := card10(at, "1.0", a2a.TransportProtocolJSONRPC, ex)
	return service{rpc: a2asrv.NewJSONRPCHandler(handler10(c, ex)), card: a2asrv.NewStaticAgentCardHandler(c)}
}

func serveREST10(at string, ex *Executor) service {
	c := card10(at, "1.0", a2a.TransportProtocolHTTPJSON, ex)
	return service{rpc: a2asrv.NewRESTHandler(handler10(c, ex)), card: a2asrv.NewStaticAgentCardHandler(c)}
}

func serveCompat(at string, ex *Executor) service {
	c := card10(at, a2av0.Version, a2a.TransportProtocolJSONRPC, ex)
	return service{rpc: a2av0.NewJSONRPCHandler(handler10(c, ex)), card: cardCompat(c)}
}

func serveCompatREST(at string, ex *Executor) service {
	c := card10(at, a2av0.Version, a2a.TransportProtocolHTTPJSON, ex)
	return service{rpc: a2av0.NewRESTHandler(handler10(c, ex)), card: cardCompat(c)}
}

func cardCompat(c *a2a.AgentCard) http.Handler {
	return a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(c))
}

func serve03(at string, ex *Executor) service {
	c := card03(at, a2a03.TransportProtocolJSONRPC, ex)
	return service{rpc: a2asrv03.NewJSONRPCHandler(handler03(c, ex)), card: a2asrv03.NewStaticAgentCardHandler(c)}
}

// handler03 is the request handler of the 0.3 SDK.
func handler03(card *a2a03.AgentCard, ex *Executor) a2asrv03.RequestHandler {
	extended := *card
	extended.Description += " Extended."
	return a2asrv03.NewHandler(executor03{ex},
		a2asrv03.WithCallInterceptor(activating03{ex: ex}),
		a2asrv03.WithLogger(quiet()),
		a2asrv03.WithExtendedAgentCard(&extended),
		a2asrv03.WithPushNotifications(push03.NewInMemoryStore(),
			push03.NewHTTPPushSender(&push03.HTTPSenderConfig{Timeout: 5 * time.Second})))
}

func card03(at string, transport a2a03.TransportProtocol, ex *Executor) *a2a03.AgentCard {
	now := card10(at, "0.3", a2a.TransportProtocol(transport), ex)
	c := &a2a03.AgentCard{
		ProtocolVersion: "0.3.0", Name: now.Name, Description: now.Description, Version: now.Version,
		URL: at, PreferredTransport: transport,
		Capabilities:                      a2a03.AgentCapabilities{Streaming: true, PushNotifications: true},
		SupportsAuthenticatedExtendedCard: true,
		DefaultInputModes:                 now.DefaultInputModes, DefaultOutputModes: now.DefaultOutputModes,
	}
	c.Capabilities.Extensions = extensions03(now.Capabilities.Extensions)
	for _, s := range now.Skills {
		c.Skills = append(c.Skills, a2a03.AgentSkill{
			ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags,
		})
	}
	return c
}

func extensions03(now []a2a.AgentExtension) []a2a03.AgentExtension {
	var all []a2a03.AgentExtension
	for _, e := range now {
		all = append(all, a2a03.AgentExtension(e))
	}
	return all
}
