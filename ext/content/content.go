// Package content looks after what extensions leave in messages, tasks and
// artifacts: it finds what does not belong into a call, and holds what does against
// the schemas and states of the registry.
//
// It owns those checks. It does not own which extensions are active (ext), how a
// document is read and changed (internal/wire), where a task's state is kept
// (internal/state) or what becomes of a violation (proxy). It does no I/O. It may
// import ext, ext/schema and internal/wire.
package content

import "github.com/a2a-gateway/a2a-gateway/ext"

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
	Mode         Fault = "modes"         // a media type that neither the skill nor the card lists
	FileURI      Fault = "file_uri"      // a file whose URI is not allowed
	FileType     Fault = "file_type"     // a media type that files may not have
	FileSize     Fault = "file_size"     // a file that is too large, or one too many
	FileName     Fault = "file_name"     // a file whose name leads elsewhere
)

// Violation is one thing that is wrong with a document. The checks of this package
// return 64 of each document at most, one that is enforced among them if there is any.
type Violation struct {
	Extension string // URI, cut off at 512 bytes; "" for Strange and for a skill's schemas
	Fault     Fault
	Pointer   string // RFC 6901, into the document
	Text      string // what is wrong, without the value
	Enforced  bool   // it refuses the call or the answer; else it is only recorded
}

// Terms are what holds for the documents of one call.
type Terms struct {
	Book     *ext.Book
	Declared *ext.Roots // by the agent's card, or named by its configuration
	Active   ext.Set    // in this call, the gateway's own and injected ones included
	Visible  ext.Set    // may be in the document at hand
	Answer   bool       // the document is the agent's; else the caller's
}

// mode is how strictly an extension is checked.
func (t *Terms) mode(uri string) ext.Mode {
	if e, ok := t.Book.Entry(uri); ok && e.Validation != "" {
		return e.Validation
	}
	return ext.Enforce
}

// most is how many violations one check returns. A document can have as many as it
// has members, and nobody reads the rest.
const most = 64

// findings are violations as a check finds them.
type findings struct {
	list    []Violation
	refuses bool // one of list is enforced
}

// add keeps the first of them, but always one that refuses: no flood of what is only
// recorded hides it.
func (f *findings) add(v Violation) {
	switch {
	case len(f.list) < most:
		f.list = append(f.list, v)
	case v.Enforced && !f.refuses:
		f.list[most-1] = v
	}
	f.refuses = f.refuses || v.Enforced
}
