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
	// Buffer bounds what is kept of streams for clients who come back.
	Buffer Buffer `yaml:"buffer"`
	// Linger is how long an agent's stream is read on when its last client has gone, so
	// that one who comes back has missed nothing; default 30s, 0 for not at all.
	Linger *quantity.Duration `yaml:"linger"`
	// Retain is how long the events of a task are kept after its last client has gone or
	// the task has ended, whichever is later; default 5m.
	Retain quantity.Duration `yaml:"retain"`
	// Persist says whether events are written to the state as well, where other replicas
	// and the gateway's successor find them: "auto" (default: with the drivers sqlite
	// and redis) or "off".
	Persist string `yaml:"persist" jsonschema:"enum=auto,enum=off" reload:"restart"`
	// Resubscribe is how long another stream of the agent's is tried for when one has
	// broken while its task goes on; default 1m, 0 for not at all.
	Resubscribe *quantity.Duration `yaml:"resubscribe"`
	// Poll is the pause between two looks at a task whose agent cannot be subscribed to;
	// default 2s.
	Poll quantity.Duration `yaml:"poll"`
	// Grammar says what happens where an agent breaks a rule of what may be said of a task
	// (docs/streams.md lists them): "enforce" (default: events of another task or context,
	// and a task that waits for its user too often, end the stream; breaches of the other
	// rules are recorded and counted, and what breaks them is passed on), "strict" (a
	// breach of any rule ends the stream), "report" (none does) or "off" (nothing is
	// looked at).
	Grammar string `yaml:"grammar" jsonschema:"enum=enforce,enum=strict,enum=report,enum=off"`
	// Turns is how often a task may wait for its user, for input or to log in, in one
	// stream of the agent's, and how often it may change its context there; default 100.
	// The next time ends the stream, or is recorded, as grammar says.
	Turns int `yaml:"turns"`
	// Remember bounds what is remembered of tasks that have ended, to notice an agent that
	// goes on with one or alters its artifacts.
	Remember Remembered `yaml:"remember"`
	// CloseWait is how long an agent may take to close its stream once the task has ended.
	// What it sends until then is passed on, and has it wait as long again; default 5s.
	CloseWait quantity.Duration `yaml:"closeWait"`
	// PerPrincipal is how many streams one caller may have open; default 1000, 0 for any
	// number. Callers without a name differ by their addresses.
	PerPrincipal *int `yaml:"perPrincipal"`
	// Lifetime is how long one client's stream lasts before the client is told to come
	// back; default 24h, 0 for ever.
	Lifetime *quantity.Duration `yaml:"lifetime"`
}

// Remembered is `streams.remember:`.
type Remembered struct {
	// Tasks that are remembered; default 10000. Those that were not shown for longest go
	// first, of an agent that has more than half its own.
	Tasks int `yaml:"tasks"`
	// Bytes of answers that showed them, of which one is remembered up to 64KiB, and of what
	// is remembered of artifacts that agents post to webhooks; default 16MiB.
	Bytes quantity.Size `yaml:"bytes"`
}

// Buffer is `streams.buffer:`.
type Buffer struct {
	// Events that are kept of one task at most; default 256.
	Events int `yaml:"events"`
	// Bytes of them, with about 100 for what is kept beside each; default 64KiB. A larger
	// event is kept alone.
	Bytes quantity.Size `yaml:"bytes"`
	// Total is how many bytes are kept of all tasks; default 256MiB. Beyond it what has
	// no client goes first, longest unused before others; then the task of which most is
	// kept keeps only its newest event, and so on.
	Total quantity.Size `yaml:"total"`
	// Snapshot is how large a task may be, as its events make it, that is remembered for
	// clients who join its stream; default 256KiB. Of a larger one each gets a stream of
	// the agent's own.
	Snapshot quantity.Size `yaml:"snapshot"`
	// CatchUp is for how long a task's stream waits for one of its clients who is about to
	// fall behind what is kept while others are not: since that one took an event, and in
	// all, of which a second is forgotten in a minute. Then it is cut off. Default 500ms, 0
	// for not at all.
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
