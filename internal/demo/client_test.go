package demo_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// ways are the ways to reach a sample agent.
var ways = []struct {
	name    string
	start   func(demo.Options) (*demo.Agent, error)
	version a2a.ProtocolVersion
	binding a2a.TransportProtocol
}{
	{"billing/JSON-RPC", demo.Agent10, "1.0", a2a.TransportProtocolJSONRPC},
	{"billing/HTTP+JSON", demo.Agent10, "1.0", a2a.TransportProtocolHTTPJSON},
	{"weather/JSON-RPC", demo.Agent03, "0.3", a2a.TransportProtocolJSONRPC},
	{"weather/HTTP+JSON", demo.Agent03, "0.3", a2a.TransportProtocolHTTPJSON},
}

func start(t *testing.T, f func(demo.Options) (*demo.Agent, error), o demo.Options) *demo.Agent {
	t.Helper()
	if o.Step == 0 {
		o.Step = time.Millisecond
	}
	agent, err := f(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := agent.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return agent
}

// dial reads the agent's card, keeps the one interface asked for and gives a
// client on it.
func dial(
	t *testing.T, agent *demo.Agent, v a2a.ProtocolVersion, b a2a.TransportProtocol,
	opts ...a2aclient.FactoryOption,
) *a2aclient.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	hc := &http.Client{Transport: transport}
	resolver := agentcard.NewResolver(hc)
	resolver.CardParser = a2av0.NewAgentCardParser()
	card, err := resolver.Resolve(t.Context(), agent.URL)
	if err != nil {
		t.Fatal(err)
	}
	var picked []*a2a.AgentInterface
	for _, i := range card.SupportedInterfaces {
		if i.ProtocolBinding == b {
			i.ProtocolVersion = v // "0.3.0" in the card; the factory wants major.minor
			picked = append(picked, i)
		}
	}
	if len(picked) != 1 {
		t.Fatalf("card lists %d interfaces for %s", len(picked), b)
	}
	card.SupportedInterfaces = picked
	opts = append(opts,
		a2aclient.WithJSONRPCTransport(hc), a2aclient.WithRESTTransport(hc),
		a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: hc}),
		a2av0.WithRESTTransport(a2av0.RESTTransportConfig{Client: hc}),
		a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials())))
	client, err := a2aclient.NewFromCard(t.Context(), card, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func send(text string, edit ...func(*a2a.Message)) *a2a.SendMessageRequest {
	msg := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	for _, f := range edit {
		f(msg)
	}
	return &a2a.SendMessageRequest{Message: msg}
}

// shape writes an answer as one line, without ids and times.
func shape(e a2a.Event) string {
	switch v := e.(type) {
	case *a2a.Message:
		return "message " + parts(v.Parts)
	case *a2a.Task:
		artifacts := ""
		for _, a := range v.Artifacts {
			artifacts += " " + parts(a.Parts)
		}
		return "task " + string(v.Status.State) + artifacts
	case *a2a.TaskStatusUpdateEvent:
		return "status " + string(v.Status.State)
	case *a2a.TaskArtifactUpdateEvent:
		return "artifact " + parts(v.Artifact.Parts)
	}
	return "nothing"
}

func parts(ps []*a2a.Part) string {
	var kinds []string
	for _, p := range ps {
		switch p.Content.(type) {
		case a2a.Text:
			kinds = append(kinds, "text")
		case a2a.Raw:
			kinds = append(kinds, "raw")
		case a2a.URL:
			kinds = append(kinds, "url")
		case a2a.Data:
			kinds = append(kinds, "data")
		}
	}
	return "[" + strings.Join(kinds, " ") + "]"
}
