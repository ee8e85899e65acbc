package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"google.golang.org/grpc"
)

// Agent10 starts the billing agent: A2A 1.0 on a2a-go/v2, JSON-RPC and
// HTTP+JSON, or gRPC instead. The caller closes it.
func Agent10(o Options) (*Agent, error) {
	o = o.withDefaults()
	agent, l, err := newAgent(o)
	if err != nil {
		return nil, fmt.Errorf("start billing agent: %w", err)
	}
	card := billingCard(agent, o.RequireExtension)
	handler := a2asrv.NewHandler(&billing{step: o.Step, quit: agent.quit},
		a2asrv.WithLogger(o.Logger),
		a2asrv.WithCapabilityChecks(&card.Capabilities),
		a2asrv.WithExtendedAgentCard(extendedBillingCard(card)),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(&push.HTTPSenderConfig{
			Timeout: 5 * time.Second,
			// Webhooks of a demo live on the same machine.
			AllowPrivateNetworks: true,
		})),
		a2asrv.WithCallInterceptors(everyone{}),
	)
	// One protocol binding for each listener: gRPC takes all of its paths.
	if o.GRPC {
		card.SupportedInterfaces = []*a2a.AgentInterface{
			a2a.NewAgentInterface(l.Addr().String(), a2a.TransportProtocolGRPC),
		}
		agent.grpc = grpc.NewServer()
		a2agrpc.NewHandler(handler).RegisterWith(agent.grpc)
	}
	// Comment lines on an idle stream keep proxies from closing it.
	transport := a2asrv.WithTransportKeepAlive(o.KeepAlive)
	agent.serve(l, o,
		a2asrv.NewStaticAgentCardHandler(card),
		a2asrv.NewJSONRPCHandler(handler, transport),
		a2asrv.NewRESTHandler(handler, transport),
	)
	return agent, nil
}

// everyone is the one user the agent knows: behind a gateway all calls come
// from the gateway, and the SDK lists tasks for named users only.
type everyone struct {
	a2asrv.PassthroughCallInterceptor
}

// Before implements a2asrv.CallInterceptor.
func (everyone) Before(
	ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request,
) (context.Context, any, error) {
	call.User = a2asrv.NewAuthenticatedUser("everyone", nil)
	// No answer of its own: the call goes on.
	return ctx, nil, nil
}

// billingCard is the public card, in the form of 1.0: supportedInterfaces lists both bindings, the
// preferred one first.
func billingCard(a *Agent, required bool) *a2a.AgentCard {
	return &a2a.AgentCard{
		Name:        "Billing",
		Description: "Summarizes invoices and refunds them after asking. A sample agent.",
		Version:     "1.4.0",
		Provider:    &a2a.AgentProvider{Org: "Example Ltd", URL: "https://billing.example"},
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(a.URL+"/", a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface(a.RESTURL, a2a.TransportProtocolHTTPJSON),
		},
		Capabilities: a2a.AgentCapabilities{
			Streaming:         true,
			PushNotifications: true,
			ExtendedAgentCard: true,
			Extensions: []a2a.AgentExtension{{
				URI:         CostCentre,
				Description: "Books the call on a cost centre.",
				Required:    required,
			}},
		},
		DefaultInputModes:  []string{"text/plain", "application/json"},
		DefaultOutputModes: []string{"text/plain", "application/json", "text/csv"},
		Skills: []a2a.AgentSkill{
			{
				ID:          "summarize",
				Name:        "Summarize invoices",
				Description: "Streams a summary of the open invoices and their total.",
				Tags:        []string{"billing", "report"},
				Examples:    []string{"summarize March"},
			},
			{
				ID:          "refund",
				Name:        "Refund an invoice",
				Description: "Refunds one invoice after asking for confirmation.",
				Tags:        []string{"billing", "payment"},
				Examples:    []string{"refund INV-7"},
			},
		},
	}
}

// extendedBillingCard is what an authenticated caller may see in addition.
func extendedBillingCard(public *a2a.AgentCard) *a2a.AgentCard {
	card := *public
	card.Description += " This is the extended card."
	card.Skills = append(append([]a2a.AgentSkill(nil), public.Skills...), a2a.AgentSkill{
		ID:          "audit",
		Name:        "Audit the ledger",
		Description: "Walks the whole ledger; takes long and can be cancelled.",
		Tags:        []string{"billing", "long-running"},
		Examples:    []string{"audit"},
	})
	return &card
}
