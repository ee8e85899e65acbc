package proxy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// errAnswers ends an agent's stream at a task that the gateway answers by itself; it
// goes on with the stream of that answer.
var errAnswers = errors.New("the gateway answers the task")

// errNothing says that the stream of such an answer brought nothing.
var errNothing = errors.New("the agent answered with an empty stream")

// holdDemand keeps an event from the client whose task the gateway answers. It is what the
// client gets after all when the agent does not take the answer.
func holdDemand(x *exchange, d *authdemand.Demand, tell func(telling) error) error {
	var frames stream.Framing = stream.EventFrames{}
	if x.call.Binding == wire.GRPC {
		frames = stream.MessageFrames{}
	}
	held := []byte{} // not nil, whatever there is to tell
	err := tell(func(name string, event []byte) error {
		held = frames.Append(held, "", name, event)
		return nil
	})
	if err != nil {
		return err
	}
	x.held, x.question = held, d
	return errAnswers
}

// resume answers the task at which a stream was left, and goes on with the stream of
// the answer. Until that brings something, the event that was held back is what the
// caller gets.
func (se *sessions) resume(ctx context.Context, x *exchange, late *time.Timer) error {
	late.Reset(x.agent.Upstream.Timeout(x.call.Method.Name))
	err := se.goOn(ctx, x, late)
	switch {
	case x.held == nil, x.clientLeft(err), errors.Is(err, openstreams.ErrRevoked):
		return err
	case err == nil:
		err = errNothing
	}
	se.withdraw(x, x.question, err)
	return releaseHeld(x)
}

func (se *sessions) goOn(ctx context.Context, x *exchange, late *time.Timer) error {
	c, err := se.reply(x, x.question, streamMessage, true)
	if err != nil {
		return err
	}
	if err := x.speak(c, wants(x.question)); err != nil {
		return err
	}
	resp, err := se.reach(ctx, x)
	if err != nil {
		return err
	}
	defer x.up.letGo(resp)
	if streams(resp, x.upstream) {
		late.Stop()
		return se.relay(x, resp, nil)
	}
	body := buffers.New()
	defer x.giveBack(body)
	a, seen, err := se.taken(x, resp, body)
	if err != nil {
		return err
	}
	x.held = nil
	x.recordActivation(resp)
	return se.show(ctx, x, resp, a, seen)
}

// releaseHeld ends a stream with the event that was held back.
func releaseHeld(x *exchange) error {
	if err := x.open(); err != nil {
		return err
	}
	if !x.w.wrote {
		x.w.WriteHeader(http.StatusOK)
	}
	x.rec.End = "agent finished"
	x.w.arm()
	x.send(x.held)
	x.finish()
	return nil
}
