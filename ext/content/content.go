// Package content looks after what extensions leave in messages, tasks and
// artifacts: it finds what does not belong into a call, and holds what does against
// the schemas and states of the registry.
//
// It owns those checks. It does not own which extensions are active (ext), how a
// document is read and changed (internal/wire), where a task's state is kept
// (internal/state) or what becomes of a violation (proxy). It does no I/O. It may
// import ext, ext/schema and internal/wire.
package content

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Fault is what kind of violation something is; metrics and records use the words.
type Fault string

// The faults.
const (
	Unrequested  Fault = "unrequested"   // metadata or a URI of an extension that is not active
	Undeclared   Fault = "undeclared"    // metadata under the URI of an extension that nobody knows
	Invalid      Fault = "schema"        // a value that its schema does not allow
	Transition   Fault = "transition"    // a state that may not follow
	Strange      Fault = "conformance"   // a member or enum value that A2A does not define
	NotActivated Fault = "not_activated" // required, and not activated by the agent
	Hooked       Fault = "hook"          // a hook said no, or nothing
)

// Violation is one thing that is wrong with a document.
type Violation struct {
	Extension string // URI; "" for Strange and for a skill's schemas
	Fault     Fault
	Pointer   string // RFC 6901, into the document
	Text      string // what is wrong, without the value
	Enforced  bool   // it refuses the call or the answer; else it is only recorded
}

// Terms are what holds for the documents of one call.
type Terms struct {
	Book     *ext.Book
	Declared []ext.Declared // by the agent's card
	Active   ext.Set        // in this call, the gateway's own and injected ones included
	Visible  ext.Set        // may be in the document at hand
	Answer   bool           // the document is the agent's; else the caller's
}

// Strays are the marks of extensions that are not visible: URIs that are listed and
// metadata keys of an extension that the registry or the card knows.
func (t *Terms) Strays(c *wire.Carriers) []wire.Mark { return nil }

// Unknown are violations for metadata keys that are URIs of extensions which nobody
// knows.
func (t *Terms) Unknown(c *wire.Carriers) []Violation { return nil }

// Values holds the values in metadata against the schemas of active extensions.
func (t *Terms) Values(c *wire.Carriers) []Violation { return nil }

// JudgesObjects reports whether Objects could find anything.
func (t *Terms) JudgesObjects() bool { return false }

// Objects holds messages, artifacts, statuses and parts against the schemas of active
// extensions. c must be of a document in A2A 1.0's JSON.
func (t *Terms) Objects(c *wire.Carriers) []Violation { return nil }

// Arrival is a state that a document says a task is in.
type Arrival struct {
	Extension string // URI
	Task      string // the task's id; "" where the document does not say it
	State     string // of the extension
	Within    string // the task state, 1.0 name; "" where not said
	Pointer   string
}

// Arrivals are the states of active extensions that a document shows, in its order.
// A value under a machine's key that is no state has an empty State.
func (t *Terms) Arrivals(c *wire.Carriers) []Arrival { return nil }

// Data holds the data parts of messages and artifacts, history aside, against a
// schema, such as that of a skill's input.
func Data(c *wire.Carriers, s *schema.Schema, enforced bool) []Violation { return nil }
