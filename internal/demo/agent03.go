package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2asrv10 "github.com/a2aproject/a2a-go/v2/a2asrv"
)

// Agent03 starts the weather agent: A2A 0.3 on a2a-go v0.3, JSON-RPC and
// HTTP+JSON. The caller closes it.
func Agent03(o Options) (*Agent, error) {
	o = o.withDefaults()
	agent, l, err := newAgent(o)
	if err != nil {
		return nil, fmt.Errorf("start weather agent: %w", err)
	}
	// The card names the bound address, which is known only now.
	card := weatherCard(agent, o.RequireExtension)
	handler := a2asrv.NewHandler(&weather{step: o.Step, quit: agent.quit},
		a2asrv.WithLogger(o.Logger),
		a2asrv.WithExtendedAgentCard(extendedWeatherCard(card)),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(&push.HTTPSenderConfig{
			Timeout: 5 * time.Second,
		})),
		a2asrv.WithCallInterceptor(&gate03{required: o.RequireExtension}),
	)
	agent.serve(l, o,
		a2asrv.NewStaticAgentCardHandler(card),
		jsonTyped(a2asrv.NewJSONRPCHandler(handler, a2asrv.WithKeepAlive(o.KeepAlive))),
		a2av0.NewRESTHandler(handler03{handler}, a2asrv10.WithTransportKeepAlive(o.KeepAlive)),
	)
	return agent, nil
}

// jsonTyped names the content type before the 0.3 SDK's JSON-RPC handler runs:
// it sets one for streams only, and net/http would guess text/plain.
func jsonTyped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		next.ServeHTTP(w, r)
	})
}

// errExtensionMissing is what 0.3 leaves to the agent: that version has no
// error code for a required extension.
var errExtensionMissing = fmt.Errorf("extension %s is required: %w", CostCentre, a2a.ErrInvalidRequest)

// gate03 refuses calls without the required extension and activates it
// otherwise. The 1.0 SDK does this by itself.
type gate03 struct {
	a2asrv.PassthroughCallInterceptor

	required bool
}

// Before implements a2asrv.CallInterceptor.
func (g *gate03) Before(
	ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request,
) (context.Context, error) {
	// 0.3 names the header X-A2A-Extensions; the SDK has it under its own key.
	lines, _ := call.RequestMeta().Get(a2asrv.ExtensionsMetaKey)
	if lists(lines, CostCentre) {
		call.Extensions().Activate(&a2a.AgentExtension{URI: CostCentre})
	} else if g.required {
		return ctx, errExtensionMissing
	}
	return ctx, nil
}

// weatherCard is the public card, in the form of 0.3: url is the endpoint of preferredTransport, and
// additionalInterfaces has it once more (A2A 0.3 §5.5.5).
func weatherCard(a *Agent, required bool) *a2a.AgentCard {
	return &a2a.AgentCard{
		ProtocolVersion:    "0.3.0",
		Name:               "Weather",
		Description:        "Forecasts and alerts for invented weather. A sample agent.",
		Version:            "0.9.2",
		Provider:           &a2a.AgentProvider{Org: "Example Ltd", URL: "https://weather.example"},
		URL:                a.URL + "/",
		PreferredTransport: a2a.TransportProtocolJSONRPC,
		AdditionalInterfaces: []a2a.AgentInterface{
			{URL: a.URL + "/", Transport: a2a.TransportProtocolJSONRPC},
			{URL: a.RESTURL, Transport: a2a.TransportProtocolHTTPJSON},
		},
		Capabilities: a2a.AgentCapabilities{
			Streaming:         true,
			PushNotifications: true,
			Extensions: []a2a.AgentExtension{{
				URI:         CostCentre,
				Description: "Books the call on a cost centre.",
				Required:    required,
			}},
		},
		SupportsAuthenticatedExtendedCard: true,
		DefaultInputModes:                 []string{"text/plain"},
		DefaultOutputModes:                []string{"text/plain", "application/json"},
		Skills: []a2a.AgentSkill{
			{
				ID:          "forecast",
				Name:        "Forecast",
				Description: "Streams a forecast for the next days.",
				Tags:        []string{"weather"},
				Examples:    []string{"forecast Oslo"},
			},
			{
				ID:          "alerts",
				Name:        "Alerts",
				Description: "Lists weather alerts for a place.",
				Tags:        []string{"weather", "safety"},
				Examples:    []string{"alerts Oslo"},
			},
		},
	}
}

// extendedWeatherCard is what agent/getAuthenticatedExtendedCard answers: one skill more, so that a
// test sees which of the two cards it was given.
func extendedWeatherCard(public *a2a.AgentCard) *a2a.AgentCard {
	card := *public
	card.Description += " This is the extended card."
	card.Skills = append(slices.Clone(public.Skills), a2a.AgentSkill{
		ID:          "watch",
		Name:        "Watch the sky",
		Description: "Reports until cancelled.",
		Tags:        []string{"weather", "long-running"},
		Examples:    []string{"watch"},
	})
	return &card
}

// textOf03 joins the text parts of a message.
func textOf03(m *a2a.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if text, ok := p.(a2a.TextPart); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, " ")
}

// errStopped ends an execution that was cancelled or whose agent is closing.
var errStopped = errors.New("execution stopped")
