package agents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Quirk is a tolerance for what an agent, or its clients, do otherwise than their version of
// A2A has it. Each has its line in docs/quirks.md, and is counted and in the record where it
// was used.
type Quirk string

// The quirks. All are on where an agent lists none.
const (
	// ZonelessTimes reads timestamps of ProtoJSON that have no zone as UTC.
	ZonelessTimes Quirk = "zoneless-times"
	// MixedObjects answers callers of 0.3's methods who send 1.0's objects in kind.
	MixedObjects Quirk = "mixed-objects"
	// MethodAddresses calls each method at an address of its own.
	MethodAddresses Quirk = "method-paths"
)

var allQuirks = []Quirk{ZonelessTimes, MixedObjects, MethodAddresses}

func (c *Config) checkQuirks() error {
	for i, q := range c.Quirks {
		if !slices.Contains(allQuirks, q) {
			return keypath.At(fmt.Errorf("%q is none of %s", q, quirkNames()), "quirks", i)
		}
		if slices.Contains(c.Quirks[:i], q) {
			return keypath.At(fmt.Errorf("%q is listed twice", q), "quirks", i)
		}
	}
	return nil
}

func quirkNames() string {
	names := make([]string, len(allQuirks))
	for i, q := range allQuirks {
		names[i] = string(q)
	}
	return strings.Join(names, ", ")
}

// Tolerates reports whether a quirk is on for the agent.
func (c *Config) Tolerates(q Quirk) bool {
	return c.Quirks == nil || slices.Contains(c.Quirks, q)
}

// Zones reports whether timestamps that a side of the agent's writes without a zone are read
// as UTC. In 0.1's and 0.3's JSON-RPC a timestamp is any text.
func (a *Agent) Zones(s wire.Side) bool {
	proto := s.Version == wire.V10 && s.Binding != wire.GRPC || s.Version == wire.V03 && s.Binding == wire.HTTPJSON
	return proto && a.Tolerates(ZonelessTimes)
}
