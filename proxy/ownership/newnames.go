package ownership

import (
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// CheckRecordable: can what the agent makes of the call be recorded? A call with an effect is not sent
// while its answer would have to be withheld.
//
// Its error is state.ErrFull or state.ErrUnavailable, which become 503: nothing has happened yet,
// and the call may be made again.
func (ow *Owners) CheckRecordable(x *exchange.Exchange) error {
	if !x.Call.Method.Writes {
		return nil
	}
	return ow.Ledger.Ready(x.Ctx, x.Principal, x.Agent.ID, newNames(x))
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
