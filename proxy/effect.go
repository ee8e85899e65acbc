package proxy

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// effectUnknown is what a record says of a call of which that is so.
const effectUnknown = "unknown"

// ready: can what the agent makes of the call be recorded? A call with an effect is not sent
// while its answer would have to be withheld.
func (ow *owners) ready(x *exchange.Exchange) error {
	if !x.Call.Method.Writes {
		return nil
	}
	return ow.ledger.Ready(x.Ctx, x.Principal, x.Agent.ID, newNames(x))
}

// newNames is how many ids the agent's answer is about to show that nobody has: those of a new
// task and its context, and the names that a client of 0.1 has for them.
func newNames(x *exchange.Exchange) int {
	if x.Call.Method.Subject != wire.OfMessage || x.Record.Kind == state.Task {
		return 0
	}
	n := 1
	if x.Call.ContextID == "" { // else it has been reserved
		n++
	}
	if x.Task.Caller != "" && x.Task.Agent == "" {
		n++
	}
	if x.Session.Caller != "" && x.Session.Agent == "" {
		n += 2 // either way
	}
	return n
}

// unrepeatable is a refusal as the caller of a call that has reached the agent may see it: it
// does not invite to make the call again, which would have its effect twice. To subscribe
// again to a task that was shown has none.
func unrepeatable(x *exchange.Exchange, err error, e *wire.Error) *wire.Error {
	if e.Kind != wire.Unavailable && e.Header["Retry-After"] == nil {
		return e
	}
	unrecorded := errors.Is(err, state.ErrUnavailable) || errors.Is(err, state.ErrFull)
	if shown := x.Call.Method != nil && x.Call.Method.Writes && x.Rec.Events > 0; !x.Uncertain(err) && (!shown || !unrecorded) {
		return e
	}
	return wire.Errorf(wire.OutcomeUnknown, "the call has reached the agent, and what became of it is not known: %s", e.Text()).Because(err)
}
