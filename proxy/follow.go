package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// follow takes tasks through the states that extensions add to A2A's. Where a task
// stands is shared by all calls on it.
func (p *Proxy) follow(x *exchange, w *watch, seen wire.Answer, cs *wire.Carriers) ([]content.Violation, error) {
	var found []content.Violation
	for _, a := range w.terms.Arrivals(cs) {
		if a.Task == "" && len(seen.Tasks) == 1 {
			a.Task = seen.Tasks[0].ID
		}
		wrong, err := p.arrive(x, a)
		if err != nil {
			return nil, err
		}
		if wrong != "" {
			found = append(found, content.Violation{
				Extension: a.Extension, Fault: content.Transition, Pointer: a.Pointer, Text: wrong,
				Enforced: a.Enforced && !x.shadows(),
			})
		}
	}
	return found, nil
}

// arrive moves a task on, or says why it may not go where the agent says it is.
func (p *Proxy) arrive(x *exchange, a content.Arrival) (wrong string, err error) {
	machine := p.Book.Machine(a.Extension)
	switch {
	case machine == nil:
		return "", nil
	case a.State == "":
		return "the value is no state", nil
	case a.Task == "":
		return machine.Move(a.State, a.State, a.Within), nil
	}
	step := state.Step{Agent: x.agent.ID, Task: a.Task, Extension: a.Extension}
	now, err := p.Steps.Advance(x.ctx, step, "", "")
	for err == nil && now != a.State {
		from := now
		if from != "" && x.call.Method.Subject != wire.OfMessage && !x.call.Streaming {
			// A look at the task now and then does not show every state it was in.
			from = a.State
		}
		if wrong := machine.Move(from, a.State, a.Within); wrong != "" {
			return wrong, nil
		}
		was := now
		if now, err = p.Steps.Advance(x.ctx, step, was, a.State); now == was {
			break
		}
	}
	if err != nil {
		return "", err
	}
	return machine.Move(a.State, a.State, a.Within), nil
}
