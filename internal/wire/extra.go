package wire

import (
	"errors"
	"fmt"
	"slices"
)

// Extra are the methods that extensions bring, beside A2A's own. It is immutable; a
// nil Extra has none.
//
// An extension (A2A 1.0 §4.6) may bring methods. Nothing is known of one but what its registration
// says: the name, what it is about, perhaps a path or an RPC.
//
//	{Name: "acme/notes", Subject: OfTask, Extension: "https://acme.example/notes/v1",
//	 Verbs: ["GET"], Path: "/tasks/{task}/notes"}
//
// With that it passes the stages that A2A's own methods pass.
type Extra struct {
	methods []*Method
	names   map[string]*Method
	rpcs    map[string]*Method
	params  map[*Method]*extraNames
	routes  *routeTable           // A2A's own among them
	asked   func(uri string) bool // nil for all; see Asked
}

// NewExtra makes the tables, of copies of the rows. Rows need a Name, a Subject, an
// Extension and, as far as they are offered, Verbs and Path, or RPCPath; V03 is set to
// Name. The error names every row that is wrong, and says why:
//
//   - a name, path or RPC that A2A or another row has, or one that some parser could
//     take for it: in another case, with other punctuation, with a tenant before it;
//   - a path of other verbs than GET and POST, or with more in it than one {task};
//   - what could never be proved to be the caller's: the messages of gRPC are opaque, so
//     an RPC is about the agent, or about the one task that TaskTag names.
//
// A path may be A2A's or another row's if the verbs differ. A ":verb" that some row has
// behind {task} ends the id in A2A's own paths too, where nothing follows it.
func NewExtra(rows []Method) (*Extra, error) {
	e := &Extra{
		names:  make(map[string]*Method, len(rows)),
		rpcs:   make(map[string]*Method),
		params: make(map[*Method]*extraNames, len(rows)),
	}
	taken := coreNames()
	var errs []error
	for _, row := range rows {
		m := &row
		m.V03, m.Verbs = m.Name, slices.Clone(m.Verbs)
		if err := errors.Join(checkExtra(m), taken.claim(m)); err != nil {
			errs = append(errs, fmt.Errorf("method %q: %w", m.Name, err))
		}
		e.methods = append(e.methods, m)
		e.names[m.Name] = m
		e.params[m] = newExtraNames(m)
		if m.RPCPath != "" {
			e.rpcs[m.RPCPath] = m
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if err := checkPaths(e.methods); err != nil {
		return nil, err
	}
	e.routes = newRouteTable(slices.Concat(coreMethods(), e.methods))
	return e, nil
}

// Asked is the same with the methods of other extensions hidden than those that asked
// says yes to: a name, path or RPC of theirs is found as if nobody had it. What ends an
// id in a path stays as it is, because agents do not read it by who asks.
//
// It shares the tables of e and costs one struct. A client names the extensions of a call in the header
// A2A-Extensions (A2A 1.0 §3.2.6); who does not name one is answered as if its methods did not exist.
func (e *Extra) Asked(asked func(uri string) bool) *Extra {
	if e == nil {
		return nil
	}
	view := *e
	view.asked = asked
	return &view
}

// shows reports whether whoever looks may find m.
//
// A row without an extension is A2A's own, and no one hides those.
func (e *Extra) shows(m *Method) bool {
	return m.Extension == "" || e.asked == nil || e.asked(m.Extension)
}

// Methods returns the rows, in the order in which NewExtra was given them. Callers
// must not change them. Hidden ones are among them.
//
// A nil Extra has none, and every method of it may be called: a gateway without extensions has no
// tables to carry about.
func (e *Extra) Methods() []*Method {
	if e == nil {
		return nil
	}
	return e.methods
}

// ByRoute is the function ByRoute, for A2A's own paths and the extensions'.
//
//	GET /tasks/T/notes   with the row of the example above: its method, task T
//	GET /tasks/T         A2A's GetTask, as without extensions
func (e *Extra) ByRoute(verb, path string) (Route, bool) {
	if e == nil {
		return ByRoute(verb, path)
	}
	return e.routes.find(verb, path, e.shows)
}

// ByRPC is the function ByRPC, with the extensions' RPCs beside A2A's own. Theirs are
// of version V10.
//
// Rows of extensions go first, and none has a path under A2A's services: NewExtra refuses those.
func (e *Extra) ByRPC(path string) (m *Method, v Version, ok bool) {
	if e != nil {
		if m := e.rpcs[path]; m != nil && e.shows(m) {
			return m, V10, true
		}
	}
	return ByRPC(path)
}

// RPCs are the paths of the extensions' RPCs, in order.
func (e *Extra) RPCs() []string {
	var list []string
	for _, m := range e.Methods() {
		if m.RPCPath != "" {
			list = append(list, m.RPCPath)
		}
	}
	slices.Sort(list)
	return list
}

// knows reports whether m is A2A's own or one of these. A route that was found in
// other tables is none of ours.
//
// It guards against a route that was found before a reload and is decoded with the tables of after.
func (e *Extra) knows(m *Method) bool {
	return m.Extension == "" || e != nil && e.params[m] != nil
}

// spoken is what an extension's name means in a call of which header says the
// version, or nothing. 0.1 knows no extensions: its callers have names of their own for
// tasks, and nobody could say what they mean in params that are an extension's.
//
//	A2A-Version: 1.0   {"method":"acme/notes"}   V10
//	no header          {"method":"acme/notes"}   V03
//	A2A-Version: 0.1   {"method":"acme/notes"}   not found
func (e *Extra) spoken(name []byte, header Version) (spoken, bool) {
	if e == nil || header == V01 {
		return spoken{}, false
	}
	m := e.names[string(name)]
	if m == nil || !e.shows(m) {
		return spoken{}, false
	}
	if header == "" {
		header = V03
	}
	return spoken{method: m, version: header}, true
}
