package proxy

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
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// forwarder sends calls to agents, as they came or translated, and reads the answers.
type forwarder struct {
	*webhooks.Webhooks
	*intake.Frontend
	*intake.Decoder
	*ownership.Owners
	*inspect.Inspector
	*notifications

	Relay     *webhooks.Relay
	Server    *server.Config
	Telemetry *telemetry.Telemetry
	redirects sync.Map
}

// forward sends the call to the agent and relays the answer. The call is sent
// once: whether a lost send had its effect is something only the agent knows.
func (se *sessions) forward(x *exchange.Exchange) (err error) {
	if x.Call.Streaming {
		// Before the agent sees the call: a send refused afterwards would have had
		// its effect all the same.
		if err := se.Load.Stream(); err != nil {
			return err
		}
		x.Slot, err = se.Streams.Take(x.Holder(), int64(se.Server.Limits.Streams), *se.StreamConfig.PerPrincipal)
		if err != nil {
			return err
		}
		se.Discharge(x)
	}
	if err := se.Outlive(x); err != nil {
		if x.Slot != nil {
			x.Slot.Leave()
		}
		return err
	}
	return se.within(x, func(ctx context.Context, late *time.Timer) error {
		return se.exchange(ctx, x, late)
	})
}

// within has do get the caller an answer in the time that there is for one, and another
// where the gateway itself has to answer the agent first. Whatever becomes of it, nothing
// is left of the call then; unless the exchange has gone away, and comes by here again.
func (se *sessions) within(x *exchange.Exchange, do func(context.Context, *time.Timer) error) (err error) {
	ctx, cancel := context.WithCancelCause(x.Ctx)
	defer cancel(nil)
	most := x.Agent.Upstream.Timeout(x.Call.Method.Name)
	late := time.AfterFunc(most, func() { cancel(webhooks.ErrAnswerLate) })
	defer late.Stop()
	x.Late = late
	defer se.Streams.Waits(x.InUse, most)()

	defer func() {
		if errors.Is(err, errDetached) {
			return
		}
		se.DropWebhook(x, err)
		x.EndTrail(err)
		if x.Slot != nil {
			x.Slot.Leave()
		}
	}()
	if err = do(ctx, late); errors.Is(err, errAnswers) {
		err = se.resume(ctx, x, late)
	}
	if errors.Is(err, errDetached) { // whatever has run out meanwhile is not the stream's any more
		return err
	}
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, webhooks.ErrAnswerLate) {
		return cause
	}
	return err
}

// exchange has the call answered: by the agent, or where its version has no such
// method, from what the gateway and other methods know.
func (se *sessions) exchange(ctx context.Context, x *exchange.Exchange, late *time.Timer) error {
	if x.Call.Method.Name == wire.ListTasks && !agents.Speaks(x.Endpoint.Side, x.Call.Method) {
		return se.listTasks(ctx, x)
	}
	if done, err := se.rejoin(ctx, x); done || err != nil {
		late.Stop()
		return err
	}
	if err := se.prepare(x); err != nil {
		return err
	}
	if x.Call.Method.Name == wire.ListTasks {
		return se.listPages(ctx, x)
	}
	if x.Call.Method.Name == wire.SubscribeToTask && x.Endpoint.Version != wire.V10 && x.Call.Version == wire.V10 {
		return se.subscribe(ctx, x, late)
	}
	resp, err := se.reach(ctx, x)
	if err != nil {
		return err
	}
	defer x.Up.LetGo(resp)
	if streams(resp, x.Upstream) {
		se.learnVersion(x, wire.Answer{})
		late.Stop()
		err := se.relay(x, resp, nil)
		if e := (*wire.Error)(nil); errors.As(err, &e) && !x.Writer.Wrote {
			return se.ended(ctx, x, e)
		}
		return err
	}
	return se.answer(ctx, x, resp)
}

// reach sends the exchange's upstream call and looks at the head of the answer.
func (fw *forwarder) reach(ctx context.Context, x *exchange.Exchange) (*http.Response, error) {
	x.Sent = time.Now()
	if x.Upstream.Methods {
		x.UsesQuirk(agents.MethodAddresses)
	}
	if x.Upstream.Call.Streaming { // its stream may outlast the call
		x.Up = detach(ctx)
		ctx = x.Up.Ctx
	}
	l, resp, err := fw.send(ctx, x, x.Upstream)
	x.EndTrail(nil)
	x.Upstream, x.Trail = l, l.Trail
	x.Rec.Instance, x.Rec.Tries = l.Served.Instance, l.Served.Tries
	x.Rec.UpstreamDuration = time.Since(x.Sent)
	if err != nil {
		return nil, broken(ctx, err)
	}
	x.Rec.UpstreamStatus = resp.StatusCode
	if e := unreadable(resp); e != nil {
		_ = resp.Body.Close() // it is not worth reading
		return nil, e
	}
	return resp, nil
}

// broken names why no answer came.
func broken(ctx context.Context, err error) error {
	var e *wire.Error
	if errors.As(err, &e) {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("%w: %w", exchange.ErrAgentBroke, err)
}

// unreadable refuses answers whose body must not be waited for: a switch to
// another protocol (L16), a compressed one that nobody asked for (L23), and one
// with a header that could split a response further on (L6). A refusal that is
// compressed still has its status.
func unreadable(resp *http.Response) *wire.Error {
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

// forwardedQuery drops A2A-Version and A2A-Extensions, which the gateway says by
// header and some agents would take from here, and keeps every other parameter as it
// was written.
func forwardedQuery(raw string) string {
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
