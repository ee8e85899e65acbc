// Package limits answers one question: has this caller used too much? It is the rate limits,
// quotas and limits of concurrency: it counts calls, their cost and size, calls at the same time
// and tasks that are open, against the limits of the configuration.
//
// It owns the limits, what they are counted by, and where they stand. It does not own
// the counting (internal/state), who may call (policy), or what a refusal looks like on
// the wire (proxy). It may import authn, internal/secret, internal/state and internal/wire.
//
// For one call the proxy does three things:
//
//   - Admit, when the rules have allowed the call and before an agent sees it. All
//     limits that apply are drawn on in one step. A call that is refused has used up
//     nothing.
//   - Pass.Task, for each task that an answer or an event shows, before it is passed on.
//   - Pass.Release, when the call and its stream are over, however they ended.
//
// What counts when:
//
//   - rate and quota: a call's cost, when it is admitted. What becomes of it does not
//     matter any more.
//   - concurrency: a place from Admit to Release; with Leave, when the client has hung up,
//     until the agent has ended what it was asked for as well (Hold), since an agent need
//     not stop for a closed connection. It is renewed while the call runs, and is free a
//     minute after the gateway is gone.
//   - openTasks: a send that names no task takes a place, since it may make one. Where
//     an answer shows a live task, the task has the place until an answer of any call,
//     or a notification, shows it ended, or until nobody has heard of it for as long as
//     forget says. A send that made no task gives its place back at Release; with Leave,
//     when nobody has waited for the answer, it runs out by itself. A send on a task that
//     is open needs none; one on a task that is over is like one that names no task. Tasks
//     from before the limit was there are not counted until their maker sends to them
//     again.
//   - bytes: nothing; each request by itself.
//
// Where things are: Admit draws (admit.go), what is drawn on was compiled from the
// configuration (compile.go, cost.go) and is found by a key (key.go). What a call holds is
// its Pass (pass.go), which the keeper renews (keep.go). Without the store onLoss says what
// becomes of calls (store.go). Callers see standings (exceeded.go, headers.go), operators
// Show and Explain.
package limits

import (
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Options are what a configuration does not say.
type Options struct {
	Agents  []string          // ids of the configured agents
	Methods []*wire.Method    // that extensions bring
	Store   state.Limits      // where limits are counted; bounds its own time
	Local   state.Limits      // counts while Store cannot; may be Store itself
	Log     *slog.Logger      // nil for none
	Fell    func(name string) // hook: a limit was counted locally or not at all for one call; nil for none
	Now     func() time.Time  // when quotas begin anew; nil for time.Now
}

// Limiter counts by one configuration. Buckets are found by the limit's name, what it
// bounds and its key, so that limits of the next configuration go on where they stood,
// also with other figures. Any number of goroutines, and of gateways with the same store,
// may use it. A nil Limiter has no limits.
type Limiter struct {
	options Options
	onLoss  string
	shows   bool
	limits  []*limit
	agents  map[string]*agent
	keeper  keeper
	scratch sync.Pool // *admission
	lost    atomic.Bool
	fell    atomic.Bool // ever
}

// New compiles a Config. Errors name the limit. Without Store it is good for Explain
// alone.
func New(c Config, o Options) (*Limiter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Fell == nil {
		o.Fell = func(string) {}
	}
	if o.Local == nil {
		o.Local = o.Store
	}
	l := &Limiter{options: o, onLoss: c.OnLoss, shows: c.Headers != headersOff, agents: map[string]*agent{}}
	// One admission is used for many calls, so that admitting one allocates little.
	l.scratch.New = func() any { return &admission{} }
	l.keeper.limiter = l
	return l, l.compile(c, &o)
}

// Close ends what a Limiter runs, as soon as the calls that it has admitted are over.
// Their places are held until then.
func (l *Limiter) Close() {
	if l != nil {
		l.keeper.close()
	}
}

// agent is what applies on an agent.
func (l *Limiter) agent(id string) *agent {
	if a, ok := l.agents[id]; ok {
		return a
	}
	return l.of(id)
}

// Call is one call as the limits see it.
type Call struct {
	ID        string // unique over all gateways
	Principal *authn.Principal
	Agent     string
	Skill     string   // "" when not known
	Skills    []string // where Skill is "": all that it may be for; nil when it is for none
	Method    *wire.Method
	Source    netip.Addr
	Bytes     int64         // of the request's body
	Task      *state.Record // that the call names; nil for none
	Within    time.Duration // after which the call has surely ended, streams aside
	Placed    bool          // it has the places of another call: see Pass.Return
}

// Standing is where one bound of a limit stands for a caller.
type Standing struct {
	Name   string        // the limit's; of several bounds one as name/rate
	Limit  int64         // units in Window, or places
	Window time.Duration // 0 for places
	Unit   string        // what is counted: "" for units of cost, "concurrent-requests", "open-tasks"
	Left   int64
	Most   int64         // that Left can be: of a rate its burst
	Reset  time.Duration // until all are there again; 0 when nobody can say
}
