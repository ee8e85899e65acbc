// Package limits answers one question: has this caller used too much? It counts
// calls, their cost and size, calls at the same time and tasks that are open, against
// the limits of the configuration.
//
// It owns the limits, what they are counted by, and where they stand. It does not own
// the counting (internal/state), who may call (policy), or what a refusal looks like on
// the wire (proxy). It may import authn, internal/secret, internal/state and internal/wire.
package limits

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Options are what a configuration does not say.
type Options struct {
	Agents  []string          // ids of the configured agents
	Methods []*wire.Method    // that extensions bring
	Store   state.Limits      // where limits are counted
	Local   state.Limits      // counts while Store cannot; may be Store itself
	Log     *slog.Logger      // nil for none
	Fell    func(name string) // hook: a limit is counted locally or not at all; nil for none
	Now     func() time.Time  // nil for time.Now
}

// Limiter counts by one configuration. Limits that a reload leaves as they are go on
// where they stood, as their buckets are found by name.
type Limiter struct{}

// New compiles a Config. Errors name the limit.
func New(c Config, o Options) (*Limiter, error) {
	if len(c.Each) == 0 {
		return &Limiter{}, nil
	}
	return nil, errors.New("limits: not available")
}

// Close ends what a Limiter runs. Passes that are open stay good.
func (l *Limiter) Close() {}

// Call is one call as the limits see it. ID is unique.
type Call struct {
	ID        string
	Principal *authn.Principal
	Agent     string
	Skill     string // "" when not known
	Method    *wire.Method
	Source    netip.Addr
	Bytes     int64         // of the request's body
	Task      *state.Record // that the call names; nil for none
	Within    time.Duration // after which the call has surely ended, streams aside
}

// Standing is where one limit stands for a caller.
type Standing struct {
	Name   string
	Limit  int64         // units in Window, or places
	Window time.Duration // 0 for places
	Left   int64
	Reset  time.Duration // until all are there again; 0 when nobody can say
}

// Exceeded is the error of Admit when a limit is reached.
type Exceeded struct {
	Name      string        // the limit's
	Reason    string        // what it bounds, in words that a caller may read
	After     time.Duration // when to come back; 0 when nobody can say
	Size      bool          // the call itself is too large (bytes); it will not succeed later
	Standings []Standing
}

// Error is for the log.
func (e *Exceeded) Error() string { return "limit " + e.Name + ": " + e.Reason }

// ErrUnavailable says that a limit with onLoss deny could not be counted.
var ErrUnavailable = errors.New("the limits cannot be counted")

// Pass is what a call holds while it runs. A nil Pass holds nothing.
type Pass struct {
	Standings []Standing // of the limits that show themselves, the fullest first
	Shadow    []string   // limits in shadow mode that the call exceeds
}

// Admit counts a call, or says which limit is reached and counts nothing. Limits that
// do not apply cost nothing.
func (l *Limiter) Admit(ctx context.Context, c *Call) (*Pass, error) { return nil, nil }

// Task tells of a task that an answer of the call shows: a live one takes a place among
// the caller's open tasks, one that has ended gives it back.
func (p *Pass) Task(ctx context.Context, id string, live bool) {}

// Release gives back what the call held. It may be called once; the end of ctx does not
// keep it from being done.
func (p *Pass) Release(ctx context.Context) {}
