package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// leaky stands in every cause: a client must not read it.
const leaky = "10.0.0.5: s3cret"

func TestRefusal(t *testing.T) {
	t.Parallel()
	chain, err := schemes.New(t.Context(), schemes.Config{APIKeys: &apikey.Config{File: t.TempDir() + "/keys"}}, schemes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer chain.Close()
	p := &Proxy{Options: Options{PublicURL: &url.URL{Scheme: "https", Host: "gw"}, Authn: chain}}
	p.mountStages()
	x := &exchange.Exchange{FromClient: exchange.FromClient{Request: httptest.NewRequest(http.MethodPost, "/agents/a", nil)}}
	tests := []struct {
		name   string
		err    error
		kind   *wire.Kind
		header string // one that must be there
	}{
		{"ready-made", wire.Errorf(wire.TooLarge, "x").Because(errors.New(leaky)), wire.TooLarge, ""},
		{"ambiguous", authn.ErrAmbiguous, wire.Malformed, ""},
		{"no credentials", authn.ErrNoCredentials, wire.Unauthenticated, "Www-Authenticate"},
		{"refused", &authn.Refused{Scheme: "Bearer", Code: "invalid_token", Reason: "r", Err: errors.New(leaky)}, wire.Unauthenticated, "Www-Authenticate"},
		{"no issuer", authn.ErrUnavailable, wire.Unavailable, "Retry-After"},
		{"denied", &policy.Denied{Rule: leaky, Reason: leaky, Visible: true}, wire.Denied, ""},
		{"denied for a scope", &policy.Denied{Rule: leaky, Reason: leaky, Visible: true, Scopes: []string{"a"}}, wire.Denied, "Www-Authenticate"},
		{"denied and hidden", &policy.Denied{Rule: leaky, Reason: leaky, Scopes: []string{"a"}}, wire.UnknownAgent, ""},
		{"unknown agent", agents.ErrUnknown, wire.UnknownAgent, ""},
		{"absent task", ledger.ErrAbsent, wire.TaskNotFound, ""},
		{"foreign context", &ledger.ForeignContext{ID: leaky}, wire.TaskNotFound, ""},
		{"extension", &ext.MissingError{URIs: []string{"urn:a"}}, wire.ExtensionRequired, ""},
		{"no card", agents.ErrNotReady, wire.Unavailable, "Retry-After"},
		{"not recorded", record.ErrNotRecorded, wire.Unavailable, "Retry-After"},
		{"streams", openstreams.ErrStreams, wire.Unavailable, "Retry-After"},
		{"late", webhooks.ErrAnswerLate, wire.AgentTimeout, ""},
		{"deadline", context.DeadlineExceeded, wire.AgentTimeout, ""},
		{"full", stream.ErrFull, wire.Unavailable, "Retry-After"},
		{"state full", state.ErrFull, wire.Unavailable, "Retry-After"},
		{"draining", ending.ErrDraining, wire.Unavailable, "Retry-After"},
		{"idle", ending.ErrIdle, wire.AgentTimeout, ""},
		{"large event", ending.ErrTooLarge, wire.BadAgentResponse, ""},
		{"broken stream", ending.ErrBroken, wire.BadAgentResponse, ""},
		{"no dial", fmt.Errorf("%w: %w", exchange.ErrAgentBroke, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), wire.Unavailable, "Retry-After"},
		{"read timed out", fmt.Errorf("%w: %w", exchange.ErrAgentBroke, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}), wire.AgentTimeout, ""},
		{"reset", fmt.Errorf("%w: %w", exchange.ErrAgentBroke, &net.OpError{Op: "read", Err: syscall.ECONNRESET}), wire.BadAgentResponse, ""},
		{"end of file", fmt.Errorf("%w: %w", exchange.ErrAgentBroke, io.ErrUnexpectedEOF), wire.BadAgentResponse, ""},
		{"unknown", errors.New("x"), wire.Internal, ""},
		{"cancelled", context.Canceled, wire.Internal, ""},
		{"panic", fmt.Errorf("panic: %v", leaky), wire.Internal, ""},
	}
	for _, tt := range tests {
		for name, err := range map[string]error{tt.name: tt.err, tt.name + ", wrapped": fmt.Errorf("%s: %w", leaky, tt.err)} {
			e := p.recorder.Refusal(x, err)
			if e.Kind != tt.kind {
				t.Errorf("%s: %s, want %s", name, e.Reason, tt.kind.Reason)
			}
			if tt.header != "" && len(e.Header[tt.header]) == 0 {
				t.Errorf("%s: no %s", name, tt.header)
			}
			sent := e.Text() + fmt.Sprint(e.Meta, e.Header)
			if strings.Contains(sent, "10.0.0.5") || strings.Contains(sent, "s3cret") {
				t.Errorf("%s: the client reads %s", name, sent)
			}
			if ours := strings.Contains(sent, "state.memory"); ours != (tt.name == "state full") {
				t.Errorf("%s: names the limit of a driver: %s", name, sent)
			}
			// What happened stays with the operator.
			if tt.name != "ready-made" && !errors.Is(e, err) && e.Err == nil {
				t.Errorf("%s: the cause is lost", name)
			}
		}
	}
}
