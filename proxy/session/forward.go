package session

import (
	"context"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents/interfaces"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// Forward sends the call to the agent and relays the answer. The call is sent
// once: whether a lost send had its effect is something only the agent knows.
//
// Its refusals are 503 with Retry-After (too many streams, of all or of this caller; descriptors
// or memory have run out), whatever package forward says of the agent, and the ends of streams.
func (se *Sessions) Forward(x *exchange.Exchange) error {
	return within(se, x, func(ctx context.Context, late *time.Timer) error { return se.answerCall(ctx, x, late) })
}

// within has do answer a call that has a place among the streams, if it is one.
func within(se *Sessions, x *exchange.Exchange, do func(context.Context, *time.Timer) error) (err error) {
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
	return se.withinTimeout(x, do)
}

// withinTimeout has do get the caller an answer in the time that there is for one, and another
// where the gateway itself has to answer the agent first. Whatever becomes of it, nothing
// is left of the call then; unless the exchange has gone away, and comes by here again.
//
// The context ends with webhooks.ErrAnswerLate where the agent is late, which is told from the
// client's leaving by its cause. In the end a webhook that the agent has not taken is forgotten,
// the trail of spans is ended, and the place is left, but not for an exchange that goes on
// elsewhere.
func (se *Sessions) withinTimeout(x *exchange.Exchange, do func(context.Context, *time.Timer) error) (err error) {
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
		err = se.answerTask(ctx, x, late)
	}
	if errors.Is(err, errDetached) { // whatever has run out meanwhile is not the stream's any more
		return err
	}
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, webhooks.ErrAnswerLate) {
		return cause
	}
	return err
}

// answerCall has the call answered: by the agent, or where its version has no such
// method, from what the gateway and other methods know.
//
// Cases are in the order of what they cost. An error that is the agent's and comes before
// anything was written is given the name that 1.0 has for it.
func (se *Sessions) answerCall(ctx context.Context, x *exchange.Exchange, late *time.Timer) error {
	if x.Call.Method.Name == wire.ListTasks && !interfaces.Speaks(x.Endpoint.Side, x.Call.Method) {
		return se.ListTasks(ctx, x)
	}
	if done, err := se.rejoin(ctx, x); done || err != nil {
		late.Stop()
		return err
	}
	if err := se.PrepareCall(x); err != nil {
		return err
	}
	if x.Call.Method.Name == wire.ListTasks {
		return se.ListPages(ctx, x)
	}
	if x.Call.Method.Name == wire.SubscribeToTask && x.Endpoint.Version != wire.V10 && x.Call.Version == wire.V10 {
		return se.subscribe(ctx, x, late)
	}
	resp, err := se.SendCall(ctx, x)
	if err != nil {
		return err
	}
	defer x.Up.LetGo(resp)
	if streams(resp, x.Upstream) {
		se.LearnVersion(x, wire.Answer{})
		late.Stop()
		err := se.relay(x, resp, nil)
		if e := (*wire.Error)(nil); errors.As(err, &e) && !x.Writer.Wrote {
			return se.NameEndedTask(ctx, x, e)
		}
		return err
	}
	return se.RelayAnswer(ctx, x, resp)
}
