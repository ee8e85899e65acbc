// Package ledger answers whose a task is. Every call that names a task or a
// context is checked against what was recorded when an agent first showed it,
// before an agent sees the call, so that callers of one agent are isolated from each other
// (multi-tenancy), whatever the agent does about it.
//
// It owns that check, what is recorded, and who shares with whom. It does not own
// the store (internal/state), the rules (policy) or how a context of somebody
// else is renamed (proxy). It may import authn, internal/state and internal/wire.
//
// For one call the proxy asks three times, and of one that has an effect once more, Ready,
// whether there is anything to record it in:
//
//   - Check, before any rule is asked: are the things it names the caller's? Check
//     only reads. CheckMade is Check for a call in a context that the gateway made up. A caller who turns out not to be allowed leaves nothing behind.
//   - Reserve, when the call is allowed and about to be forwarded: an id that the
//     caller made up and nobody owns becomes the caller's. Two callers who name
//     the same unowned context at the same moment would otherwise both reach the
//     agent with it.
//   - Learn, for each answer and stream event before it is passed on: what the
//     agent shows becomes the caller's, and what is somebody else's is withheld.
//
// A context that stands in the place of somebody else's is recorded with what its owner
// calls it, and Names says so, for the answers to calls that do not name it.
//
// Lists are the exception: an entry of ListTasks is shown if Owns says so, and
// never claimed, because being listed proves nothing. For an agent that has no
// lists, Tasks says what the caller's would be made of; Count, how many they are.
//
// Each of these is one round trip to the store, however many ids are involved; one
// more where contexts are involved and Config names backends, where it lends tasks, and several
// for a long list then, and where a 0.1 caller chose the ids of both a task and its context.
//
// Where a client and an agent both choose ids, Bind and Alias keep which of the
// agent's each of the client's stands for.
package ledger

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Config is how a Ledger shares.
type Config struct {
	// Scope is "principal" (default), "tenant" or "agent", as policy.TasksConfig
	// documents it. Anything else counts as "principal", the narrowest.
	Scope string

	// Share says which tasks beyond those of Scope a call of this method may be about:
	// tasks that are lent. r is the task's record and never the caller's own. What is
	// lent stays its owner's: using it records nothing for whoever uses it, and its context
	// may be named in calls on that task alone. Nil lends nothing. It must be quick and must not
	// block.
	Share func(p *authn.Principal, agent string, m *wire.Method, r state.Record) bool

	// Adopt lets a caller have a context that nobody is known to have, under the id that it
	// names. Otherwise such a context is to Check what one of somebody else's is: nobody
	// can tell whose it was before the state was lost, or at another gateway.
	Adopt bool

	// Backend names what is behind a configured agent, so that agents which lead to one
	// backend have its contexts in common, whatever they are called. Nil, or "" of an agent,
	// is the agent itself. It must be quick.
	Backend func(agent string) string
}

// Ledger checks and records ownership. It keeps no state of its own; any number
// of goroutines, and of gateways with the same store, may use it.
type Ledger struct {
	records
	scope scope
	share func(p *authn.Principal, agent string, m *wire.Method, r state.Record) bool
	adopt bool
}

// New makes a Ledger over a store.
func New(store state.Ledger, c Config) *Ledger {
	return &Ledger{records: recordsIn(store, c.Backend), scope: scope(c.Scope), share: c.Share, adopt: c.Adopt}
}

// ErrAbsent says that a call names a task that is not the caller's, or that an
// answer shows one. Whether the task is somebody else's or nobody's cannot be
// told from it, nor from the time it took (A2A 1.0 §3.3.2, §13.1): it is always
// this value, unwrapped.
//
// Every other error of this package comes from the store and must end the call
// as well: while ownership cannot be looked up, nobody owns anything.
var ErrAbsent = errors.New("no such task")

// ForeignContext says that a contextId is somebody else's, or that nobody knows whose it
// is and nobody may have it (Config.Adopt). Because a caller may
// choose a contextId freely, it need not end a call: the proxy puts a fresh id in
// its place, both ways, so that the agent never sees the owner's. It unwraps to
// ErrAbsent, which is what it is to whoever does not do that.
type ForeignContext struct {
	ID      string // as the caller or the agent wrote it
	Unknown bool   // it is nobody's, as far as is known
}

// Error is for the log.
func (f *ForeignContext) Error() string {
	if f.Unknown {
		return fmt.Sprintf("nobody knows whose the context %q is", f.ID)
	}
	return fmt.Sprintf("the context %q is somebody else's", f.ID)
}

// Unwrap returns ErrAbsent.
func (f *ForeignContext) Unwrap() error { return ErrAbsent }

// OwnerOf takes the subject and the issuer of a record's owner out of its key. Both
// are empty where the key is none that authn.Principal.Key makes.
func OwnerOf(r state.Record) (subject, issuer string) {
	issuer, rest, ok := lengthPrefixed(r.Owner)
	if !ok {
		return "", ""
	}
	subject, rest, ok = lengthPrefixed(rest)
	if !ok || rest != "" {
		return "", ""
	}
	return subject, issuer
}

// lengthPrefixed takes the first part off a key: its length, a colon, and itself.
func lengthPrefixed(key string) (part, rest string, ok bool) {
	digits, rest, ok := strings.Cut(key, ":")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n > len(rest) {
		return "", "", false
	}
	return rest[:n], rest[n:], true
}

// owner is a principal as the ledger sees it. Its key is computed once per call.
type owner struct {
	key, tenant string
}

func asOwner(p *authn.Principal) owner { return owner{key: p.Key(), tenant: p.Tenant} }

// asker is who makes a call of which method on which agent.
type asker struct {
	owner
	principal *authn.Principal
	agent     string
	method    *wire.Method // nil: nothing is lent
	made      bool         // the context that the call names is one that the gateway made for the asker
}

func ask(p *authn.Principal, agent string, m *wire.Method) asker {
	return asker{owner: asOwner(p), principal: p, agent: agent, method: m}
}

// lends reports whether a task that is not the asker's may be used all the same.
func (l *Ledger) lends(a asker, r state.Record) bool {
	return l.share != nil && a.method != nil && r.Kind == state.Task && l.share(a.principal, a.agent, a.method, r)
}
