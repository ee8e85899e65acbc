package forward

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

var sendMessage = intake.Method(wire.SendMessage)

// handleAuthRequired does what is to be done about a unary answer that shows a demand, d, if any:
// either the caller gets the answer to what the gateway has answered, and all is done,
// or doc, with where a token can be had.
//
// Without a demand, which is the usual case, it does nothing and returns doc.
func (fw *Forwarder) handleAuthRequired(ctx context.Context, x *exchange.Exchange, d *authdemand.Demand, doc []byte) (_ []byte, done bool, _ error) {
	if d == nil {
		return doc, false, nil
	}
	if fw.MayAnswerTask(ctx, x, d, sendMessage) {
		if done, err := fw.answerInstead(ctx, x, d); done {
			return nil, true, err
		}
	}
	doc, err := fw.EnrichDemand(x, jsonscan.Mend(doc))
	return doc, false, err
}

// Reply is the gateway's own message to a task that waits for authorization. What
// authorizes is in the header; the text is for an agent that wants one.
//
// It is built as a 1.0 document, and is translated like a caller's:
// {"message":{"messageId":…,"role":"ROLE_USER","taskId":…,"parts":[{"text":"Authorization has
// been provided."}]},"configuration":{"returnImmediately":false}}.
func (fw *Forwarder) Reply(x *exchange.Exchange, d *authdemand.Demand, m *wire.Method, wait bool) (*wire.Call, error) {
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
	text := x.Agent.Authorization.Message
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

// answerInstead answers a task that a unary answer shows to wait, and gives the caller the
// answer to that. Where the agent does not take it, nothing is done, and the caller is
// to have the first answer.
//
// Nothing of a failed attempt reaches the caller. Withdrawing lets the next call try again,
// unless the agent may have the message.
func (fw *Forwarder) answerInstead(ctx context.Context, x *exchange.Exchange, d *authdemand.Demand) (done bool, _ error) {
	before := x.Upstream
	body := buffers.New()
	defer x.GiveBack(body)
	resp, err := fw.sendReply(ctx, x, d)
	var a exchange.Received
	var seen wire.Answer
	if err == nil {
		defer resp.Body.Close() // nothing is left to do with the answer
		a, seen, err = fw.TakeReply(x, resp, body)
		if err != nil && !x.Upstream.Own {
			err = intake.Heard{Err: err} // what failed is the look at the task behind it
		}
	}
	if err != nil {
		x.Upstream = before
		fw.WithdrawAnswer(x, d, err)
		return false, nil
	}
	x.RecordActivation(resp)
	return true, fw.ShowAnswer(ctx, x, resp, a, seen)
}

// sendReply answers a task. The answer to that is in the place of the first: to a send what
// the agent says to it, else the same call once more.
func (fw *Forwarder) sendReply(ctx context.Context, x *exchange.Exchange, d *authdemand.Demand) (*http.Response, error) {
	sends := x.Call.Method.Subject == wire.OfMessage
	c, err := fw.Reply(x, d, sendMessage, sends && x.Waits())
	if err != nil {
		return nil, err
	}
	if sends {
		if err := x.Speak(c, intake.DemandOf(d)); err != nil {
			return nil, err
		}
		return fw.SendCall(ctx, x)
	}
	l, err := x.Asking(c)
	if err != nil {
		return nil, err
	}
	l.Shows = intake.DemandOf(d)
	if _, _, _, err := fw.SendQuestion(ctx, x, l); err != nil {
		return nil, err
	}
	resp, err := fw.SendCall(ctx, x)
	if err != nil {
		err = intake.Heard{Err: err}
	}
	return resp, err
}

// TakeReply reads the agent's answer to what the gateway has said. One that is an error is
// not for the caller, who has not said it.
func (fw *Forwarder) TakeReply(x *exchange.Exchange, resp *http.Response, body *buffers.Buffer) (exchange.Received, wire.Answer, error) {
	a, err := fw.Receive(x, x.Upstream, resp, body)
	switch {
	case err != nil:
		return a, wire.Answer{}, err
	case a.Failed != nil:
		return a, wire.Answer{}, AgentError(a.Failed)
	case exchange.IsError(a.Seen) || resp.StatusCode >= http.StatusMultipleChoices:
		return a, a.Seen, AgentError(a.AgentError(x.Upstream, resp, a.Doc))
	}
	x.Heard(&a)
	_, err = x.MatchID(a.Seen, a.Doc)
	return a, a.Seen, err
}
