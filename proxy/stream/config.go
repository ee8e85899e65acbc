package stream

import (
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
)

// Config is the `streams:` section.
type Config struct {
	// Buffer limits what the gateway keeps of streams for clients that come back.
	Buffer Buffer `yaml:"buffer"`
	// Linger is how long the gateway keeps reading an agent's stream after its last client has
	// gone. A client that comes back in this time has missed nothing. Default 30s, 0 for not at
	// all.
	Linger *quantity.Duration `yaml:"linger"`
	// Retain is how long the gateway keeps the events of a task. The time begins when its last
	// client has gone or the task has ended, whichever is later. Default 5m.
	Retain quantity.Duration `yaml:"retain"`
	// Persist says whether the gateway also writes events to the state store: "auto" (default:
	// with the drivers sqlite and redis) or "off". Other replicas and a restarted gateway find
	// them there.
	Persist string `yaml:"persist" jsonschema:"enum=auto,enum=off" reload:"restart"`
	// Resubscribe is how long the gateway tries to reconnect a stream that broke before its task
	// ended. Default 1m, 0 for not at all.
	Resubscribe *quantity.Duration `yaml:"resubscribe"`
	// Poll is the pause between two polls of a task that the gateway cannot subscribe to at the
	// agent; default 2s.
	Poll quantity.Duration `yaml:"poll"`
	// Grammar says what the gateway does when an agent breaks a rule about the events of a task
	// (docs/streams.md lists the rules). "enforce" (default) ends the stream for events of another
	// task or context, and for a task that waits for its user too often. It records and counts
	// breaches of the other rules, and passes the events on. "strict" ends the stream at a breach
	// of any rule, "report" at none. "off" checks nothing.
	Grammar string `yaml:"grammar" jsonschema:"enum=enforce,enum=strict,enum=report,enum=off"`
	// Turns is how often a task may wait for its user, for input or to log in, in one stream of
	// the agent. The task may change its context there as often. Default 100. The next time, the
	// gateway ends the stream or records it, as grammar says.
	Turns int `yaml:"turns"`
	// Remember limits what the gateway remembers of tasks that have ended, to notice an agent that
	// continues one or alters its artifacts.
	Remember Remembered `yaml:"remember"`
	// CloseWait is how long an agent may take to close its stream once the task has ended. The
	// gateway passes on what the agent sends until then, and waits as long again; default 5s.
	CloseWait quantity.Duration `yaml:"closeWait"`
	// PerPrincipal is how many streams one caller may have open; default 1000, 0 for any number.
	// The gateway counts callers without a name by their addresses.
	PerPrincipal *int `yaml:"perPrincipal"`
	// Lifetime is how long one client's stream lasts before the gateway tells the client to
	// reconnect; default 24h, 0 for ever.
	Lifetime *quantity.Duration `yaml:"lifetime"`
}

// Remembered is `streams.remember:`.
type Remembered struct {
	// Tasks that the gateway remembers after their end; default 10000. Above that, it forgets
	// those not shown for longest; if one agent has more than half, that agent's.
	Tasks int `yaml:"tasks"`
	// Bytes of the answers that showed ended tasks, up to 64KiB of each, and of what the gateway
	// remembers of artifacts posted to webhooks; default 16MiB.
	Bytes quantity.Size `yaml:"bytes"`
}

// Buffer is `streams.buffer:`.
type Buffer struct {
	// Events that the gateway keeps of one task at most; default 256.
	Events int `yaml:"events"`
	// Bytes of the events that the gateway keeps of one task, counting about 100 more for each;
	// default 64KiB. It keeps a larger event alone.
	Bytes quantity.Size `yaml:"bytes"`
	// Total is how many bytes the gateway keeps of all tasks; default 256MiB. Above that, it
	// evicts tasks without clients first, the least recently used before others. Then it keeps
	// only the newest event of the task that takes most, and so on.
	Total quantity.Size `yaml:"total"`
	// Snapshot is how large a task may be, as its events make it, that the gateway remembers for
	// clients that join its stream; default 256KiB. For a larger task, each client gets a separate
	// stream of the agent.
	Snapshot quantity.Size `yaml:"snapshot"`
	// CatchUp is how long a task's stream waits for a slow client that is about to miss events,
	// while other clients keep up. It limits the time since the client took an event. It also
	// limits all waits for the client together, of which the gateway forgets a second each minute.
	// Then the gateway cuts the client off. Default 500ms, 0 for not at all.
	CatchUp *quantity.Duration `yaml:"catchUp"`
}

// The words of a configuration.
const (
	persistAuto = "auto"
	persistOff  = "off"

	grammarEnforce = "enforce"
	grammarStrict  = "strict"
	grammarReport  = "report"
	grammarOff     = "off"
)

// Persists reports whether events are written to a state that can be shared or
// survives a restart.
func (c Config) Persists() bool { return c.Persist != persistOff }

// Enforces reports whether a breach of a rule, one of the errors of a Grammar, ends its
// stream.
func (c Config) Enforces(rule error) bool {
	switch c.Grammar {
	case grammarStrict:
		return true
	case grammarReport, grammarOff:
		return false
	}
	r, ok := grammar.RuleOf(rule)
	return !ok || r.Enforced
}

// Reports reports whether the order of events is looked at, if only to record it.
func (c Config) Reports() bool { return c.Grammar != grammarOff }

// Defaults fills in what is not set, as the fields say.
func (c *Config) Defaults() {
	fill(&c.Buffer.Events, 256)
	fill(&c.Buffer.Bytes, 64<<10)
	fill(&c.Buffer.Total, 256<<20)
	fill(&c.Buffer.Snapshot, 256<<10)
	unless(&c.Buffer.CatchUp, quantity.Duration(500*time.Millisecond))
	unless(&c.Linger, quantity.Duration(30*time.Second))
	fill(&c.Retain, quantity.Duration(5*time.Minute))
	fill(&c.Persist, persistAuto)
	unless(&c.Resubscribe, quantity.Duration(time.Minute))
	fill(&c.Poll, quantity.Duration(2*time.Second))
	fill(&c.Grammar, grammarEnforce)
	fill(&c.Turns, grammar.DefaultTurns)
	fill(&c.Remember.Tasks, 10_000)
	fill(&c.Remember.Bytes, 16<<20)
	fill(&c.CloseWait, quantity.Duration(5*time.Second))
	unless(&c.PerPrincipal, 1000)
	unless(&c.Lifetime, quantity.Duration(24*time.Hour))
}

// Bounds of figures: a log is read as a whole, and clocks of replicas differ.
const (
	maxEvents = 100_000
	maxBytes  = 64 << 20
	minPoll   = 100 * time.Millisecond

	minCloseWait = 10 * time.Millisecond
)

// Validate reports what cannot work, naming the key.
//
// Defaults are filled in on a copy, so that only what is written can be wrong.
func (c Config) Validate() error {
	c.Defaults()
	var errs []error
	add := func(wrong bool, key keypath.Path, format string, args ...any) {
		if wrong {
			errs = append(errs, keypath.At(fmt.Errorf(format, args...), key))
		}
	}
	b := c.Buffer
	add(b.Events < 1 || b.Events > maxEvents, keypath.Of("buffer", "events"), "%d is not within 1 and %d", b.Events, maxEvents)
	add(b.Bytes > maxBytes, keypath.Of("buffer", "bytes"), "%s is more than %s", b.Bytes, quantity.Size(maxBytes))
	add(b.Total < b.Bytes, keypath.Of("buffer", "total"), "%s is less than buffer.bytes, %s", b.Total, b.Bytes)
	add(b.Total < b.Snapshot, keypath.Of("buffer", "total"), "%s is less than buffer.snapshot, %s", b.Total, b.Snapshot)
	add(c.Persist != persistAuto && c.Persist != persistOff, keypath.Of("persist"), "%q is not one of auto, off", c.Persist)
	add(c.Grammar != grammarEnforce && c.Grammar != grammarStrict && c.Grammar != grammarReport && c.Grammar != grammarOff,
		keypath.Of("grammar"), "%q is not one of enforce, strict, report, off", c.Grammar)
	add(c.Poll.Std() < minPoll, keypath.Of("poll"), "%s is less than %s", c.Poll, minPoll)
	add(c.Turns < 1, keypath.Of("turns"), "%d is less than 1", c.Turns)
	add(c.Remember.Tasks < 1, keypath.Of("remember", "tasks"), "%d is less than 1", c.Remember.Tasks)
	add(c.CloseWait.Std() < minCloseWait, keypath.Of("closeWait"), "%s is less than %s", c.CloseWait, minCloseWait)
	add(*c.PerPrincipal < 0, keypath.Of("perPrincipal"), "%d is less than 0", *c.PerPrincipal)
	return errors.Join(errs...)
}

// fill sets what is still its zero value.
func fill[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// unless sets what nobody has set; 0 may have been.
func unless[T any](v **T, def T) {
	if *v == nil {
		*v = &def
	}
}
