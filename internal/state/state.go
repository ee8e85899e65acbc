// Package state holds what outlives a request: one small interface per need and
// the memory driver. Drivers that survive a restart live in packages of their
// own. It knows nothing of HTTP, A2A or policy, and imports internal/secret only.
package state

import (
	"context"
	"errors"
	"time"
)

// Kind says what a Record is about.
type Kind uint8

// The kinds of a Record.
const (
	Task    Kind = iota + 1 // an A2A task id
	Context                 // an A2A context id
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
	Context    string    // the task's context id; empty for contexts
	Endpoint   string    // upstream that holds it, a routing hint
	Version    string    // protocol version the owner spoke
	Extensions []string  // extensions active when it was made
	Created    time.Time // wall clock, UTC
}

// ErrFull means that a driver with a bound has reached it. Nothing was stored;
// the caller must refuse, since an id nobody owns could be claimed by anyone.
var ErrFull = errors.New("state: record limit reached")

// Ledger stores ownership. Both operations are linearizable: once a Claim has
// returned, every later Claim or Lookup of the same id sees its record, until
// the driver's retention has passed without either. Drivers bound the time of
// their own operations: a caller may pass a context that nobody cancels. Every
// driver passes the suite in statetest.
type Ledger interface {
	// Claim inserts r unless (Agent, Kind, ID) is already recorded, and returns
	// the record that now stands: r itself, or the earlier one, which r cannot
	// replace. A zero Created is filled in; an empty Extensions comes back as nil.
	Claim(ctx context.Context, r Record) (Record, error)

	// Lookup returns the record of an id; false when there is none.
	Lookup(ctx context.Context, agent string, k Kind, id string) (Record, bool, error)
}
