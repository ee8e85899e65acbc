package session

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/notifications"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// errAnswers ends an agent's stream at a task that the gateway answers by itself; it
// goes on with the stream of that answer.
var errAnswers = errors.New("the gateway answers the task")

// errNothing says that the stream of such an answer brought nothing.
var errNothing = errors.New("the agent answered with an empty stream")

// holdDemand keeps an event from the client whose task the gateway answers. It is what the
// client gets after all when the agent does not take the answer.
func holdDemand(x *exchange.Exchange, d *authdemand.Demand, tell func(exchange.Telling) error) error {
	var frames relay.Framing = relay.EventFrames{}
	if x.Call.Binding == wire.GRPC {
		frames = relay.MessageFrames{}
	}
	held := []byte{} // not nil, whatever there is to tell
	err := tell(func(name string, event []byte) error {
		held = frames.Append(held, "", name, event)
		return nil
	})
	if err != nil {
		return err
	}
	x.Held, x.Question = held, d
	return errAnswers
}

// resume answers the task at which a stream was left, and goes on with the stream of
// the answer. Until that brings something, the event that was held back is what the
// caller gets.
func (se *Sessions) resume(ctx context.Context, x *exchange.Exchange, late *time.Timer) error {
	late.Reset(x.Agent.Upstream.Timeout(x.Call.Method.Name))
	err := se.goOn(ctx, x, late)
	switch {
	case x.Held == nil, x.ClientLeft(err), errors.Is(err, openstreams.ErrRevoked):
		return err
	case err == nil:
		err = errNothing
	}
	se.Withdraw(x, x.Question, err)
	return releaseHeld(x)
}

func (se *Sessions) goOn(ctx context.Context, x *exchange.Exchange, late *time.Timer) error {
	c, err := se.Reply(x, x.Question, notifications.StreamMessage, true)
	if err != nil {
		return err
	}
	if err := x.Speak(c, intake.Wants(x.Question)); err != nil {
		return err
	}
	resp, err := se.Reach(ctx, x)
	if err != nil {
		return err
	}
	defer x.Up.LetGo(resp)
	if streams(resp, x.Upstream) {
		late.Stop()
		return se.relay(x, resp, nil)
	}
	body := buffers.New()
	defer x.GiveBack(body)
	a, seen, err := se.Taken(x, resp, body)
	if err != nil {
		return err
	}
	x.Held = nil
	x.RecordActivation(resp)
	return se.Show(ctx, x, resp, a, seen)
}

// releaseHeld ends a stream with the event that was held back.
func releaseHeld(x *exchange.Exchange) error {
	if err := x.Open(); err != nil {
		return err
	}
	if !x.Writer.Wrote {
		x.Writer.WriteHeader(http.StatusOK)
	}
	x.Rec.End = "agent finished"
	x.Writer.ArmDeadline()
	x.Send(x.Held)
	x.Finish()
	return nil
}
