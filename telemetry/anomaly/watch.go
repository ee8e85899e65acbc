// Package anomaly watches what finished calls have in common: who is refused again and
// again, looks for tasks of others, cancels or opens tasks by the hundred, or does what it
// never did; and which cards change.
//
// It owns the counts, which take the same memory however many callers there are, the
// beginning and the end of an anomaly, and for how long a caller is held back. It decides
// nothing about a single call and writes nothing down: it returns an error that the proxy
// answers, and tells events to whoever made it. Everything is counted by each process for
// itself; what is usual for callers is kept in the state, so that a restart does not have
// it learned again. It may import telemetry, internal/wire, internal/state and
// internal/secret.
package anomaly

import (
	"context"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Options are what a Watch is made of.
type Options struct {
	Config Config
	Tell   func(Event)  // of each beginning and end; from several goroutines
	Values state.Values // where habits outlast the process; nil for nowhere
	Salt   []byte       // of the names they have there; the same over restarts
	Log    *slog.Logger
}

// Watch holds finished calls against what is usual. A nil Watch sees nothing. Its methods
// may be called from many goroutines.
type Watch struct {
	options Options
	seed    maphash.Seed // of all keys
	start   time.Time
	holds   atomic.Int64 // episodes that can have calls refused; none, mostly

	denials, cancels, agentCancels, cards rates
	probing                               kinds
	openTasks                             openTasks
	skills                                skills

	closing sync.Once
	quit    chan struct{}
	done    chan struct{}
}

// settleEvery is how often anomalies are looked at that may be over. Nothing happens at their end
// by itself: a caller who has stopped makes no call that could tell.
const settleEvery = time.Second

// New begins to watch, until Close.
func New(ctx context.Context, o Options) (*Watch, error) {
	if err := o.Config.Check(); err != nil {
		return nil, err
	}
	w := &Watch{
		options: o, seed: maphash.MakeSeed(), start: time.Now(),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	n := o.Config.callers()
	w.denials.open(nameDenials, w, n)
	w.cancels.open(nameCancels, w, n)
	w.agentCancels.open(nameAgentCancels, w, n)
	w.cards.open(nameCards, w, n)
	w.probing.open(nameProbing, w, n)
	w.openTasks.open(nameOpenTasks, w, n)
	w.openTasks.room = o.Config.tasks()
	w.skills.open(nameSkills, w)
	w.skills.room, w.skills.salt = n, o.Salt
	w.skills.table, w.skills.learnt = newTable[habits](n), map[identity][]byte{}
	w.Configure(o.Config)
	if err := w.load(ctx); err != nil {
		o.Log.Warn("what is usual for callers cannot be read: it is learned anew", "error", err)
	}
	go w.run()
	return w, nil
}

// Configure puts other settings in force, which have been checked. Anomalies of detectors
// that it changes end. How many callers and tasks are remembered stays as it was.
func (w *Watch) Configure(c Config) {
	all, now := c.all(), w.now()
	w.denials.configure(all[nameDenials], now)
	w.cancels.configure(all[nameCancels], now)
	w.agentCancels.configure(all[nameAgentCancels], now)
	w.cards.configure(all[nameCards], now)
	w.probing.configure(all[nameProbing], now)
	w.openTasks.configure(all[nameOpenTasks], now)
	w.skills.configure(all[nameSkills], now)
}

// detectors are all of them, in the order of detectorNames.
func (w *Watch) detectors() []*detector {
	return []*detector{
		&w.denials.detector, &w.probing.detector, &w.skills.detector, &w.cards.detector,
		&w.cancels.detector, &w.agentCancels.detector, &w.openTasks.detector,
	}
}

// run ends anomalies that are over, and stores what is known. It is one goroutine for all detectors:
// what it does takes microseconds each second, and a write to the store each minute.
func (w *Watch) run() {
	defer close(w.done)
	settle, save := time.NewTicker(settleEvery), time.NewTicker(saveEvery)
	defer settle.Stop()
	defer save.Stop()
	for {
		select {
		case <-w.quit:
			return
		case <-settle.C:
			for _, d := range w.detectors() {
				d.settle(w.now())
			}
		case <-save.C:
			w.keep()
		}
	}
}

// keep saves what is known, and says why not.
func (w *Watch) keep() {
	if err := w.save(context.Background()); err != nil {
		w.options.Log.Warn("what is usual for callers cannot be stored", "error", err)
	}
}

// Close ends all anomalies and stores what is known.
func (w *Watch) Close() {
	if w == nil {
		return
	}
	w.closing.Do(func() {
		close(w.quit)
		<-w.done
		for _, d := range w.detectors() {
			d.stop(w.now())
		}
		w.keep()
	})
}

// Active lists what goes on now, by when it began.
func (w *Watch) Active() []Anomaly {
	if w == nil {
		return nil
	}
	var list []Anomaly
	for _, d := range w.detectors() {
		list = d.list(list)
	}
	slices.SortFunc(list, func(a, b Anomaly) int { return a.Since.Compare(b.Since) })
	return list
}

// now reads the clock once: the wall's time is that of the start, and what has passed since.
func (w *Watch) now() moment {
	since := time.Since(w.start)
	return moment{since: since, unix: w.start.Add(since).Unix()}
}

// key is who something is counted for. The seed of the hash is the process's own, so that nobody can
// look for a name that shares another caller's counts; two that do are counted as one.
type key struct {
	hash  uint64
	table int // 1 for addresses
}

// key is the name of a caller who has one, and otherwise the network of the address: a name is known
// to be somebody's, while an address costs nothing to change within its network.
func (w *Watch) key(c *Caller) key {
	if !c.named() {
		addr := ofAddress(c.Address).As16()
		return key{max(maphash.Bytes(w.seed, addr[:]), 1), 1}
	}
	return key{hash: w.pair(c.Issuer, c.Subject)}
}

// pair hashes two texts, in a time that a maphash.Hash takes to be made.
func (w *Watch) pair(a, b string) uint64 {
	const odd = 0x9e3779b97f4a7c15
	return max(maphash.String(w.seed, a)*odd^maphash.String(w.seed, b), 1)
}

func (w *Watch) keyOf(agent string) key { return key{hash: max(maphash.String(w.seed, agent), 1)} }

// task is the key of an agent's task.
func (w *Watch) task(agent, id string) uint64 { return w.pair(agent, id) }

// Observe is told of every finished call, and of the tasks that its message refers to.
//
// What counts for what: a refusal for denials, and where a task did not exist for probing too; a
// cancellation for the caller, and, unless the gateway refused it, for the agent whose tasks are
// ended; a skill that was allowed, or that the agent was called for, for the habits of a caller
// with a name. Calls of the gateway's own limits count for nothing: who is refused for being too
// fast is held back already.
func (w *Watch) Observe(e *telemetry.Exchange, references []string) {
	if w == nil {
		return
	}
	s := sighting{
		Caller: CallerOf(e.Principal, e.Issuer, e.AuthMethod, e.ClientIP),
		agent:  e.Agent, skill: e.Skill, now: w.now(),
	}
	if e.AuthMethod == methodWebhook {
		w.follow(e, &s) // an agent's call, in the name of whoever registered the webhook
		return
	}
	s.key = w.key(&s.Caller)
	if isDenial(e) {
		w.denials.see(&s)
		if e.Reason == wire.TaskNotFound.Reason {
			w.probing.see(w.sought(e, references), &s)
		}
	}
	if cancels(e.Method) && e.Reason != wire.RateLimited.Reason {
		w.cancels.see(&s)
		if e.Decision != decisionDeny {
			all := sighting{key: w.keyOf(e.Agent), agent: e.Agent, now: s.now}
			w.agentCancels.see(&all)
		}
	}
	if s.named() && e.Method != "" && (e.Decision == decisionAllow || e.UpstreamStatus != 0) {
		w.skills.see(&s)
	}
	w.follow(e, &s)
}

const (
	decisionAllow = "allow"
	decisionDeny  = "deny"
	methodWebhook = "webhook" // Exchange.AuthMethod of what agents deliver
)

// isDenial reports whether the gateway refused a call to who made it. A limit is no denial, nor is
// an extension that the client has not asked for: a program that was written badly is no attack.
func isDenial(e *telemetry.Exchange) bool {
	return e.Decision == decisionDeny && e.Reason != wire.RateLimited.Reason && e.Reason != wire.ExtensionRequired.Reason
}

// sought is the hash of the task that a call asked for in vain. Of several only one answer
// is had, which tells nothing of any one of them.
func (w *Watch) sought(e *telemetry.Exchange, references []string) uint64 {
	sum := w.task(e.Agent, e.TaskID)
	for _, id := range references {
		sum = sum*31 + w.task(e.Agent, id)
	}
	return sum
}

// follow is what becomes of the task that a call is about: one that is open counts for who sent the
// message, until any call or delivery shows that it has ended.
func (w *Watch) follow(e *telemetry.Exchange, s *sighting) {
	switch {
	case e.TaskID == "" || e.TaskState == "" || e.Decision == decisionDeny:
	case finished(e.TaskState):
		w.openTasks.finished(w.task(e.Agent, e.TaskID), s.now)
	case sends(e.Method):
		w.openTasks.see(w.task(e.Agent, e.TaskID), s)
	}
}

// sends reports whether a method of this name brings the agent a message.
func sends(method string) bool {
	m, ok := wire.Core(method)
	return ok && m.Sends()
}

// cancels reports whether a method of this name ends a task.
func cancels(method string) bool {
	m, ok := wire.Core(method)
	return ok && m.Cancels
}

func finished(state string) bool {
	switch state {
	case "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED":
		return true
	}
	return false
}

// CardDrift says that the card of an agent has changed, and in what.
func (w *Watch) CardDrift(agent, what string) {
	if w == nil {
		return
	}
	w.cards.see(&sighting{key: w.keyOf(agent), agent: agent, what: what, now: w.now()})
}

// CardSettled says that somebody has accepted the card of an agent as it is.
func (w *Watch) CardSettled(agent string) {
	if w == nil {
		return
	}
	w.cards.settled(w.keyOf(agent), w.now())
}

// Call is what is known of a call before it is asked whose its task is.
type Call struct {
	Caller Caller
	Method string
	Task   bool // it names the task that it is about
	Refers bool // it names others
}

// Check returns a *Throttled when the calls of a caller are refused for a while: all of
// them, or those of the kind that is unusual. A caller who asked for tasks of others may still do
// what names no task, and one who opened many may go on with those that there are.
func (w *Watch) Check(c *Call) error {
	if w == nil || w.holds.Load() == 0 {
		return nil
	}
	now, k := w.now(), w.key(&c.Caller)
	if after := w.denials.check(k, now); after > 0 {
		return &Throttled{nameDenials, after}
	}
	if c.Task || c.Refers {
		if after := w.probing.check(k, now); after > 0 {
			return &Throttled{nameProbing, after}
		}
	}
	if cancels(c.Method) {
		if after := w.cancels.check(k, now); after > 0 {
			return &Throttled{nameCancels, after}
		}
	}
	if !c.Task && sends(c.Method) {
		if after := w.openTasks.check(k, now); after > 0 {
			return &Throttled{nameOpenTasks, after}
		}
	}
	return nil
}

// CheckSkill is Check for the skill of an agent, once it is known.
func (w *Watch) CheckSkill(c Caller, agent, skill string) error {
	if w == nil || w.holds.Load() == 0 || !c.named() {
		return nil
	}
	if after := w.skills.check(w.key(&c), agent, skill, w.now()); after > 0 {
		return &Throttled{nameSkills, after}
	}
	return nil
}
