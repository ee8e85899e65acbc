package intake

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// ReplaceBody puts another body in the place of the call's, and reads it anew. What the
// call is about was settled before, in the agent's ids, and stays.
func (de *Decoder) ReplaceBody(x *exchange.Exchange, body []byte) error {
	if exchange.Same(body, x.Call.Body) {
		return nil
	}
	c, err := de.RereadBody(x, body)
	if err != nil {
		return err
	}
	x.Call.Body, x.Call.Params, x.Call.Message, x.Call.ID = c.Body, c.Params, c.Message, c.ID
	x.Call.Changed(c)
	return nil
}

var errUnreadable = errors.New("the changed body cannot be read")

// roomToChange is how far a body may grow beyond server.limits.body by what the gateway,
// extensions and hooks put into it: the caller has kept to the limit.
const roomToChange = 64 << 10

// ChangedLimits are the DecodeLimits of a body that may have been changed here.
func (de *Decoder) ChangedLimits() wire.Limits {
	l := de.DecodeLimits()
	l.Body += roomToChange
	return l
}

// RereadBody decodes a body that stands in for the call's.
func (de *Decoder) RereadBody(x *exchange.Exchange, body []byte) (*wire.Call, error) {
	c := &wire.Call{Extra: x.Call.Extra}
	var e *wire.Error
	switch x.Call.Binding {
	case wire.JSONRPC:
		e = c.DecodeJSONRPC(body, x.Call.Version, de.ChangedLimits())
	case wire.HTTPJSON:
		e = c.DecodeHTTP(x.Route, nil, body, "", de.ChangedLimits())
	default:
		message, err := wire.RequestMessage(x.Call.Method, x.Call.Version, body)
		if err != nil {
			return nil, errors.Join(errUnreadable, err)
		}
		e = c.DecodeGRPC(x.Call.Method, x.Call.Version, message, "", de.ChangedLimits())
	}
	if e != nil {
		return nil, errors.Join(errUnreadable, e)
	}
	c.Mixed = x.Call.Mixed
	return c, nil
}
