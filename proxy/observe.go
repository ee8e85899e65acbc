package proxy

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
)

// observe learns from an answer or event what later calls depend on, before the
// caller sees it, and returns the bytes to pass on.
func (in *inspector) observe(x *exchange, seen wire.Answer, body []byte) ([]byte, error) {
	body, err := x.matchID(seen, body)
	if err != nil {
		return nil, err
	}
	in.stateOf(x, seen.State)
	if isError(seen) {
		reason := seen.ReasonOf(x.upstream.Version, x.rec.UpstreamStatus)
		if err := x.stray(reason); err != nil {
			return nil, err
		}
		x.rec.Reason, x.rec.Decision = reason, "error"
		return x.restoreContext(body), nil
	}
	switch {
	case seen.Kind == "list": // of ListTasks or an extension's method
		var err error
		if !x.filtered {
			in.witnessList(x, x.sent, seen.Tasks)
			body, seen, err = in.filter(x, seen, body)
		}
		if err == nil {
			err = in.demands(x, seen, body)
		}
		if err == nil {
			body, err = in.govern(x, seen, body)
		}
		if err != nil {
			return nil, err
		}
		return in.restore(x, &seen, body)
	case x.call.Method.Name == wire.GetExtendedAgentCard:
		return in.extendedCard(x, seen, body)
	}
	if err := in.learn(x, seen); err != nil {
		return nil, err
	}
	if !x.fed { // else the judge has
		if err := in.witness(x, x.upstream, seen, body); err != nil {
			return nil, err
		}
	}
	x.tally(seen)
	if body, err = in.govern(x, seen, body); err != nil {
		return nil, err
	}
	return in.restore(x, &seen, body)
}

// stateOf notes the state that the agent shows a task to be in. What a read shows has
// been so for a while, and is not counted.
func (ow *owners) stateOf(x *exchange, state string) {
	if state == "" || state == x.rec.TaskState {
		return
	}
	if x.rec.TaskState = state; x.call.Method == nil || x.call.Method.Writes || x.call.Streaming {
		ow.Telemetry.Metrics.TaskState(x.agent.ID, state)
	}
}

// filter leaves of a list what is the caller's to read.
func (ow *owners) filter(x *exchange, seen wire.Answer, body []byte) ([]byte, wire.Answer, error) {
	owned, err := ow.ledger.Owns(x.ctx, x.principal, x.agent.ID, x.call.Method, seen.Tasks, ow.readable(x))
	if err != nil {
		return nil, seen, err
	}
	body, err = wire.FilterTasks(x.upstream.Binding, x.upstream.Version, body, seen, func(wire.TaskRef) bool {
		mine := owned[0]
		owned = owned[1:]
		return mine
	})
	if err == nil {
		seen, err = ow.judge(x.upstream, body) // what is left of it
	}
	return body, seen, err
}

// learn records the ids an answer shows as the caller's, unless they already are.
func (ow *owners) learn(x *exchange, seen wire.Answer) error {
	if len(seen.Tasks) == 0 && seen.ContextID == "" {
		return nil
	}
	var shown wire.TaskRef // all that the answer names, if that is one task in its context
	switch {
	case len(seen.Tasks) == 0:
		x.rec.ContextID = seen.ContextID
	case len(seen.Tasks) == 1 && seen.ContextID == seen.Tasks[0].ContextID:
		shown = wire.TaskRef{ID: seen.Tasks[0].ID, ContextID: seen.ContextID}
		if shown == x.learned {
			return nil // nothing but what the stream's previous event named
		}
		fallthrough
	default:
		x.rec.TaskID, x.rec.ContextID = seen.Tasks[0].ID, seen.Tasks[0].ContextID
	}
	first, err := ow.claim(x, x.rec.Instance, seen)
	if err == nil {
		ow.Telemetry.JoinTask(&x.rec, first.Trace)
		err = ow.alias(x, seen)
	}
	if err == nil {
		err = ow.bindWebhook(x, seen)
	}
	if err == nil {
		x.learned = shown
		x.uses.Answered(x.aliases(), seen)
	}
	return err
}

// claim makes what an answer of an instance's shows the caller's. An agent that shows
// somebody else's has mixed its callers up, and is not helped.
func (ow *owners) claim(x *exchange, instance string, seen wire.Answer) (first state.Record, err error) {
	from := originOf(x)
	from.Endpoint = cmp.Or(instance, x.endpoint.Address)
	if time.Since(x.rec.Start) < time.Second {
		from.Reserved = x.reserved
	}
	first, err = ow.ledger.Learn(x.ctx, x.principal, from, seen)
	if errors.Is(err, ledger.ErrAbsent) {
		x.rec.Denied = "answer"
		return first, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	return first, err
}

// originOf is the call, as records of what comes from it keep it.
func originOf(x *exchange) ledger.Origin {
	o := ledger.Origin{
		Agent: x.agent.ID, Skill: x.skill, Version: x.spoken(), Extensions: x.shown,
		Method: x.call.Method, Task: x.call.TaskID, Trace: x.rec.Anchor(),
	}
	if x.foreign != nil {
		o.Alias, o.Called = x.foreign.agents, x.foreign.id
	}
	return o
}

// spoken is what the caller speaks, as records of tasks have it.
func (x *parsedCall) spoken() string {
	if x.call.Mixed {
		return mixedVersion
	}
	return string(x.call.Version)
}

// matchID makes sure that a JSON-RPC answer is the answer to this call. An agent
// that read a large number into a float gets it wrong without meaning to: the
// caller's own bytes are put back then.
func (x *exchange) matchID(seen wire.Answer, body []byte) ([]byte, error) {
	if x.upstream.Binding != wire.JSONRPC || bytes.Equal(seen.ID, x.upstream.call.ID) {
		return body, nil
	}
	failed := seen.Error != 0 && (len(seen.ID) == 0 || string(seen.ID) == "null")
	if !failed && !x.fed && !seen.Answers(x.upstream.call.ID) {
		return nil, wire.Errorf(wire.BadAgentResponse, "the answer's id is not the call's")
	}
	if len(seen.ID) == 0 && failed {
		return body, nil // an error without an id member says nothing false
	}
	if len(seen.ID) == 0 { // that of the call it was for is null; a client may want to see its own
		at := bytes.IndexByte(body, '{') + 1
		return splice(body, at, at, slices.Concat([]byte(`"id":`), x.upstream.call.ID, []byte(","))), nil
	}
	return splice(body, seen.IDAt, seen.IDAt+len(seen.ID), x.upstream.call.ID), nil
}

// splice returns body with body[from:to] replaced. body itself is not changed.
func splice(body []byte, from, to int, with []byte) []byte {
	out := make([]byte, 0, len(body)-(to-from)+len(with))
	out = append(out, body[:from]...)
	out = append(out, with...)
	return append(out, body[to:]...)
}

// answerMembers bounds objects and arrays of agents' answers. It is far above
// what callers may send: a data part with the rows of a table is one array, and
// the answer's size is bounded anyway.
const answerMembers = 1 << 20

func (de *decoder) answerLimits() wire.Limits {
	l := de.decodeLimits()
	l.Body, l.Members = int64(de.Server.Limits.Answer), answerMembers
	return l
}
