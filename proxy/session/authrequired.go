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

// errAnswers ends an agent's stream at a task in auth-required that the gateway answers by itself; it
// goes on with the stream of that answer.
var errAnswers = errors.New("the gateway answers the task")

// errNothing says that the stream of such an answer brought nothing.
var errNothing = errors.New("the agent answered with an empty stream")

// holdDemand keeps an event from the client whose task the gateway answers. It is what the
// client gets after all when the agent does not take the answer.
//
// It is encoded in the client's framing at once, because the entry it was made of may be gone by
// then. It returns errAnswers, which ends the relay without a word to the client.
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

// answerTask answers the task at which a stream was left, and goes on with the stream of
// the answer. Until that brings something, the event that was held back is what the
// caller gets.
//
// The timer is given its whole time anew, as what begins is another call. Where the client has
// left or was revoked meanwhile, nothing is released.
func (se *Sessions) answerTask(ctx context.Context, x *exchange.Exchange, late *time.Timer) error {
	late.Reset(x.Agent.Upstream.Timeout(x.Call.Method.Name))
	err := se.sendReply(ctx, x, late)
	switch {
	case x.Held == nil, x.ClientLeft(err), errors.Is(err, openstreams.ErrRevoked):
		return err
	case err == nil:
		err = errNothing
	}
	se.WithdrawAnswer(x, x.Question, err)
	return releaseHeld(x)
}

// sendReply sends the gateway's message, and relays what the agent says to it: a stream, or one
// answer where the agent does not stream.
func (se *Sessions) sendReply(ctx context.Context, x *exchange.Exchange, late *time.Timer) error {
	c, err := se.Reply(x, x.Question, notifications.StreamMessage, true)
	if err != nil {
		return err
	}
	if err := x.Speak(c, intake.DemandOf(x.Question)); err != nil {
		return err
	}
	resp, err := se.SendCall(ctx, x)
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
	a, seen, err := se.TakeReply(x, resp, body)
	if err != nil {
		return err
	}
	x.Held = nil
	x.RecordActivation(resp)
	return se.ShowAnswer(ctx, x, resp, a, seen)
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
