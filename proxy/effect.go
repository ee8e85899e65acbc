package proxy

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// effectUnknown is what a record says of a call of which that is so.
const effectUnknown = "unknown"

// ready: can what the agent makes of the call be recorded? A call with an effect is not sent
// while its answer would have to be withheld.
func (ow *owners) ready(x *exchange) error {
	if !x.call.Method.Writes {
		return nil
	}
	return ow.ledger.Ready(x.ctx, x.principal, x.agent.ID, newNames(x))
}

// newNames is how many ids the agent's answer is about to show that nobody has: those of a new
// task and its context, and the names that a client of 0.1 has for them.
func newNames(x *exchange) int {
	if x.call.Method.Subject != wire.OfMessage || x.record.Kind == state.Task {
		return 0
	}
	n := 1
	if x.call.ContextID == "" { // else it has been reserved
		n++
	}
	if x.task.Caller != "" && x.task.Agent == "" {
		n++
	}
	if x.session.Caller != "" && x.session.Agent == "" {
		n += 2 // either way
	}
	return n
}

// reached reports whether any of the call may have come to the agent, err being what became
// of it.
func (x *recording) reached(err error) bool {
	return x.rec.UpstreamStatus != 0 || x.rec.Tries > 0 && !upstream.NotSent(err)
}

// uncertain reports whether the call may have had an effect of which its caller has seen
// nothing: neither an answer of the agent's, nor an event of the task.
func (x *exchange) uncertain(err error) bool {
	return x.call.Method != nil && x.call.Method.Writes && x.reached(err) && x.rec.Events == 0 && !errors.Is(err, errAgentSaid)
}

// unrepeatable is a refusal as the caller of a call that has reached the agent may see it: it
// does not invite to make the call again, which would have its effect twice. To subscribe
// again to a task that was shown has none.
func unrepeatable(x *exchange, err error, e *wire.Error) *wire.Error {
	if e.Kind != wire.Unavailable && e.Header["Retry-After"] == nil {
		return e
	}
	unrecorded := errors.Is(err, state.ErrUnavailable) || errors.Is(err, state.ErrFull)
	if shown := x.call.Method != nil && x.call.Method.Writes && x.rec.Events > 0; !x.uncertain(err) && (!shown || !unrecorded) {
		return e
	}
	return wire.Errorf(wire.OutcomeUnknown, "the call has reached the agent, and what became of it is not known: %s", e.Text()).Because(err)
}
