package gatewaytest

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	a2asrv03 "github.com/a2aproject/a2a-go/a2asrv"
	push03 "github.com/a2aproject/a2a-go/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

// Flavour is one server implementation: an SDK, a protocol version and a
// binding.
type Flavour struct {
	Name    string                // usable as an agent id: "go03-jsonrpc"
	Version a2a.ProtocolVersion   // "1.0" or "0.3"
	Binding a2a.TransportProtocol // JSONRPC or HTTP+JSON
	start   func(base string, ex *Executor) (rpc, card http.Handler)
}

// Flavours are all server implementations of the Go SDKs.
func Flavours() []Flavour {
	return []Flavour{
		{"go03-jsonrpc", "0.3", a2a.TransportProtocolJSONRPC, serve03},
		{"go10-jsonrpc", "1.0", a2a.TransportProtocolJSONRPC, serve10},
		{"go10-rest", "1.0", a2a.TransportProtocolHTTPJSON, serveREST10},
		{"compat03-jsonrpc", "0.3", a2a.TransportProtocolJSONRPC, serveCompat},
		{"compat03-rest", "0.3", a2a.TransportProtocolHTTPJSON, serveCompatREST},
	}
}

// Agent is a running agent of one flavour.
type Agent struct {
	Flavour

	ID      string    // unique among the agents of a test; the flavour's name or longer
	URL     string    // origin, without a trailing slash; endpoint of the binding
	CardURL string    // where its card is
	Exec    *Executor // what it executes, to count executions
}

// Start runs an agent until the test ends.
func Start(t testing.TB, f Flavour) *Agent {
	t.Helper()
	ex := newExecutor()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	rpc, card := f.start(server.URL, ex)
	mux.Handle("/", rpc)
	mux.Handle(a2asrv.WellKnownAgentCardPath, card)
	t.Cleanup(func() {
		ex.stop()
		server.CloseClientConnections()
		server.Close()
	})
	return &Agent{
		Flavour: f, ID: f.Name, Exec: ex,
		URL: server.URL, CardURL: server.URL + a2asrv.WellKnownAgentCardPath,
	}
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
		a2asrv.WithCallInterceptors(everyone{}),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(),
			push.NewHTTPPushSender(&push.HTTPSenderConfig{Timeout: 5 * time.Second, AllowPrivateNetworks: true})))
}

func card10(base string, v a2a.ProtocolVersion, b a2a.TransportProtocol) *a2a.AgentCard {
	return &a2a.AgentCard{
		Name:                "Rich",
		Description:         "Does every operation of the protocol.",
		Version:             "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{{URL: base, ProtocolBinding: b, ProtocolVersion: v}},
		Capabilities: a2a.AgentCapabilities{
			Streaming: true, PushNotifications: true, ExtendedAgentCard: true,
		},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills: []a2a.AgentSkill{
			{ID: "work", Name: "Work", Description: "Works.", Tags: []string{"test"}},
			{ID: "rest", Name: "Rest", Description: "Rests.", Tags: []string{"test"}},
		},
	}
}

func serve10(base string, ex *Executor) (rpc, card http.Handler) {
	c := card10(base, "1.0", a2a.TransportProtocolJSONRPC)
	return a2asrv.NewJSONRPCHandler(handler10(c, ex)), a2asrv.NewStaticAgentCardHandler(c)
}

func serveREST10(base string, ex *Executor) (rpc, card http.Handler) {
	c := card10(base, "1.0", a2a.TransportProtocolHTTPJSON)
	return a2asrv.NewRESTHandler(handler10(c, ex)), a2asrv.NewStaticAgentCardHandler(c)
}

func serveCompat(base string, ex *Executor) (rpc, card http.Handler) {
	c := card10(base, a2av0.Version, a2a.TransportProtocolJSONRPC)
	producer := a2av0.NewStaticAgentCardProducer(c)
	return a2av0.NewJSONRPCHandler(handler10(c, ex)), a2asrv.NewAgentCardHandler(producer)
}

func serveCompatREST(base string, ex *Executor) (rpc, card http.Handler) {
	c := card10(base, a2av0.Version, a2a.TransportProtocolHTTPJSON)
	producer := a2av0.NewStaticAgentCardProducer(c)
	return a2av0.NewRESTHandler(handler10(c, ex)), a2asrv.NewAgentCardHandler(producer)
}

func serve03(base string, ex *Executor) (rpc, card http.Handler) {
	c := card03(base)
	extended := *c
	extended.Description += " Extended."
	h := a2asrv03.NewHandler(executor03{ex},
		a2asrv03.WithLogger(quiet()),
		a2asrv03.WithExtendedAgentCard(&extended),
		a2asrv03.WithPushNotifications(push03.NewInMemoryStore(),
			push03.NewHTTPPushSender(&push03.HTTPSenderConfig{Timeout: 5 * time.Second})))
	return a2asrv03.NewJSONRPCHandler(h), a2asrv03.NewStaticAgentCardHandler(c)
}

func card03(base string) *a2a03.AgentCard {
	now := card10(base, "0.3", a2a.TransportProtocolJSONRPC)
	c := &a2a03.AgentCard{
		ProtocolVersion: "0.3.0", Name: now.Name, Description: now.Description, Version: now.Version,
		URL: base, PreferredTransport: a2a03.TransportProtocolJSONRPC,
		Capabilities:                      a2a03.AgentCapabilities{Streaming: true, PushNotifications: true},
		SupportsAuthenticatedExtendedCard: true,
		DefaultInputModes:                 now.DefaultInputModes, DefaultOutputModes: now.DefaultOutputModes,
	}
	for _, s := range now.Skills {
		c.Skills = append(c.Skills, a2a03.AgentSkill{
			ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags,
		})
	}
	return c
}

// is03 reports whether a version is 0.3, with or without a patch number.
func is03(v a2a.ProtocolVersion) bool { return strings.HasPrefix(string(v), "0.3") }
