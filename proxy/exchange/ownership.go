package exchange

import (
	"bytes"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// Ownership is whose the task and the context are, and under which names both sides know them (checkOwnership, adopt).
type Ownership struct {
	Record   state.Record    // checkOwnership; of the task the call names; without one only the context's endpoint
	Known    *policy.Task    // authorize; what is recorded of the task, nil if none
	Foreign  *Foreign        // checkOwnership; set when the caller's context id had to be replaced
	Contexts []Foreign       // checkOwnership, forward; those that may go by other names with the caller, foreign among them
	Query    string          // checkOwnership; replaces the request's query, for the same reason
	Task     translate.Alias // checkOwnership; a 0.1 caller's name for the task, and the agent's
	Session  translate.Alias // checkOwnership; the same for the context
	Reserved string          // adopt; the context that has been made the caller's
}

// Foreign is a context id that belongs to somebody else, or to nobody knows whom, and what
// the agent sees in its place for this caller.
//
// A caller who sends {"contextId":"C"} where C belongs to somebody else is not told so: that would tell
// that C exists. The agent gets another context id for this caller, always the same, and the caller
// reads C again in what it answers.
type Foreign struct {
	Agents string // the replacement
	ID     string // the caller's; "" where nobody knows the other as a replacement
	Sent   []byte // the caller's id as a JSON string, verbatim
	Alias  []byte // the replacement as a JSON string
}

// MostContexts are remembered of a call, but for those that go by another name: an agent
// may show others without end on a stream.
const MostContexts = 256

// LearnName remembers what the caller calls a context.
//
// When the list is full, contexts that go by one name only are forgotten; those with two must stay, or
// the caller would be shown the agent's name.
func (x *Ownership) LearnName(n Foreign) {
	if len(x.Contexts) >= MostContexts {
		x.Contexts = slices.DeleteFunc(x.Contexts, func(n Foreign) bool { return n.ID == "" })
	}
	x.Contexts = append(x.Contexts, n)
}

// Otherwise finds a context among those that have been looked at; nil for none.
//
// The result points into Contexts and is good until the next LearnName.
func (x *Ownership) Otherwise(context string) *Foreign {
	for i := range x.Contexts {
		if x.Contexts[i].Agents == context {
			return &x.Contexts[i]
		}
	}
	return nil
}

// RestoreContext is restore where the contexts are known. A replacement is 122
// random-looking bits, so a JSON string equal to it is it.
//
//	agent    {"contextId":"7b0e…"}     the replacement
//	caller   {"contextId":"C"}         as it was sent, escapes included
func (x *Ownership) RestoreContext(body []byte) []byte {
	for i := range x.Contexts {
		if n := &x.Contexts[i]; n.ID != "" && bytes.Contains(body, n.Alias) {
			body = bytes.ReplaceAll(body, n.Alias, n.Sent)
		}
	}
	return body
}

// NameFor is what the caller calls a context.
//
// A context that goes by one name only has that name.
func (x *Ownership) NameFor(context string) string {
	if n := x.Otherwise(context); n != nil && n.ID != "" {
		return n.ID
	}
	return context
}

// Aliases are what the caller calls the task and the context of the call.
func (x *Exchange) Aliases() openstreams.Aliases {
	return openstreams.Aliases{Task: x.Task.Caller, Context: x.Session.Caller}
}
