// Package state holds what outlives a request: one small interface per need and
// the memory driver. Drivers that survive a restart live in packages of their
// own. It knows nothing of HTTP, A2A or policy, and imports internal/secret only.
//
// It exports more than twenty names because the interfaces stand together with what they take
// and give: whoever writes a driver has one package to implement, and internal/state/statetest
// to hold it to.
package state

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind says what a Record is about.
type Kind uint8

// The kinds of a Record. Aliases stand for clients who choose ids themselves in
// front of an agent that does so too: the ID is the client's under a name for
// whoever shares it, and Context holds the agent's.
const (
	Task         Kind = iota + 1 // an A2A task id
	Context                      // an A2A context id
	TaskAlias                    // a client's own name for a task
	ContextAlias                 // a client's own name for a context
	ContextName                  // the other way round: the agent's id, for which Context holds the client's name
)

// Record says who an id belongs to and what later calls on it need to know. It
// is written once and never changed.
type Record struct {
	Agent      string // configured agent id; ids of two agents never collide
	Kind       Kind
	ID         string
	Owner      string    // authn.Principal.Key of whoever caused it
	Tenant     string    // the owner's tenant
	Skill      string    // skill the call was authorized for; empty when unknown
	Context    string    // the task's context id, the agent's id of an alias; of a context its owner's name for it, if that is another
	Endpoint   string    // upstream that holds it, a routing hint
	Version    string    // protocol version the owner spoke
	Extensions []string  // extensions active when it was made
	Created    time.Time // wall clock, UTC

	// Trace is the span of the call that a task was first seen in, which those of later
	// calls are linked to: W3C's trace-id and parent-id, 24 bytes. Empty where that call
	// was not sampled, and of other kinds.
	Trace string
}

// Query asks for tasks on one agent: those of Owner and those of Tenant, each
// when it is not empty, or with Everyone all of them. The zero Query finds
// nothing, so that a name that was left out does not open the store.
type Query struct {
	Agent    string
	Owner    string // as in Record
	Tenant   string // as in Record
	Everyone bool
	Context  string // only the tasks of this context; empty for any
	Limit    int    // at most so many; none unless positive

	// After goes on behind a task that an earlier answer ended with: Tasks then begins
	// with the next in its order. Only Created and ID count; zero for the beginning.
	After Record
}

// Ref names one record of an agent's.
type Ref struct {
	Kind Kind
	ID   string
}

// ErrFull means that a driver with a bound has reached it. Nothing was stored;
// the caller must refuse, since an id nobody owns could be claimed by anyone.
var ErrFull = errors.New("state: record limit reached")

// ErrUnavailable means that the store cannot be reached, or did not answer in time:
// nothing is known, not even whether what was asked for has been done. A Claim may be
// repeated, as it never replaces anything.
var ErrUnavailable = errors.New("state: the store cannot be reached")

// Refusing is the error of a store that answers and takes no writes, in its own words. To
// whoever needs it that is a store that is away: it wraps ErrUnavailable. store says whose
// words they are.
func Refusing(store string, words error) error { return &refusing{store, words} }

type refusing struct {
	store string
	words error
}

func (r *refusing) Error() string {
	return fmt.Sprintf("state: %s refuses writes: %v", r.store, r.words)
}
func (r *refusing) Unwrap() []error { return []error{ErrUnavailable, r.words} }

// Ledger stores ownership. Claim and Lookup are linearizable: once a Claim has
// returned, every later Claim or Lookup of the same id sees its record, and every
// later Tasks that asks for it, until the driver's retention has passed without a
// Claim or Lookup of it. What comes while Tasks runs it may show or not. Drivers bound the time of their own operations: a caller may pass a context
// that nobody cancels. Every driver passes the suite in statetest.
type Ledger interface {
	// Claim inserts r unless (Agent, Kind, ID) is already recorded, and returns
	// the record that now stands: r itself, or the earlier one, which r cannot
	// replace. A zero Created is filled in; an empty Extensions comes back as nil.
	Claim(ctx context.Context, r Record) (Record, error)

	// Lookup returns the record of an id; false when there is none.
	Lookup(ctx context.Context, agent string, k Kind, id string) (Record, bool, error)

	// ClaimAll is Claim for several records, in one round trip and in their order. Each
	// stands by itself: with an error some may have been recorded.
	ClaimAll(ctx context.Context, rs []Record) ([]Record, error)

	// LookupAll is Lookup for several ids, in one round trip and in their order; what is
	// not there is the zero Record.
	LookupAll(ctx context.Context, agent string, refs []Ref) ([]Record, error)

	// Count says how many records Tasks would return without Limit and After.
	Count(ctx context.Context, q Query) (int, error)

	// Tasks returns the records of Kind Task that q asks for, by Created from the
	// newest to the oldest, equal ones by ID from the greatest to the least, each
	// once. Being listed is no use that keeps a record alive.
	Tasks(ctx context.Context, q Query) ([]Record, error)
}

// Proven is how long a write that has worked stands for the next: so long Ready asks no
// more. It bounds what Ready costs a store with much to do, and what may go wrong unnoticed.
const Proven = time.Millisecond

// Distant is a Ledger that may be out of reach or refuse to write, and may know that it does.
type Distant interface {
	// Away returns an error that wraps ErrUnavailable while records of an agent are known
	// not to be taken, or with "" those of any agent. It asks nobody: nil does not promise
	// that they are.
	Away(agent string) error

	// Ready is Away that has made sure: where no write has worked for as long as Proven it
	// makes one. What goes wrong from then on is not foreseen.
	Ready(ctx context.Context, agent string) error
}

// Bounded is a Ledger that holds so many records and no more.
type Bounded interface {
	// Room returns ErrFull where so many further records of an owner's find no place. Others
	// may take the place at once.
	Room(owner string, records int) error
}

// Step is where a task stands in the states that an extension adds to A2A's.
type Step struct {
	Agent     string // configured agent id
	Task      string // the agent's id
	Extension string // URI
}

// Steps stores where tasks stand, as long as the driver keeps records, from the
// latest Advance of each on. Advance is linearizable: of callers who come at the same
// moment with the same from, one makes its step and the others are told of it. Every
// driver passes the suite in statetest.
type Steps interface {
	// Advance makes to the state of a task if that is from, "" for none yet, and
	// returns the state that it has then: to, or the one that was there instead.
	// With from and to equal it only reads and keeps alive. With to empty the task
	// has no state again. With an error nothing has changed; ErrFull is one.
	Advance(ctx context.Context, s Step, from, to string) (string, error)
}
