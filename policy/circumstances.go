package policy

import (
	"net/netip"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// circumstances are what the conditions on a call look at: how, whence and when it came, and
// what it brings. Each condition is given a copy, so that the call need not be on the heap,
// and the copy fits into the registers of a function call.
type circumstances struct {
	message *wire.Message // nil for none; unreadable
	now     time.Time     // zero: not known
	source  netip.Addr    // the zero Addr: not known
	binding wire.Binding  // 0: not known
}

// unreadable stands for a message of which nothing can be told.
var unreadable = new(wire.Message)

func (q *Request) circumstances() circumstances {
	c := circumstances{message: q.Message, now: q.Now, source: q.Source, binding: q.Binding}
	if q.unread() {
		c.message = unreadable
	}
	return c
}

// unread reports whether what the call brings cannot be told: its message was not handed
// on, or is an extension's own protobuf.
func (q *Request) unread() bool {
	return q.Message == nil && (q.Method.Subject == wire.OfMessage || q.Method.Extension != "" && q.Binding == wire.GRPC)
}
