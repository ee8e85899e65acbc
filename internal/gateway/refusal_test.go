package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

const refusalPolicy = `extensions: [{uri: "https://example.com/ext/needed"}]
policy:
  rules:
    - {name: everything, effect: allow, groups: [all]}
    - {name: reads, effect: allow, groups: [readers], methods: [GetTask]}
push: {mode: off}
agents:
  - {id: open, card: %q}
  - {id: strict, card: %q, extensions: {require: ["https://example.com/ext/needed"]}}
`

func say(text string) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))}
}

// Every SDK tells the gateway's own refusals apart as the errors that they are,
// and nothing of what is refused reaches the agent.
func TestRefusalsAreTyped(t *testing.T) {
	t.Parallel()
	message := func(ctx context.Context, c gatewaytest.Client) error {
		_, err := c.SendMessage(ctx, say("message"))
		return err
	}
	stream := func(ctx context.Context, c gatewaytest.Client) error {
		for _, err := range c.SendStreamingMessage(ctx, say("message")) {
			return err
		}
		return nil
	}
	const absent = "0a0a0a0a-0000-7000-8000-000000000000"
	get := func(ctx context.Context, c gatewaytest.Client) error {
		_, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: absent})
		return err
	}
	pushes := func(ctx context.Context, c gatewaytest.Client) error {
		sent, err := c.SendMessage(ctx, say("task"))
		if err != nil {
			return err
		}
		hook := &a2a.PushConfig{TaskID: sent.(*a2a.Task).ID, ID: "c", URL: "https://hooks.example"}
		_, err = c.CreateTaskPushConfig(ctx, hook)
		return err
	}
	const denied = "403 Forbidden|Permission denied"
	noPush, noPush03 := a2a.ErrPushNotificationNotSupported, a2a03.ErrPushNotificationNotSupported
	noExtension := a2a.ErrExtensionSupportRequired
	tests := []struct {
		name   string
		agent  string
		groups []string // nil: no credential
		do     func(context.Context, gatewaytest.Client) error
		now    error  // in the 1.0 SDK
		old    error  // in the 0.3 SDK; nil where it has none
		text   string // a pattern, where the SDK makes no such error of it
	}{
		// Over JSON-RPC the SDKs do not read the body under 401 and 403.
		{"no credential", "open", nil, message, a2a.ErrUnauthenticated, nil, "401 Unauthorized"},
		{"no credential, stream", "open", nil, stream, a2a.ErrUnauthenticated, nil, "401 Unauthorized"},
		{"denied", "open", []string{"readers"}, message, a2a.ErrUnauthorized, nil, denied},
		{"denied, stream", "open", []string{"readers"}, stream, a2a.ErrUnauthorized, nil, denied},
		{"no such task", "open", []string{"all"}, get, a2a.ErrTaskNotFound, a2a03.ErrTaskNotFound, ""},
		{"extension", "strict", []string{"all"}, message, noExtension, nil, "required extensions"},
		{"push", "open", []string{"all"}, pushes, noPush, noPush03, ""},
	}
	for _, f := range gatewaytest.Flavours() {
		agent := gatewaytest.Start(t, f)
		w := newWorld(t)
		g := w.start(w.yaml(plain, fmt.Sprintf(refusalPolicy, agent.CardURL, agent.CardURL)))
		for _, sdk := range f.SDKs() {
			for _, tt := range tests {
				t.Run(f.Name+" "+string(sdk)+" "+tt.name, func(t *testing.T) {
					var header http.Header
					if tt.groups != nil {
						header = w.token("caller", tt.groups...)
					}
					c, _ := gatewaytest.Dial(t, sdk, gatewaytest.HTTPClient(t, header, nil),
						g.URL()+"/agents/"+tt.agent, f.Version, f.Binding)
					err := tt.do(t.Context(), c)
					want := tt.now
					if sdk == gatewaytest.Go03 {
						want = tt.old
					}
					if f.Binding == a2a.TransportProtocolJSONRPC && strings.HasPrefix(tt.text, "40") {
						want = nil
					}
					switch {
					case err == nil:
						t.Error("no error")
					case want != nil && !errors.Is(err, want),
						want == nil && !regexp.MustCompile(tt.text).MatchString(err.Error()):
						t.Errorf("error %v (%T), want %v or %q", err, err, want, tt.text)
					}
				})
			}
		}
		if n, sent := agent.Exec.Calls(), int64(len(f.SDKs())); n != sent { // the tasks of "push"
			t.Errorf("%s: %d messages reached the agent, of which %d were not refused", f.Name, n, sent)
		}
	}
}
