package inspect

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// CheckExtensionMethod ends a call of an extension's method on an agent where no call of this caller's
// could activate the extension. Whether this one does is for negotiate to say; but until
// then ownership and rules would have been asked, and their answers told the methods
// that exist from those that do not.
//
// A method of A2A itself is none of its business. It asks the rules for every skill of the agent,
// since the skill of this call is not known yet.
func (in *Inspector) CheckExtensionMethod(x *exchange.Exchange) error {
	uri := x.Call.Method.Extension
	if uri == "" {
		return nil
	}
	if x.View = x.Agent.Look(); x.View == nil {
		return x.Agent.NotReady()
	}
	for _, rules := range in.Policy.Extensions(x.Principal, x.Agent.ID, x.View.Skills) {
		q := in.Question(x, rules)
		if slices.ContainsFunc(in.Book.Effective(&q), func(d ext.Declared) bool { return d.URI == uri }) {
			return nil
		}
	}
	return in.unknownMethod(x)
}

// RefuseMisread is the refusal of a call that could not be read. That its params are not as
// they should be is nothing for a caller to hear who may not call the method.
//
// A caller who is not allowed the extension gets the refusal of a method that does not exist,
// whatever is wrong with the params.
func (in *Inspector) RefuseMisread(x *exchange.Exchange, e *wire.Error) error {
	switch {
	case x.Call.Method == nil || x.Call.Method.Extension == "":
		return in.ToolsElsewhere(x, e)
	case in.MeetAgent(x) != nil:
		return in.unknownMethod(x)
	}
	if err := in.CheckExtensionMethod(x); err != nil {
		return err
	}
	return e
}

// unknownMethod reads the call again as if extensions had no methods, so that the
// refusal is the one for a name, path or RPC that nobody has, to the byte. The record
// keeps the name.
//
// The call is reset to what was known before decoding, but for the header Accept, by which the
// error is written.
func (in *Inspector) unknownMethod(x *exchange.Exchange) error {
	x.Describe()
	x.Call = wire.Call{Binding: x.Call.Binding, Accept: x.Call.Accept, Extra: in.Hidden}
	var err error
	switch x.Call.Binding {
	case wire.JSONRPC:
	case wire.HTTPJSON:
		err = in.SettleBinding(x)
	default:
		err = in.FindRPC(x)
	}
	if err != nil {
		return err
	}
	if e := in.ReadCall(x); e != nil {
		return e
	}
	return wire.Errorf(wire.MethodNotFound, "no such method")
}
