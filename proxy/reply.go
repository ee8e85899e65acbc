package proxy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// errAnswers ends an agent's stream at a task that the gateway answers by itself; it
// goes on with the stream of that answer.
var errAnswers = errors.New("the gateway answers the task")

var (
	sendMessage   = method(wire.SendMessage)
	streamMessage = method(wire.SendStreamingMessage)
)

// answered marks a task that the gateway has answered.
func answered(x *exchange, d *wire.Demand) state.Step {
	return state.Step{Agent: x.agent.ID, Task: d.Task, Extension: TaskAuthorization}
}

// reply is the gateway's own message to a task that waits for authorization. What
// authorizes is in the header; the text is for an agent that wants one.
func (p *Proxy) reply(x *exchange, d *wire.Demand, m *wire.Method, wait bool) (*wire.Call, error) {
	type part struct {
		Text string `json:"text"`
	}
	type message struct {
		ID      string `json:"messageId"`
		Role    string `json:"role"`
		Task    string `json:"taskId"`
		Context string `json:"contextId,omitempty"`
		Parts   []part `json:"parts"`
	}
	type configuration struct {
		Now bool `json:"returnImmediately"`
	}
	text := x.agent.Authorization.Message
	if text == "" {
		text = defaultMessage
	}
	id := uuid.NewString()
	params, err := json.Marshal(struct {
		Message       message       `json:"message"`
		Configuration configuration `json:"configuration"`
	}{message{id, "ROLE_USER", d.Task, d.Context, []part{{text}}}, configuration{!wait}})
	if err != nil {
		return nil, err
	}
	return &wire.Call{
		Version: wire.V10, Binding: wire.GRPC, Method: m, Streaming: m.Streams, TaskID: d.Task, ContextID: d.Context,
		MessageID: id, Params: params, Body: params,
	}, nil
}

// speak makes a reply the exchange's leg: its answers are for the caller.
func (x *exchange) speak(c *wire.Call) error {
	again := *c
	again.Extra = x.call.Extra
	to := x.toward(c)
	to.ID = x.idFor(&x.call)
	l, err := x.retoldAs(&again, nil, &x.call, to)
	if err != nil {
		return err
	}
	l.own = true
	if l.retell.Task, l.retell.Context = x.task, x.session; x.endpoint.Side == x.side() {
		l.retell = nil
	}
	x.leg = l
	return nil
}

// again answers a task that a unary answer shows to wait, and gives the answer to that
// in the place of the first.
func (p *Proxy) again(ctx context.Context, x *exchange, d *wire.Demand) (*http.Response, error) {
	sends := x.call.Method.Subject == wire.OfMessage
	c, err := p.reply(x, d, sendMessage, sends && x.waits())
	if err != nil {
		return nil, err
	}
	if sends {
		err = x.speak(c)
	} else { // the task is asked for once more
		_, _, _, err = p.put(ctx, x, c)
	}
	if err != nil {
		return nil, err
	}
	return p.reach(ctx, x)
}

// instead gives the caller the answer to what the gateway has answered. Where the agent
// does not hear it, nothing is done, and the caller is to have the first answer.
func (p *Proxy) instead(ctx context.Context, x *exchange, seen wire.Answer, d *wire.Demand) (done bool, _ error) {
	if err := p.learn(x, seen); err != nil {
		return true, err
	}
	before := x.leg
	resp, err := p.again(ctx, x, d)
	if err != nil {
		x.leg = before
		x.withdraw(p, d, err)
		return false, nil
	}
	defer resp.Body.Close() // nothing is left to do with the answer
	return true, p.answer(ctx, x, resp)
}

// waits reports whether the caller of a send waits for the task to settle. A
// configuration that leaves it open does.
func (x *exchange) waits() bool {
	var c struct {
		Configuration struct {
			Blocking *bool `json:"blocking"`
			Now      bool  `json:"returnImmediately"`
		} `json:"configuration"`
	}
	if json.Unmarshal(x.call.Params, &c) != nil {
		return true
	}
	return !c.Configuration.Now && (c.Configuration.Blocking == nil || *c.Configuration.Blocking)
}

// hold keeps an event from the client whose task the gateway answers. It is what the
// client gets after all when the agent does not hear the answer.
func (x *exchange) hold(d *wire.Demand, tell func(stream.Emit) error) error {
	var frames stream.Framing = stream.EventFrames{}
	if x.call.Binding == wire.GRPC {
		frames = stream.MessageFrames{}
	}
	var held []byte
	err := tell(func(name string, event []byte) error {
		held = frames.Append(held, name, event)
		return nil
	})
	if err != nil {
		return err
	}
	x.held, x.question = held, d
	return errAnswers
}

// resume answers the task at which a stream was left, and goes on with the stream of
// the answer.
func (p *Proxy) resume(ctx context.Context, x *exchange, late *time.Timer) error {
	late.Reset(x.agent.Upstream.Timeout())
	c, err := p.reply(x, x.question, streamMessage, true)
	if err == nil {
		err = x.speak(c)
	}
	var resp *http.Response
	if err == nil {
		resp, err = p.reach(ctx, x)
	}
	if err == nil && resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // it is no stream
		err = errAgentSaid
	}
	if err != nil {
		x.withdraw(p, x.question, err)
		return x.release()
	}
	defer resp.Body.Close() // nothing is left to do with the answer
	late.Stop()
	if !streams(resp, x.leg) {
		return p.answer(ctx, x, resp)
	}
	return p.relay(x, resp, nil)
}

// release ends a stream with the event that was held back.
func (x *exchange) release() error {
	if err := x.open(); err != nil {
		return err
	}
	if !x.w.wrote {
		x.w.WriteHeader(http.StatusOK)
	}
	x.send(x.held)
	x.finish()
	return nil
}
