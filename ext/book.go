package ext

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Book is a Registry made ready to be asked. It is immutable; a nil Book is that of
// an empty registry.
type Book struct{}

// Compile makes a Book: schemas compiled, methods and dependencies checked against
// each other. The error names every entry that is wrong.
func (r Registry) Compile() (*Book, error) { return &Book{}, nil }

// Close ends what the book holds open.
func (b *Book) Close() {}

// Entry finds an extension.
func (b *Book) Entry(uri string) (*Entry, bool) { return nil, false }

// Extra are the methods of all extensions.
func (b *Book) Extra() *wire.Extra { return nil }

// Skill is the skill that an extension's method needs, "" for none.
func (b *Book) Skill(m *wire.Method) string { return "" }

// Owner says whose a metadata key is: the URI of a registered extension, or "".
func (b *Book) Owner(key string) string { return "" }

// Hooks are the services that see calls with an extension.
func (b *Book) Hooks(uri string) []*hook.Hook { return nil }

// Compiled are an entry's Schemas; each may be nil.
type Compiled struct {
	Params, Request, Message, Artifact, Status, Part *schema.Schema

	Metadata map[string]*schema.Schema
}

// Schemas are an extension's schemas, nil for none.
func (b *Book) Schemas(uri string) *Compiled { return nil }

// Machine follows tasks through the states of an extension.
type Machine struct{}

// Machine is an extension's, nil for none.
func (b *Book) Machine(uri string) *Machine { return nil }

// Key is the metadata key.
func (m *Machine) Key() string { return "" }

// Move says why a task may not go from a state, "" at first, to another while it is
// in a task state, "" where that is not known; "" if it may.
func (m *Machine) Move(from, to, task string) string { return "" }

// Effect is what one rule of the policy says about extensions in a call.
type Effect struct {
	Rule                         string
	Shadow                       bool // only recorded
	Allow, Deny, Require, Inject []string
}

// Question is a call as negotiation sees it.
type Question struct {
	Requested Set        // by the client
	Declared  []Declared // by the agent's card
	Config    *Config    // the agent's
	Rules     []Effect   // of the rules that match the call
	Now       time.Time
}

// Outcome is what a call may do with extensions.
type Outcome struct {
	Send     Set      // goes to the agent
	Visible  Set      // of those, what the caller asked for, and so may see
	Injected Set      // of those, what it did not ask for
	Provided Set      // asked for, and implemented by the gateway in the agent's place
	Required Set      // of Send, what is required
	Refused  Set      // asked for, known, and not permitted
	Shadow   []string // what shadow modes would have done: "rule NAME: require URI", "extensions: deny URI"
}

// Negotiate decides. The error is a *MissingError.
func (b *Book) Negotiate(q *Question) (Outcome, error) { return Outcome{}, nil }

// Effective returns what a served card lists, which is what Negotiate enforces. Of
// requested it looks at nothing.
func (b *Book) Effective(q *Question) []Declared { return nil }
