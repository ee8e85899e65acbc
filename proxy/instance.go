package proxy

import (
	"cmp"
	"io"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// Reader implements upstream.Body.
func (l *upstreamCall) Reader() io.ReadCloser { return l.holder.Reader(l.body) }

// instanceHint says which instance of the agent's an upstream call is best sent to. Pages of a list have
// their caller in common where they have no context: what one instance began, another
// may not know how to go on with.
func instanceHint(x *exchange, l *upstreamCall) upstream.Hint {
	c := l.call
	h := upstream.Hint{
		Caller: x.holder(), Safe: !c.Method.Writes, Task: c.TaskID != "", Body: l,
		Instance: x.record.Endpoint, Context: cmp.Or(c.ContextID, x.record.Context),
	}
	switch {
	case c.TaskID == "" || c.TaskID == x.record.ID:
	case x.holders[c.TaskID] != "":
		h.Instance = x.holders[c.TaskID]
	case x.rec.Instance != "":
		h.Instance = x.rec.Instance // an answer to this call has just named the task
	default:
		h.Task = false // a name for one that is new
	}
	if c.Method.Subject == wire.OfCaller && h.Context == "" {
		h.Context = x.principal.Subject
	}
	return h
}

// holders are the instances that tasks were first seen at.
func holders(records []state.Record) map[string]string {
	m := make(map[string]string, len(records))
	for _, r := range records {
		m[r.ID] = r.Endpoint
	}
	return m
}

// stray keeps from the caller that there is no such task, where that is the word of an
// instance that was asked in the place of the one that has it.
func (x *forwarding) stray(reason string) error {
	if !x.upstream.served.Elsewhere || reason != wire.TaskNotFound.Reason {
		return nil
	}
	return retryLater("5", "the agent is not reachable at the moment")
}
