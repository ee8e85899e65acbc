// Package forward makes the upstream call and reads its answer: in the agent's binding and
// version, passed on byte for byte where nothing needs a change, translated where it does.
package forward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/notifications"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Detach begins one; until keep is called it ends with ctx.
func Detach(ctx context.Context) *exchange.DetachedRequest {
	d := new(exchange.DetachedRequest)
	d.Ctx, d.Cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	d.Unhook = context.AfterFunc(ctx, func() { d.Cancel(context.Cause(ctx)) })
	return d
}

// Forwarder sends calls to agents, as they came or translated, and reads the answers.
type Forwarder struct {
	*webhooks.Webhooks
	*intake.Frontend
	*intake.Decoder
	*ownership.Owners
	*inspect.Inspector
	*notifications.Notifications

	Relay     *webhooks.Relay
	Server    *server.Config
	Telemetry *telemetry.Telemetry
	redirects sync.Map
}

// Reach sends the exchange's upstream call and looks at the head of the answer.
func (fw *Forwarder) Reach(ctx context.Context, x *exchange.Exchange) (*http.Response, error) {
	x.Sent = time.Now()
	if x.Upstream.Methods {
		x.UsesQuirk(agents.MethodAddresses)
	}
	if x.Upstream.Call.Streaming { // its stream may outlast the call
		x.Up = Detach(ctx)
		ctx = x.Up.Ctx
	}
	l, resp, err := fw.Send(ctx, x, x.Upstream)
	x.EndTrail(nil)
	x.Upstream, x.Trail = l, l.Trail
	x.Rec.Instance, x.Rec.Tries = l.Served.Instance, l.Served.Tries
	x.Rec.UpstreamDuration = time.Since(x.Sent)
	if err != nil {
		return nil, Broken(ctx, err)
	}
	x.Rec.UpstreamStatus = resp.StatusCode
	if e := Unreadable(resp); e != nil {
		_ = resp.Body.Close() // it is not worth reading
		return nil, e
	}
	return resp, nil
}

// Broken names why no answer came.
func Broken(ctx context.Context, err error) error {
	var e *wire.Error
	if errors.As(err, &e) {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("%w: %w", exchange.ErrAgentBroke, err)
}

// Unreadable refuses answers whose body must not be waited for: a switch to
// another protocol (L16), a compressed one that nobody asked for (L23), and one
// with a header that could split a response further on (L6). A refusal that is
// compressed still has its status.
func Unreadable(resp *http.Response) *wire.Error {
	if resp.StatusCode < http.StatusOK {
		return wire.Errorf(wire.BadAgentResponse, "the agent switched protocols")
	}
	for name, values := range resp.Header {
		if strings.ContainsAny(name, " \t\r\n\x00") {
			return wire.Errorf(wire.BadAgentResponse, "the agent sent a malformed header")
		}
		for _, v := range values {
			if !exchange.CleanValue(v) {
				return wire.Errorf(wire.BadAgentResponse, "the agent sent a malformed header")
			}
			if name == "Content-Encoding" && resp.StatusCode < http.StatusMultipleChoices && v != "" && !strings.EqualFold(v, "identity") {
				return wire.Errorf(wire.BadAgentResponse, "the agent sent a compressed answer")
			}
		}
	}
	return nil
}

// ForwardedQuery drops A2A-Version and A2A-Extensions, which the gateway says by
// header and some agents would take from here, and keeps every other parameter as it
// was written.
func ForwardedQuery(raw string) string {
	if raw == "" || !mayNameParameter(raw) {
		return raw
	}
	pairs := slices.DeleteFunc(strings.Split(raw, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		return err != nil || isServiceParameter(name)
	})
	return strings.Join(pairs, "&")
}

// mayNameParameter is false for a query that is certain to have no service parameter.
func mayNameParameter(raw string) bool {
	lower := strings.ToLower(raw)
	return strings.Contains(lower, "a2a") || strings.Contains(lower, "%")
}

func isServiceParameter(name string) bool {
	for _, own := range []string{"A2A-Version", "A2A-Extensions", "X-A2A-Extensions"} {
		if strings.EqualFold(strings.ReplaceAll(name, "_", "-"), own) {
			return true
		}
	}
	return false
}

// AgentError marks an error as the agent's: the gateway has refused nothing.
func AgentError(e *wire.Error) error {
	e.Kind = exchange.Said(e.Kind)
	if e.Err == nil {
		return e.Because(exchange.ErrAgentSaid)
	}
	return e.Because(fmt.Errorf("%w: %w", exchange.ErrAgentSaid, e.Err))
}

// Opened is a stream of the agent's as a feed takes it over, but for its judge. resp is nil
// where there is no answer behind it.
func (fw *Forwarder) Opened(x *exchange.Exchange, l *exchange.UpstreamCall, resp *http.Response, up *exchange.DetachedRequest) stream.Opened {
	o := stream.Opened{Form: x.Form(l), From: agentevents.SSE, Stop: up.Stop}
	if l.Binding == wire.GRPC {
		o.From = agentevents.GRPC
	}
	if resp != nil {
		o.Body = resp.Body
	}
	return o
}

var (
	deleteConfig = intake.Method("DeleteTaskPushNotificationConfig")
)
