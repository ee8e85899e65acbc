package proxy

import (
	"cmp"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// standing is where an exchange knows a task to be.
type standing struct {
	state string // "" for in none yet
	shown bool   // by an event of this exchange's stream, so that the next follows at once
}

// stand notes where the task of a call is before the agent sees the call. Answers to
// calls at the same time overtake each other, and one that shows what was so when it
// was asked for is in order, though another has shown more by then.
func (in *inspector) stand(x *exchange) error {
	if x.call.TaskID == "" {
		return nil
	}
	for _, uri := range union(x.terms.Send, x.terms.Provided) {
		if in.Book.Machine(uri) == nil {
			continue
		}
		step := state.Step{Agent: x.agent.ID, Task: x.call.TaskID, Extension: uri}
		now, err := in.Steps.Advance(x.ctx, step, "", "")
		if err != nil && in.follows(uri) {
			return err
		}
		setStanding(x, step, standing{state: now})
	}
	return nil
}

// follows reports whether a state that may not follow refuses an answer.
func (er *extensionRules) follows(uri string) bool {
	e, ok := er.book.Entry(uri)
	return ok && (e.Validation == "" || e.Validation == ext.Enforce)
}

func setStanding(x *exchange, step state.Step, s standing) {
	if x.stands == nil {
		x.stands = make(map[state.Step]standing)
	}
	x.stands[step] = s
	x.uses.Stands(step)
}

// follow takes tasks through the states that extensions add to A2A's. Where a task
// stands is shared by all calls on it.
func (in *inspector) follow(x *exchange, w *watch, seen wire.Answer, cs *wire.Carriers) ([]content.Violation, error) {
	var found []content.Violation
	for _, a := range w.terms.Arrivals(cs) {
		if a.Task == "" && len(seen.Tasks) == 1 {
			a.Task = seen.Tasks[0].ID
		}
		a.Enforced = a.Enforced && !x.shadows()
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
func (in *inspector) arrive(x *exchange, a content.Arrival) (wrong string, err error) {
	machine := in.Book.Machine(a.Extension)
	switch {
	case machine == nil:
		return "", nil
	case a.State == "":
		return "the value is no state", nil
	case a.Task == "":
		return machine.Move(a.State, a.State, a.Within), nil
	}
	step := state.Step{Agent: x.agent.ID, Task: a.Task, Extension: a.Extension}
	at, known := x.stands[step]
	if at.shown || !known && x.rec.Streamed && x.call.Method.Subject == wire.OfMessage {
		wrong = machine.Move(at.state, a.State, a.Within)
	} else {
		wrong = machine.Come(at.state, a.State, a.Within)
	}
	if wrong != "" && (a.Enforced || machine.Come("", a.State, "") != "") {
		return wrong, nil
	}
	if x.rec.Streamed { // what goes before a stream may be newer than its events
		setStanding(x, step, standing{state: a.State, shown: true})
	}
	if known && at.state == a.State {
		return wrong, nil
	}
	apart, err := in.advance(x, step, at.state, a)
	return cmp.Or(wrong, apart), err
}

// advance moves a task on for all calls, from where this exchange knew it to be.
// Others may have shown more of it since, and are ahead or behind. What is wrong and
// only recorded happens all the same: the next state follows this one.
func (er *extensionRules) advance(x *exchange, step state.Step, now string, a content.Arrival) (wrong string, err error) {
	machine := er.book.Machine(a.Extension)
	for err == nil && now != a.State {
		was := now
		if now, err = er.steps.Advance(x.ctx, step, was, a.State); now == was || now == a.State {
			break
		}
		ahead := machine.Come(now, a.State, "")
		switch {
		case ahead == "":
		case machine.Come(a.State, now, "") == "":
			return wrong, err
		case a.Enforced:
			return ahead, err
		default:
			wrong = ahead
		}
	}
	return wrong, err
}
