package policy

import (
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// onBindings is the condition on the protocol binding that the call came over.
var onBindings = condition{
	key: "bindings", about: ofCall, holds: "the call came over one of `JSONRPC`, `HTTP+JSON`, `GRPC`, `MCP`",
	compile: func(_ *compiler, r *rule) []error {
		set, unknown := newBindings(r.source.Bindings)
		r.call.bindings = set
		return append(checkList("bindings", r.source.Bindings, true, "rule"), unknown...)
	},
	has: func(r *rule) bool { return r.call.bindings != 0 },
	call: func(r *rule, c circumstances) string {
		if c.binding == 0 { // not known
			return r.inDoubt("bindings")
		}
		return unless(r.call.bindings&(1<<c.binding) != 0, "bindings")
	},
	// One bit for each binding: no bit of the other rule may be missing here.
	covers: func(r, other *rule) bool {
		return other.call.bindings != 0 && other.call.bindings&^r.call.bindings == 0
	},
	dead: func(s *Set, r *rule) string {
		return unless(s.ops.callable(r.target.methods, r.call.bindings), "none of its methods can be called over its bindings, so the rule can never match")
	},
}

// bindings is a set of them, one bit for each.
type bindings uint8

// newBindings reads the names of bindings, those that cards have and MCP, and describes those that are none.
func newBindings(list []string) (set bindings, problems []error) {
	for i, name := range list {
		b := bindingNamed(name)
		if b == 0 && name != "" { // an empty entry is reported with those of other lists
			problems = append(problems, keypath.At(keypath.Point(fmt.Errorf("%q is none of JSONRPC, HTTP+JSON, GRPC and MCP", name), i), "bindings"))
		}
		set |= 1 << b
	}
	return set &^ 1, problems
}

// bindingNamed looks a binding up by its name; 0 for none.
func bindingNamed(name string) wire.Binding {
	for _, b := range []wire.Binding{wire.JSONRPC, wire.HTTPJSON, wire.GRPC, wire.MCP} {
		if b.String() == name {
			return b
		}
	}
	return 0
}

// toolMethods are what the gateway makes of calls of MCP's tools.
var toolMethods = []string{wire.SendMessage, wire.SendStreamingMessage, wire.GetTask, wire.CancelTask}

// offered are the bindings over which a method can be called.
func offered(m *wire.Method) bindings {
	set := bindings(1) << wire.JSONRPC
	if m.Extension == "" || m.Path != "" {
		set |= 1 << wire.HTTPJSON
	}
	if m.Extension == "" || m.RPCPath != "" {
		set |= 1 << wire.GRPC
	}
	if m.Extension == "" && slices.Contains(toolMethods, m.Name) {
		set |= 1 << wire.MCP
	}
	return set
}
