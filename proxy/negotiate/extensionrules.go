// Package negotiate settles which extensions are active for a call, and holds documents to what
// extensions ask: hooks, methods' authorization, bounds, and the states that tasks stand in.
//
// It is used by the stage Negotiate of package inspect, which refuses a call that lacks a
// required extension (EXTENSION_SUPPORT_REQUIRED, A2A 1.0 §3.3.4), and by whatever judges documents
// later. What was negotiated stands in the exchange as Terms.
package negotiate

import (
	"context"
	"maps"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Answered marks a task that the gateway has answered.
func Answered(x *exchange.Exchange, d *authdemand.Demand) state.Step {
	return state.Step{Agent: x.Agent.ID, Task: d.Task, Extension: TaskAuthorization}
}

// TakeBack forgets that the gateway has answered a task, where it is certain that the agent has not
// got the answer. What stays
// behind when it fails only keeps the gateway silent.
func (er *ExtensionRules) TakeBack(x *exchange.Exchange, d *authdemand.Demand, err error) {
	x.Rec.Authorized, x.Rec.Credentials, x.Rec.Cause = false, x.Agent.Upstream.Shown(), err.Error()
	_, _ = er.Steps.Advance(context.WithoutCancel(x.Ctx), Answered(x, d), x.Rec.RequestID, "")
}

// TaskAuthorization is the metadata key under which the message of a task that waits for
// authorization says where it can be had: {"resource_metadata": URL} (RFC 9728).
const TaskAuthorization = "https://a2a-gateway.dev/extensions/task-authorization/v1"

// AuthorizeMethod finds the skill that an extension's method needs. On a task that was
// made for another skill the caller needs both: the method's is asked for here, the
// task's is the call's then.
func (er *ExtensionRules) AuthorizeMethod(x *exchange.Exchange) (skill string, err error) {
	skill = er.Book.Skill(x.Call.Method)
	if skill == "" || x.Record.Skill == "" || skill == x.Record.Skill {
		return skill, nil
	}
	q := x.PolicyRequest()
	q.Skill = skill
	_, err = er.Policy.Check(q)
	return "", err
}

// ExtensionRules applies the registry of extensions to calls: hooks, injected values, and the
// states that tasks are in.
type ExtensionRules struct {
	Book    *ext.Book
	Steps   state.Steps
	Offered map[string]ext.Declared
	Policy  *policy.Set
}

// Follows reports whether a state that may not follow refuses an answer.
func (er *ExtensionRules) Follows(uri string) bool {
	e, ok := er.Book.Entry(uri)
	return ok && (e.Validation == "" || e.Validation == ext.Enforce)
}

// Advance moves a task on for all calls, from where this exchange knew it to be.
// Others may have shown more of it since, and are ahead or behind. What is wrong and
// only recorded happens all the same: the next state follows this one.
func (er *ExtensionRules) Advance(x *exchange.Exchange, step state.Step, now string, a content.Arrival) (wrong string, err error) {
	machine := er.Book.Machine(a.Extension)
	for err == nil && now != a.State {
		was := now
		if now, err = er.Steps.Advance(x.Ctx, step, was, a.State); now == was || now == a.State {
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

// Bounds are what holds for a document of the call in which these extensions may be.
func (er *ExtensionRules) Bounds(x *exchange.Exchange, visible ext.Set) content.Terms {
	return content.Terms{
		Book: er.Book, Declared: x.View.Known, Active: ext.Union(x.Terms.Send, x.Terms.Provided), Visible: visible,
	}
}

// Inject adds the defaults of injected extensions to a message.
//
// A value that stands under such a key is replaced, as the client does not know the extension.
func (er *ExtensionRules) Inject(x *exchange.Exchange, cs *wire.Carriers, message int) {
	for _, uri := range x.Terms.Injected {
		cs.Add(message, uri)
		entry, ok := er.Book.Entry(uri)
		if !ok {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(entry.Defaults)) {
			cs.Set(message, key, entry.Defaults[key])
		}
	}
}
