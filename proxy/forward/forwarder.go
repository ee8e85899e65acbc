// Package forward makes the upstream call and reads its answer: in the agent's binding and
// version, passed on byte for byte where nothing needs a change, translated where it does.
//
// # One message/send
//
//   - PrepareCall: the caller's webhook is replaced; the call is passed through or translated
//     (Upstream in the exchange). Refusals: UNSUPPORTED_OPERATION, INVALID_PARAMS.
//   - SendCall: header, credentials, instance; the request is written and the head of the answer
//     read. Refusals: 403, 503 with Retry-After, AGENT_TIMEOUT, INVALID_AGENT_RESPONSE.
//   - Receive: the body is read whole, within server.limits.answer, and judged. Refusals:
//     INVALID_AGENT_RESPONSE; what the status says where the body says nothing.
//   - RelayReceived: errors get their name, a message to a task that has ended above all.
//     Refusals: the agent's own error.
//   - ShowAnswer: ids are recorded, content is held to the rules, demands for authorization
//     answered or enriched, push configs shown as the caller's own, and the answer is passed on,
//     translated, streamed, or waited for. Refusals: INVALID_AGENT_RESPONSE.
//
// A call is sent once. It is sent a second time only where nothing can have happened: another
// form of the same request after the agent refused the first form (SendUpstream), or another
// version after it knew no such method (ErrMethodUnknown).
//
// # Pass or translate
//
// The caller's side and the agent's are each a version and a binding. Where they are equal the
// request goes on as the bytes that came, and the answer comes back so:
//
//	caller 1.0 JSON-RPC  {"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{…}}
//	agent  1.0 JSON-RPC  the same bytes
//	agent  0.3 HTTP+JSON POST /v1/message:send  {"message":{"role":"ROLE_USER","content":[…]}}
//
// Else the upstream call has a Retelling, which says the agent's answer in the caller's words.
//
// # Answers that are not what they say
//
// Agents and what stands in front of them mislabel answers: an event stream as JSON, JSON without
// a Content-Type, an error page with status 200, an error of the binding with a status of a
// proxy's. Receive reads what is there, corrects the label, notes the form for the record and
// refuses what could be read in two ways. docs/quirks.md lists what is tolerated.
//
// # Notifications
//
// ServeNotification is the other entrance: POST /push/<token> of an agent. It puts the questions
// of package notifications in order, retells the body in the receiver's version, and answers 200
// once the delivery is in the queue, or a bare status. A status from 500 on has the agent send it
// again.
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

// Detach begins one, with the values of call; until keep is called it ends with ctx.
//
// The request of a stream must outlive the call's timeout, and at first must not outlive the
// call: a timeout still ends it. Keep ends that tie, and nothing of ctx is held any longer.
func Detach(ctx, call context.Context) *exchange.DetachedRequest {
	d := new(exchange.DetachedRequest)
	d.Ctx, d.Cancel = context.WithCancelCause(context.WithoutCancel(call))
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

// SendCall sends the exchange's upstream call and looks at the head of the answer.
//
// It leaves in the exchange when the call was sent, which instance had it and in how many tries,
// the status, and the time until the head of the answer; for streaming calls also Up, the
// detached request.
func (fw *Forwarder) SendCall(ctx context.Context, x *exchange.Exchange) (*http.Response, error) {
	x.Sent = time.Now()
	if x.Upstream.Methods {
		x.UsesQuirk(agents.MethodAddresses)
	}
	if x.Upstream.Call.Streaming { // its stream may outlast the call
		x.Up = Detach(ctx, x.Ctx)
		ctx = x.Up.Ctx
	}
	l, resp, err := fw.SendUpstream(ctx, x, x.Upstream)
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
//
// An error that is a refusal already stays one. The cause of a context that has ended comes
// before the error it has brought about; anything else is the agent's failure (ErrAgentBroke,
// 502).
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
//
// A pair whose name cannot be decoded is dropped as well: nobody knows what an agent would read
// it as.
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

// isServiceParameter reports whether a query parameter is one of A2A's service parameters (A2A
// 1.0 §3.2.6).
// Underscores count as hyphens, as some servers read them alike.
func isServiceParameter(name string) bool {
	for _, own := range []string{"A2A-Version", "A2A-Extensions", "X-A2A-Extensions"} {
		if strings.EqualFold(strings.ReplaceAll(name, "_", "-"), own) {
			return true
		}
	}
	return false
}

// AgentError marks an error as the agent's: the gateway has refused nothing.
//
// The record then says decision "error" and not "deny", and the text is the agent's.
func AgentError(e *wire.Error) error {
	e.Kind = exchange.Said(e.Kind)
	if e.Err == nil {
		return e.Because(exchange.ErrAgentSaid)
	}
	return e.Because(fmt.Errorf("%w: %w", exchange.ErrAgentSaid, e.Err))
}

// OpenedStream is a stream of the agent's as a feed takes it over, but for its judge. resp is nil
// where there is no answer behind it.
func (fw *Forwarder) OpenedStream(x *exchange.Exchange, l *exchange.UpstreamCall, resp *http.Response, up *exchange.DetachedRequest) stream.Opened {
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
