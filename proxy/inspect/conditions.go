package inspect

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/message"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// GatherConditions gathers what rules may ask about a call beside who makes it: the extensions it
// asks for, the task it names, and, where some rule looks into them, what it brings.
//
// The task is known from the ledger by now, so that a rule can ask for its owner. The message is
// read for the agents alone of which a rule, or a match of skills, looks into it: reading costs a
// second walk through the body.
func (in *Inspector) GatherConditions(x *exchange.Exchange) error {
	asked, names, err := ext.Requested(x.Request.Header, ext.Limits{})
	if err != nil {
		return wire.Errorf(wire.InvalidRequest, "%s", err).Because(err)
	}
	x.Asked, x.Names = asked, names
	if r := &x.Record; r.ID != "" {
		x.Known = intake.Recorded(r)
		if r.Owner != x.Principal.Key() {
			x.Rec.Sharing = in.Policy.Shares(x.Principal, x.Agent.ID, x.Call.Method, x.Known)
		}
	}
	if in.Policy.Reads(x.Agent.ID) || x.Agent.Match.Reads() || in.Guards.Reads(x.Agent.ID) {
		_, err = in.MessageOf(x)
	}
	return err
}

// MessageOf reads what the call brings, at most once; nil for calls without a message.
// Those who judge contents ask for it, so that calls which nobody judges cost nothing.
// It is the caller's: extensions' defaults and hooks come later.
//
// The error is remembered too, and is a *wire.Error of a message that can be read in two ways,
// such as a part with two kinds.
func (in *Inspector) MessageOf(x *exchange.Exchange) (*wire.Message, error) {
	if b := &x.CallMessage; !b.Read {
		b.Read = true
		x.Mend()
		m, e := message.Read(&x.Call)
		if b.Message = m; e != nil {
			b.Err = e
		}
	}
	return x.CallMessage.Message, x.CallMessage.Err
}
