package wire

import (
	"slices"
	"strings"
)

// MediaType is the media type of a successful unary answer to the call:
// application/json, or application/a2a+json for a 1.0 HTTP+JSON client that names
// it (A2A 1.0.1 §11.1).
func (c *Call) MediaType() string {
	if c.Binding == HTTPJSON {
		return viewOf(c).contentType()
	}
	return typeJSON
}

// Labelled is the media type under which the caller is given what an agent answered in its own
// words: the agent's, but application/json in place of application/a2a+json where the caller
// accepts the one by its name and the other in no way. The text is the same in both.
func (c *Call) Labelled(agents string) string {
	if c.Binding == HTTPJSON && strings.EqualFold(agents, typeA2A) &&
		accepts(c.Accept, typeJSON) && !accepts(c.Accept, typeA2A) && !strings.Contains(c.Accept, "*") {
		return typeJSON
	}
	return agents
}

// State reads a task state as any version or ProtoJSON writes it ("canceled",
// "TASK_STATE_CANCELLED", "5") and returns its 1.0 name, TASK_STATE_CANCELED. The
// second result is false for a state that no version has.
func State(s string) (string, bool) {
	if i := slices.Index(stateDigits, s); i >= 0 {
		return stateNumbers[i], true
	}
	name := stateNamed([]byte(s))
	return name, name != ""
}

// stateDigits are the numbers of stateNumbers as text.
var stateDigits = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"}

// Services are the names of A2A's gRPC services, newest first.
//
//	lf.a2a.v1.A2AService   1.0
//	a2a.v1.A2AService      0.3
//
// gRPC's health checks and reflection name them so.
func Services() []string {
	return []string{strings.Trim(service10, "/"), strings.Trim(service03, "/")}
}
