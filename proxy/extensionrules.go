package proxy

import (
	"net/http"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// noExtension is the choice of callers who ask for no extension.
//
// An extension's method is there for callers who ask for the extension in the header
// of this call, on agents that offer it to them. For everybody else it must look like a
// name that nobody has: a method that is refused in other words, or only after its
// params were looked at, could be found out, and one that is refused later than others
// could be called.
func noExtension(string) bool { return false }

// methods are those of the extensions that a request asks for; the others are hidden
// before anything of the call is read.
func (de *decoder) methods(h http.Header) *wire.Extra {
	all := de.extra.Methods()
	if len(all) == 0 {
		return de.extra
	}
	asked, _, err := ext.Requested(h, ext.Limits{})
	if err != nil || !slices.ContainsFunc(all, func(m *wire.Method) bool { return asked.Has(m.Extension) }) {
		return de.hidden // what is wrong with the header, negotiate says
	}
	return de.extra.Asked(asked.Has)
}

// checkExtensionMethod ends a call of an extension's method on an agent where no call of this caller's
// could activate the extension. Whether this one does is for negotiate to say; but until
// then ownership and rules would have been asked, and their answers told the methods
// that exist from those that do not.
func (in *inspector) checkExtensionMethod(x *exchange.Exchange) error {
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

// misread is the refusal of a call that could not be read. That its params are not as
// they should be is nothing for a caller to hear who may not call the method.
func (in *inspector) misread(x *exchange.Exchange, e *wire.Error) error {
	switch {
	case x.Call.Method == nil || x.Call.Method.Extension == "":
		return e
	case in.meet(x) != nil:
		return in.unknownMethod(x)
	}
	if err := in.checkExtensionMethod(x); err != nil {
		return err
	}
	return e
}

// unknownMethod reads the call again as if extensions had no methods, so that the
// refusal is the one for a name, path or RPC that nobody has, to the byte. The record
// keeps the name.
func (in *inspector) unknownMethod(x *exchange.Exchange) error {
	x.Describe()
	x.Call = wire.Call{Binding: x.Call.Binding, Accept: x.Call.Accept, Extra: in.hidden}
	var err error
	switch x.Call.Binding {
	case wire.JSONRPC:
	case wire.HTTPJSON:
		err = in.binding(x)
	default:
		err = in.findRPC(x)
	}
	if err != nil {
		return err
	}
	if e := in.read(x); e != nil {
		return e
	}
	return wire.Errorf(wire.MethodNotFound, "no such method")
}
