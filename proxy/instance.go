package proxy

import (
	"cmp"
	"io"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// Reader implements upstream.Body.
func (l *leg) Reader() io.ReadCloser { return l.holder.reader(l.body) }

// hint says which instance of the agent's a leg is best sent to. A list without a
// context has its caller in common with the pages before it.
func (x *exchange) hint(l *leg) upstream.Hint {
	c := l.call
	h := upstream.Hint{
		Safe: !c.Method.Writes, Task: c.TaskID != "", Body: l,
		Instance: cmp.Or(l.instance, x.record.Endpoint), Context: cmp.Or(c.ContextID, x.record.Context),
	}
	if h.Task && h.Instance == "" {
		h.Instance = x.rec.Instance // the call's answer has just named the task
	}
	if c.Method.Subject == wire.OfCaller && h.Context == "" {
		h.Context = x.principal.Subject
	}
	return h
}
