package inspect

import (
	"cmp"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// noteStanding notes where the task of a call is before the agent sees the call. Answers to
// calls at the same time overtake each other, and one that shows what was so when it
// was asked for is in order, though another has shown more by then.
//
// It only asks, which is Advance with no state to go to. An error of the store refuses the call
// where the extension's states are enforced, and is passed over where they are only recorded.
func (in *Inspector) noteStanding(x *exchange.Exchange) error {
	if x.Call.TaskID == "" {
		return nil
	}
	for _, uri := range ext.Union(x.Terms.Send, x.Terms.Provided) {
		if in.Book.Machine(uri) == nil {
			continue
		}
		step := state.Step{Agent: x.Agent.ID, Task: x.Call.TaskID, Extension: uri}
		now, err := in.Steps.Advance(x.Ctx, step, "", "")
		if err != nil && in.Follows(uri) {
			return err
		}
		setStanding(x, step, exchange.Standing{State: now})
	}
	return nil
}

// setStanding remembers it for the exchange, and has the store keep it alive for as long as a
// stream is open.
func setStanding(x *exchange.Exchange, step state.Step, s exchange.Standing) {
	if x.Stands == nil {
		x.Stands = make(map[state.Step]exchange.Standing)
	}
	x.Stands[step] = s
	x.Uses.Stands(step)
}

// followStates takes tasks through the states that extensions add to A2A's. Where a task
// stands is shared by all calls on it.
//
// It returns the violations, for Judge to settle.
func (in *Inspector) followStates(x *exchange.Exchange, w *exchange.Watch, seen wire.Answer, cs *wire.Carriers) ([]content.Violation, error) {
	var found []content.Violation
	for _, a := range w.Terms.Arrivals(cs) {
		if a.Task == "" && len(seen.Tasks) == 1 {
			a.Task = seen.Tasks[0].ID
		}
		a.Enforced = a.Enforced && !x.Shadows()
		wrong, err := in.arrive(x, a)
		if err != nil && a.Enforced {
			return nil, err
		}
		if wrong != "" {
			found = append(found, content.Violation{
				Extension: a.Extension, Fault: content.Transition, Pointer: a.Pointer, Text: wrong, Enforced: a.Enforced,
			})
		}
	}
	return found, nil
}

// arrive moves a task on, or says why it may not be where the agent says it is. The
// events of a stream show every step; other answers only where a task has come to.
//
// Move asks whether one step leads there, Come whether any number of steps does. A stream that
// began with the message shows every step, so that it is held to the stricter of the two; a task
// that is fetched may have gone through several since it was last seen.
func (in *Inspector) arrive(x *exchange.Exchange, a content.Arrival) (wrong string, err error) {
	machine := in.Book.Machine(a.Extension)
	switch {
	case machine == nil:
		return "", nil
	case a.State == "":
		return "the value is no state", nil
	case a.Task == "":
		return machine.Move(a.State, a.State, a.Within), nil
	}
	step := state.Step{Agent: x.Agent.ID, Task: a.Task, Extension: a.Extension}
	at, known := x.Stands[step]
	if at.Shown || !known && x.Rec.Streamed && x.Call.Method.Subject == wire.OfMessage {
		wrong = machine.Move(at.State, a.State, a.Within)
	} else {
		wrong = machine.Come(at.State, a.State, a.Within)
	}
	if wrong != "" && (a.Enforced || machine.Come("", a.State, "") != "") {
		return wrong, nil
	}
	if x.Rec.Streamed { // what goes before a stream may be newer than its events
		setStanding(x, step, exchange.Standing{State: a.State, Shown: true})
	}
	if known && at.State == a.State {
		return wrong, nil
	}
	apart, err := in.Advance(x, step, at.State, a)
	return cmp.Or(wrong, apart), err
}
