package gatewaytest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"testing"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	a2aclient03 "github.com/a2aproject/a2a-go/a2aclient"
	a2aext03 "github.com/a2aproject/a2a-go/a2aext"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2aext"
	a2agrpcv0 "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
)

// Client is what every SDK client can do, in the words of the 1.0 SDK, whose
// client implements it.
type Client interface {
	SendMessage(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error)
	SendStreamingMessage(context.Context, *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error]
	GetTask(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error)
	ListTasks(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error)
	CancelTask(context.Context, *a2a.CancelTaskRequest) (*a2a.Task, error)
	SubscribeToTask(context.Context, *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error]
	GetTaskPushConfig(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error)
	ListTaskPushConfigs(context.Context, *a2a.ListTaskPushConfigRequest) ([]*a2a.PushConfig, error)
	CreateTaskPushConfig(context.Context, *a2a.PushConfig) (*a2a.PushConfig, error)
	DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error
	GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error)
}

// SDK names a client implementation.
type SDK string

// The client implementations: a2a-go/v2 speaks 1.0 and 0.3 over every binding,
// a2a-go v0.3 speaks 0.3 over JSON-RPC and gRPC, and the hand-written one 0.1.
const (
	Go10   SDK = "a2a-go/v2"
	Go03   SDK = "a2a-go"
	Hand01 SDK = "hand"
)

// SDKs are the implementations that can talk to the flavour.
func (f Flavour) SDKs() []SDK {
	switch {
	case speaks(f.Version, "0.1"):
		return []SDK{Hand01}
	case speaks(f.Version, "0.3") && f.Binding != a2a.TransportProtocolHTTPJSON:
		return []SDK{Go10, Go03}
	}
	return []SDK{Go10}
}

// Dial reads the card below base and gives a client on the interface of the
// version and binding, which ends with the test. The http.Client attaches
// whatever credentials the caller has; where the binding is gRPC, only one of
// [HTTPClient] will do. Of the extensions the client activates, by its SDK's means,
// those that the card lists.
func Dial(
	t testing.TB, sdk SDK, hc *http.Client, base string, v a2a.ProtocolVersion, b a2a.TransportProtocol,
	extensions ...string,
) (Client, *a2a.AgentCard) {
	t.Helper()
	resolver := agentcard.NewResolver(hc)
	resolver.CardParser = a2av0.NewAgentCardParser()
	if sdk == Hand01 {
		resolver.CardParser = parseCard01
	}
	card, err := resolver.Resolve(t.Context(), base, agentcard.WithPath(cardPath(v)))
	if err != nil {
		t.Fatalf("read card at %s: %v", base, err)
	}
	for _, i := range card.SupportedInterfaces {
		if i.ProtocolBinding != b || !speaks(i.ProtocolVersion, v) {
			continue
		}
		client, err := dial(t, sdk, hc, card, i, extensions)
		if err != nil {
			t.Fatalf("make %s client: %v", sdk, err)
		}
		return client, card
	}
	t.Fatalf("card at %s has no interface for %s %s", base, v, b)
	return nil, nil
}

func dial(
	t testing.TB, sdk SDK, hc *http.Client, card *a2a.AgentCard, i *a2a.AgentInterface, extensions []string,
) (Client, error) {
	var opts []grpc.DialOption
	if over, ok := hc.Transport.(interface{ dialOptions() []grpc.DialOption }); ok {
		opts = over.dialOptions()
	}
	switch sdk {
	case Hand01:
		return &client01{http: hc, url: i.URL}, nil
	case Go03:
		old := &a2a03.AgentCard{
			URL: i.URL, PreferredTransport: a2a03.TransportProtocol(i.ProtocolBinding), ProtocolVersion: "0.3.0",
			Capabilities: a2a03.AgentCapabilities{
				Streaming: card.Capabilities.Streaming, Extensions: extensions03(card.Capabilities.Extensions),
			},
			SupportsAuthenticatedExtendedCard: true,
		}
		client, err := a2aclient03.NewFromCard(t.Context(), old,
			a2aclient03.WithJSONRPCTransport(hc), a2aclient03.WithGRPCTransport(opts...),
			a2aclient03.WithInterceptors(a2aext03.NewActivator(extensions...)))
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = client.Destroy() })
		return client03{client}, nil
	}
	one := *card
	one.SupportedInterfaces = []*a2a.AgentInterface{i}
	client, err := a2aclient.NewFromCard(t.Context(), &one,
		a2aclient.WithJSONRPCTransport(hc), a2aclient.WithRESTTransport(hc), a2agrpc.WithGRPCTransport(opts...),
		a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: hc}),
		a2av0.WithRESTTransport(a2av0.RESTTransportConfig{Client: hc}), a2agrpcv0.WithGRPCTransport(opts...),
		a2aclient.WithCallInterceptors(a2aext.NewActivator(extensions...)))
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = client.Destroy() })
	return client, nil
}

// errNo03 marks what protocol 0.3 does not have.
var errNo03 = errors.New("not an operation of 0.3")

// client03 puts the 0.3 SDK's client behind the interface.
type client03 struct{ old *a2aclient03.Client }

func (c client03) SendMessage(ctx context.Context, r *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	result, err := c.old.SendMessage(ctx, a2av0.FromV1SendMessageRequest(r))
	if err != nil {
		return nil, err
	}
	switch v := result.(type) {
	case *a2a03.Task:
		return a2av0.ToV1Task(v)
	case *a2a03.Message:
		return a2av0.ToV1Message(v)
	}
	return nil, fmt.Errorf("send message: unexpected result %T", result)
}

func (c client03) SendStreamingMessage(
	ctx context.Context, r *a2a.SendMessageRequest,
) iter.Seq2[a2a.Event, error] {
	return events10(c.old.SendStreamingMessage(ctx, a2av0.FromV1SendMessageRequest(r)))
}

func (c client03) SubscribeToTask(
	ctx context.Context, r *a2a.SubscribeToTaskRequest,
) iter.Seq2[a2a.Event, error] {
	return events10(c.old.ResubscribeToTask(ctx, a2av0.FromV1SubscribeToTaskRequest(r)))
}

func events10(events iter.Seq2[a2a03.Event, error]) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		for old, err := range events {
			var now a2a.Event
			if err == nil {
				now, err = a2av0.ToV1Event(old)
			}
			if !yield(now, err) || err != nil {
				return
			}
		}
	}
}

func (c client03) GetTask(ctx context.Context, r *a2a.GetTaskRequest) (*a2a.Task, error) {
	task, err := c.old.GetTask(ctx, a2av0.FromV1GetTaskRequest(r))
	if err != nil {
		return nil, err
	}
	return a2av0.ToV1Task(task)
}

func (c client03) ListTasks(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return nil, errNo03
}

func (c client03) CancelTask(ctx context.Context, r *a2a.CancelTaskRequest) (*a2a.Task, error) {
	task, err := c.old.CancelTask(ctx, a2av0.FromV1CancelTaskRequest(r))
	if err != nil {
		return nil, err
	}
	return a2av0.ToV1Task(task)
}

func (c client03) GetTaskPushConfig(
	ctx context.Context, r *a2a.GetTaskPushConfigRequest,
) (*a2a.PushConfig, error) {
	config, err := c.old.GetTaskPushConfig(ctx, a2av0.FromV1GetTaskPushConfigRequest(r))
	if err != nil {
		return nil, err
	}
	return a2av0.ToV1PushConfig(config), nil
}

func (c client03) ListTaskPushConfigs(
	ctx context.Context, r *a2a.ListTaskPushConfigRequest,
) ([]*a2a.PushConfig, error) {
	configs, err := c.old.ListTaskPushConfig(ctx, a2av0.FromV1ListTaskPushConfigRequest(r))
	if err != nil {
		return nil, err
	}
	return a2av0.ToV1PushConfigs(configs)
}

func (c client03) CreateTaskPushConfig(ctx context.Context, r *a2a.PushConfig) (*a2a.PushConfig, error) {
	config, err := c.old.SetTaskPushConfig(ctx, a2av0.FromV1PushConfig(r))
	if err != nil {
		return nil, err
	}
	return a2av0.ToV1PushConfig(config), nil
}

func (c client03) DeleteTaskPushConfig(ctx context.Context, r *a2a.DeleteTaskPushConfigRequest) error {
	return c.old.DeleteTaskPushConfig(ctx, a2av0.FromV1DeleteTaskPushConfigRequest(r))
}

func (c client03) GetExtendedAgentCard(
	ctx context.Context, _ *a2a.GetExtendedAgentCardRequest,
) (*a2a.AgentCard, error) {
	card, err := c.old.GetAgentCard(ctx)
	if err != nil {
		return nil, err
	}
	now := a2av0.ToV1AgentCard(card)
	for _, s := range card.Skills { // the SDK's conversion leaves the skills behind
		now.Skills = append(now.Skills, a2a.AgentSkill{ID: s.ID, Name: s.Name, Description: s.Description})
	}
	return now, nil
}
