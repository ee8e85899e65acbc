package ownership

import (
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// The task that waits for approval is the gateway's own, and no ledger has it. Once the call was sent, the
// agent has a task for it, and the caller goes on with the name that it has: as a client of 0.1 does, who
// chose one.

// nameApproved puts the agent's task in the place of one that has waited for approval. Of one that still
// waits, or has come to nothing, it says whose it is, and waits is true: no ledger knows it, and
// proxy/approve answers for it.
func (ow *Owners) nameApproved(x *exchange.Exchange) (waits bool, err error) {
	if sent := x.Site.Approved; sent != nil {
		return false, ow.nameSent(x, sent)
	}
	if !approvals.IsID(x.Call.TaskID) || ow.Approvals == nil {
		return false, nil
	}
	st, err := ow.Approvals.Look(x.Ctx, x.Call.TaskID)
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: %w", state.ErrUnavailable, err)
	case st == nil || st.Agent != x.Agent.ID || st.Caller.Circle != ow.Ledger.Circle(x.Principal):
		return false, ledger.ErrAbsent
	case st.Outcome.Task != "":
		if x.Task.Caller == "" {
			x.Task.Caller = x.Call.TaskID
		}
		x.Task.Agent, x.Call.TaskID = st.Outcome.Task, st.Outcome.Task
		return false, nil
	}
	x.Record = state.Record{
		Kind: state.Task, Agent: st.Agent, ID: st.ID, Context: st.Context, Owner: st.Caller.Owner, Tenant: st.Caller.Tenant,
		Skill: st.Skill, Version: st.Version, Created: st.Created,
	}
	x.Rec.Agent, x.Rec.TaskID = x.Agent.ID, st.ID
	return true, ow.NameTask(x)
}

// nameSent gives the call that has waited the names that its caller was given meanwhile: a new task has
// none toward the agent yet, and is in the context that the caller was shown.
func (ow *Owners) nameSent(x *exchange.Exchange, sent *approvals.Dispatch) error {
	switch {
	case x.Call.TaskID == sent.ID: // by which a client of 0.1 calls it
		x.Call.TaskID, x.Task.Agent = "", ""
	case approvals.IsID(x.Call.TaskID): // it goes on with a task that has waited, too
		st, err := ow.Approvals.Look(x.Ctx, x.Call.TaskID)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", state.ErrUnavailable, err)
		case st == nil || st.Outcome.Task == "":
			return ledger.ErrAbsent
		}
		x.Task = translate.Alias{Agent: st.Outcome.Task, Caller: x.Call.TaskID}
		x.Call.TaskID = st.Outcome.Task
	}
	if x.Task.Caller == "" {
		x.Task = translate.Alias{Agent: x.Call.TaskID, Caller: sent.ID}
	}
	if x.Call.TaskID == "" && x.Call.ContextID == "" {
		x.Call.ContextID = sent.Context
	}
	return nil
}

// learnApproved notes which task the agent has shown for a call that has waited for approval.
func (ow *Owners) learnApproved(x *exchange.Exchange, seen wire.Answer) error {
	sent := x.Site.Approved
	if sent == nil || sent.Result.Task != "" || len(seen.Tasks) != 1 || seen.Tasks[0].ID == "" {
		return nil
	}
	sent.Result.State, sent.Result.Task, sent.Result.Context = standing.Sent, seen.Tasks[0].ID, seen.Tasks[0].ContextID
	return ow.Approvals.Settle(x.Ctx, &sent.Call, sent.Result)
}

// ReserveContext makes the context of a call that waits for approval the caller's.
func (ow *Owners) ReserveContext(x *exchange.Exchange, context string) error {
	return ow.Ledger.ReserveTask(x.Ctx, x.Principal, originOf(x), "", context)
}
