package failure

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestStatusesAlone: what a status means without an A2A error.
func TestStatusesAlone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		plain Plain
		kind  *wire.Kind
		text  string
	}{
		{Plain{Status: 402}, wire.PaymentRequired, "the agent asks for payment"},
		{Plain{Status: 413}, wire.TooLarge, "the agent takes no request of this size"},
		{Plain{Status: 429, Object: true}, wire.RateLimited, "the agent is receiving too many requests"},
		{Plain{Status: 408}, wire.Unavailable, "the agent is not available at the moment"},
		{Plain{Status: 529}, wire.Unavailable, "the agent is not available at the moment"},
		{Plain{Status: 524}, wire.AgentTimeout, "The agent did not answer in time"},
		{Plain{Status: 500, Type: "text/plain; charset=utf-8"}, wire.BadAgentResponse, "the agent answered 500 (text/plain)"},
		{Plain{Status: 500, Type: "text/<script>"}, wire.BadAgentResponse, "the agent answered 500 (a malformed Content-Type)"},
		{Plain{Status: 500, Type: "nonsense"}, wire.BadAgentResponse, "the agent answered 500 (a malformed Content-Type)"},
		{Plain{Status: 500, Object: true}, wire.BadAgentResponse, "the agent answered 500 (no Content-Type)"},
		{Plain{Status: 404, Type: "application/json"}, wire.BadAgentResponse, "the agent answered 404 (application/json)"},
		{Plain{Status: 404, Type: "application/json", Object: true}, wire.BadAgentResponse, "the agent answered 404 (application/json)"},
		{Plain{Status: 404, Type: "application/json", Object: true, Task: true}, wire.TaskNotFound, "the agent answered 404 (application/json)"},
		{Plain{Status: 422, Type: "application/json", Object: true}, wire.InvalidParams, "the agent answered 422 (application/json)"},
		{Plain{Status: 422, Type: "application/json"}, wire.BadAgentResponse, "the agent answered 422 (application/json)"},
		{Plain{Status: 405, Type: "application/json", Object: true}, wire.Unsupported, "the agent answered 405 (application/json)"},
		{
			Plain{Status: 401, Type: "application/json", Object: true}, wire.BadAgentResponse,
			"the agent answered 401 (application/json): it does not accept what the gateway shows it",
		},
		{Plain{Status: 308}, wire.BadAgentResponse, "the agent answered 308, a redirect, and redirects are not followed"},
		{Plain{Status: 304}, wire.BadAgentResponse, "the agent answered 304 (no Content-Type)"},
		{Plain{Status: 999}, wire.BadAgentResponse, "the agent answered 999 (no Content-Type)"},
	} {
		if e := tt.plain.Error(); e.Kind != tt.kind || e.Text() != tt.text {
			t.Errorf("%+v: %v, want %s: %s", tt.plain, e, tt.kind.Reason, tt.text)
		}
	}
}

// TestCodesUnderStatuses: an error that says nothing but that something went wrong means
// what its status does, and keeps its number.
func TestCodesUnderStatuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code, status int
		reason       string
	}{
		{-32603, 429, "RATE_LIMITED"}, {-32000, 429, "RATE_LIMITED"}, {-32000, 200, "UNKNOWN"}, {-32000, 500, "UNKNOWN"},
		{-32603, 413, "REQUEST_TOO_LARGE"}, {-32603, 402, "PAYMENT_REQUIRED"}, {-32603, 500, "INTERNAL_ERROR"},
		{-32001, 429, "TASK_NOT_FOUND"}, {-32601, 404, "AGENT_NOT_FOUND"}, {-32603, 503, "UNAVAILABLE"},
	} {
		k := kindOfCode(wire.V10, tt.code, tt.status)
		if k.Reason != tt.reason || k.Code != tt.code {
			t.Errorf("%d under %d: %s %d, want %s", tt.code, tt.status, k.Reason, k.Code, tt.reason)
		}
	}
}
