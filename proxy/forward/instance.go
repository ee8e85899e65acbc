package forward

import (
	"cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// instanceHint says which instance of the agent's an upstream call is best sent to. Pages of a
// list have their caller in common where they have no context: what one instance began, another
// may not know how to go on with.
//
// The instance is that of the task's record, of the list whose tasks are asked for, or of the
// answer that has just named the task, in this order. A task id that a 0.1 client made up is
// nobody's yet.
func instanceHint(x *exchange.Exchange, l *exchange.UpstreamCall) upstream.Hint {
	c := l.Call
	h := upstream.Hint{
		Caller: x.Holder(), Safe: !c.Method.Writes, Task: c.TaskID != "", Body: l,
		Instance: x.Record.Endpoint, Context: cmp.Or(c.ContextID, x.Record.Context),
	}
	switch {
	case c.TaskID == "" || c.TaskID == x.Record.ID:
	case x.Holders[c.TaskID] != "":
		h.Instance = x.Holders[c.TaskID]
	case x.Rec.Instance != "":
		h.Instance = x.Rec.Instance // an answer to this call has just named the task
	default:
		h.Task = false // a name for one that is new
	}
	if c.Method.Subject == wire.OfCaller && h.Context == "" {
		h.Context = x.Principal.Subject
	}
	return h
}
