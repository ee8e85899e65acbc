package intake

import (
	"context"
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// Heard is an error after which the agent has what the gateway said.
type Heard struct{ Err error }

// Error is the cause's.
func (h Heard) Error() string { return h.Err.Error() }

// Unwrap gives the cause.
func (h Heard) Unwrap() error { return h.Err }

// MayAnswerTask reports whether the gateway is to answer a task by itself, with a message
// of method m: a credential for it is configured and can be had, the caller could say
// it too, and the task has not been answered before, by whatever call. It is not said
// twice in one exchange either, for an agent could make up tasks for ever.
func (de *Decoder) MayAnswerTask(ctx context.Context, x *exchange.Exchange, d *authdemand.Demand, m *wire.Method) bool {
	if x.Question != nil || !x.Agent.Upstream.Answers(DemandOf(d)) || !de.maySend(x, d, m) {
		return false
	}
	x.Question = d
	step, mine := negotiate.Answered(x, d), x.Rec.RequestID
	if now, err := de.Steps.Advance(x.Ctx, step, "", mine); err != nil || now != mine {
		return false
	}
	x.Rec.Authorized, x.Rec.Credentials = true, x.Agent.Upstream.ShownTo(DemandOf(d))
	// Before the client loses sight of the question, there has to be an answer to it.
	caller := de.Caller(x, x.Upstream)
	caller.Demanded = DemandOf(d)
	if err := x.Agent.Upstream.Authorize(ctx, http.Header{}, caller); err != nil {
		de.TakeBack(x, d, err)
		return false
	}
	return true
}

// maySend reports whether a message to the task in the caller's behalf is one that the
// caller wants and may send. Those who only share a task have not asked for what it
// does, nor has one who cancels it; and reading is not always allowed to write.
//
// The task must be recorded as the caller's own. Where the caller only reads, the rules are asked
// whether the caller could have sent a message.
func (de *Decoder) maySend(x *exchange.Exchange, d *authdemand.Demand, m *wire.Method) bool {
	asked := x.Call.Method
	if !asked.Sends() && (asked.Does != wire.Reads || asked.Subject != wire.OfTask) {
		return false
	}
	if d.Task == "" {
		return false
	}
	record, err := de.Ledger.Check(x.Ctx, x.Principal, x.Agent.ID, Question(GetTask, d.Task, nil))
	if err != nil || record.Owner != x.Principal.Key() {
		return false
	}
	if x.Call.Method.Subject == wire.OfMessage {
		return true
	}
	q := x.PolicyRequest()
	q.Method = m
	_, err = de.Policy.Check(q)
	return err == nil
}

// WithdrawAnswer takes back that the gateway has answered a task, so that the next call may
// try again, unless the agent may have the answer: saying it twice is worse than not at
// all.
func (de *Decoder) WithdrawAnswer(x *exchange.Exchange, d *authdemand.Demand, err error) {
	var e *wire.Error
	switch {
	case errors.As(err, new(Heard)), errors.As(err, &e) && e.Kind == wire.AgentTimeout:
	case errors.Is(err, exchange.ErrAgentSaid): // it was shown the credentials, and said no
		shown := x.Rec.Credentials
		de.TakeBack(x, d, err)
		x.Rec.Credentials = shown
		return
	case errors.As(err, &e) && e.Kind != wire.BadAgentResponse, // before anything was sent
		errors.Is(err, upstream.ErrBusy), upstream.NoConnection(err):
		de.TakeBack(x, d, err)
		return
	}
	x.Rec.Cause = err.Error()
}
