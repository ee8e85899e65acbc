package ownership

import (
	"cmp"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// StateOf notes the state that the agent shows a task to be in. What a read shows has
// been so for a while, and is not counted.
func (ow *Owners) StateOf(x *exchange.Exchange, state string) {
	if state == "" || state == x.Rec.TaskState {
		return
	}
	if x.Rec.TaskState = state; x.Call.Method == nil || x.Call.Method.Writes || x.Call.Streaming {
		ow.Telemetry.Metrics.Calls.TaskState(x.Agent.ID, state)
	}
}

// FilterList leaves of a list what is the caller's to read.
//
// It is for lists of agents that are passed on as they are, such as those of an extension's
// method; pages of ListTasks are put together in proxy/tasklist.
func (ow *Owners) FilterList(x *exchange.Exchange, seen wire.Answer, body []byte) ([]byte, wire.Answer, error) {
	owned, err := ow.Ledger.Owns(x.Ctx, x.Principal, x.Agent.ID, x.Call.Method, seen.Tasks, ow.Readable(x))
	if err != nil {
		return nil, seen, err
	}
	body, err = wire.FilterTasks(x.Upstream.Binding, x.Upstream.Version, body, seen, func(wire.TaskRef) bool {
		mine := owned[0]
		owned = owned[1:]
		return mine
	})
	if err == nil {
		seen, err = ow.Judge(x.Upstream, body) // what is left of it
	}
	return body, seen, err
}

// LearnIDs records the ids an answer shows as the caller's, unless they already are.
//
// Events of a stream that name what the event before named are passed over without a look at the
// ledger, which is all but the first.
func (ow *Owners) LearnIDs(x *exchange.Exchange, seen wire.Answer) error {
	if len(seen.Tasks) == 0 && seen.ContextID == "" {
		return nil
	}
	var shown wire.TaskRef // all that the answer names, if that is one task in its context
	switch {
	case len(seen.Tasks) == 0:
		x.Rec.ContextID = seen.ContextID
	case len(seen.Tasks) == 1 && seen.ContextID == seen.Tasks[0].ContextID:
		shown = wire.TaskRef{ID: seen.Tasks[0].ID, ContextID: seen.ContextID}
		if shown == x.Learned {
			return nil // nothing but what the stream's previous event named
		}
		fallthrough
	default:
		x.Rec.TaskID, x.Rec.ContextID = seen.Tasks[0].ID, seen.Tasks[0].ContextID
	}
	first, err := ow.ClaimIDs(x, x.Rec.Instance, seen)
	if err == nil {
		ow.Telemetry.JoinTask(&x.Rec, first.Trace)
		err = ow.bindAliases(x, seen)
	}
	if err == nil {
		err = ow.BindWebhook(x, seen)
	}
	if err == nil {
		x.Learned = shown
		x.Uses.Answered(x.Aliases(), seen)
	}
	return err
}

// ClaimIDs makes what an answer of an instance's shows the caller's. An agent that shows
// somebody else's has mixed its callers up, and is not helped.
//
// The record's Denied is then "answer". Reserved spares a second write of a context that was
// reserved for the caller within the last second.
func (ow *Owners) ClaimIDs(x *exchange.Exchange, instance string, seen wire.Answer) (first state.Record, err error) {
	from := originOf(x)
	from.Endpoint = cmp.Or(instance, x.Endpoint.Address)
	if time.Since(x.Rec.Start) < time.Second {
		from.Reserved = x.Reserved
	}
	first, err = ow.Ledger.Learn(x.Ctx, x.Principal, from, seen)
	if errors.Is(err, ledger.ErrAbsent) {
		x.Rec.Denied = "answer"
		return first, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	return first, err
}

// originOf is the call, as records of what comes from it keep it.
func originOf(x *exchange.Exchange) ledger.Origin {
	o := ledger.Origin{
		Agent: x.Agent.ID, Skill: x.Skill, Version: x.Spoken(), Extensions: x.Shown,
		Method: x.Call.Method, Task: x.Call.TaskID, Trace: x.Rec.Anchor(),
	}
	if x.Foreign != nil {
		o.Alias, o.Called = x.Foreign.Agents, x.Foreign.ID
	}
	return o
}
