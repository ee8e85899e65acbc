package approve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// errVoid is wrapped by what makes an approval void.
var errVoid = errors.New("the approval is void")

// Recall is the stage Authenticate of a call that has waited: its caller was authenticated with the
// request that brought it, and is as the configuration and the keys of now have it.
func (h *Holder) Recall(x *exchange.Exchange) (err error) {
	sent := x.Site.Approved
	x.Principal, err = h.Authn.Recall([]byte(sent.Caller.Who))
	if x.Site.Tool != nil {
		x.Site.Tool = x.Principal
	}
	return err
}

// Sending runs the stages of a call that has waited, and writes down what has become of it: of one that is
// refused as well.
func (h *Holder) Sending(stages ...record.Stage) record.Stage {
	return func(x *exchange.Exchange) error {
		x.Rec.Approval, x.Rec.ApprovalState = x.Site.Approved.ID, string(standing.Sending)
		for _, s := range stages {
			if err := s(x); err != nil {
				h.failed(x, err)
				return err
			}
		}
		return nil
	}
}

// failed settles a call that was refused, by the gateway or by the agent.
func (h *Holder) failed(x *exchange.Exchange, err error) {
	sent := x.Site.Approved
	if sent.Result.Task != "" { // the agent has shown a task, which says more
		return
	}
	var denied *policy.Denied
	var refused *authn.Refused
	e := h.Refusal(x, err)
	sent.Result = approvals.Outcome{State: standing.Failed, Error: e.Reason, Why: e.Text()}
	switch {
	case errors.Is(err, errVoid):
		sent.Result.State, sent.Result.Why = standing.Void, reasonOf(err)
	case errors.As(err, &denied), errors.As(err, &refused):
		sent.Result.State, sent.Result.Why = standing.Void, err.Error()
	case x.Uncertain(err): // such as that the agent was late, or the gateway had to end
		sent.Result.State = standing.Lost
	}
	h.settle(x)
}

// settle writes down what has become of a call. Where that fails, it counts as lost when its time is over.
func (h *Holder) settle(x *exchange.Exchange) {
	sent := x.Site.Approved
	x.Rec.ApprovalState = string(sent.Result.State)
	if err := h.Store.Settle(context.WithoutCancel(x.Ctx), &sent.Call, sent.Result); err != nil {
		h.Recorder.Telemetry.Log.Error("write the outcome of an approved call", "approval", sent.ID, "error", err)
	}
}

// Send forwards a call that people have agreed to, if what they have agreed to is what it would do.
func (h *Holder) Send(forward record.Stage) record.Stage {
	return func(x *exchange.Exchange) error {
		sent := x.Site.Approved
		if err := h.stands(x, sent); err != nil {
			return err
		}
		for _, r := range x.Approvals {
			if err := h.Store.Remember(x.Ctx, r, sent.Status); err != nil {
				return storeAway(err)
			}
		}
		x.Stays = true // nobody reads the answer but this
		if !x.Call.Streaming {
			x.Writer.Copy = new(bytes.Buffer)
		}
		if err := forward(x); err != nil {
			return err
		}
		h.answered(x, sent)
		return nil
	}
}

// stands reports why a call may not be sent as it was agreed to: a rule asks now that did not, or is
// another one than they have seen, or one of them may not agree any more.
func (h *Holder) stands(x *exchange.Exchange, sent *approvals.Dispatch) error {
	for _, r := range x.Approvals {
		i := slices.IndexFunc(sent.Rules, func(was approvals.Rule) bool { return was.Name == r.Name })
		switch {
		case i < 0:
			// Another approval may count for calls like this one; see needed.
			id, err := h.Store.Remembered(x.Ctx, r, &sent.Call, h.kin(&sent.Call))
			if err != nil {
				return storeAway(err)
			}
			if id == "" {
				return void("rule %q asks for approval, and did not when the call came", r.Name)
			}
			continue
		case sent.Rules[i].Digest != r.Digest:
			return void("rule %q has changed since the call came", r.Name)
		}
		agree := 0
		for _, v := range sent.For(r.Name) {
			if h.agrees(r, v, sent) {
				agree++
			}
		}
		if agree < r.Count {
			return void("an approver may not agree any more for rule %q", r.Name)
		}
	}
	return nil
}

// agrees reports whether a vote still counts.
func (h *Holder) agrees(r *approval.Rule, v approvals.Vote, sent *approvals.Dispatch) bool {
	who := approval.Approver{Subject: v.By, Groups: v.Groups, Agent: v.Agent}
	if v.Agent != "" {
		who.Kin = h.kin(&sent.Call)(v.Agent)
	}
	return r.Refuses(who, sent.Caller.Selves) == "" && (h.May == nil || h.May(v))
}

// reasonOf is why an approval is void.
func reasonOf(err error) string {
	_, why, _ := strings.Cut(err.Error(), errVoid.Error()+": ")
	return why
}

// void is the refusal of a call whose approval does not count.
func void(format string, args ...any) error {
	why := fmt.Errorf("%w: %s", errVoid, fmt.Sprintf(format, args...))
	return wire.Errorf(wire.Denied, "").Because(why)
}

// answered settles a call that the agent has answered: a task goes on by itself, what else was answered
// is kept in its place. The message of a stream was kept when it came (proxy/session).
func (h *Holder) answered(x *exchange.Exchange, sent *approvals.Dispatch) {
	o := &sent.Result
	o.State = standing.Sent
	if x.Rec.Reason != "" && o.Task == "" { // the agent's own error
		o.State, o.Error, o.Why = standing.Failed, x.Rec.Reason, "the agent answered "+errorOf(x)
	} else if !x.Call.Streaming {
		if doc, err := resultOf(x); err == nil {
			sent.Keep(doc)
		}
	}
	o.Answered = true
	h.settle(x)
}

// longestError bounds what is kept of an agent's error message, in bytes.
const longestError = 500

// errorOf is the error that was written for the caller: its reason, and the agent's message where there is one.
func errorOf(x *exchange.Exchange) string {
	if x.Writer.Copy == nil || x.Call.Binding == wire.GRPC { // whose message is in the trailers
		return x.Rec.Reason
	}
	e := failure.ReadError(x.Side(), 0, x.Writer.Copy.Bytes())
	if e.Kind == wire.BadAgentResponse || e.Message == "" {
		return x.Rec.Reason
	}
	return x.Rec.Reason + ": " + strings.ToValidUTF8(e.Message[:min(len(e.Message), longestError)], "")
}

// resultOf is the answer that was written for the caller, as the result of SendMessage of A2A 1.0.
func resultOf(x *exchange.Exchange) ([]byte, error) {
	doc := x.Writer.Copy.Bytes()
	from := x.Side()
	if from.Binding == wire.GRPC {
		message, err := grpcframe.NewReader(bytes.NewReader(doc), len(doc)).Next()
		if err != nil {
			return nil, err
		}
		if doc, err = wire.ResponseJSON(x.Call.Method, x.Call.Version, message); err != nil {
			return nil, err
		}
	}
	as := &wire.Call{Version: plain.Version, Binding: plain.Binding, Method: intake.Method(wire.SendMessage)}
	return (&translate.Retelling{From: from, Call: as, Bytes: x.CallerBytes()}).Answer(nil, doc)
}
