package limits

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// limit is a Limit, compiled.
type limit struct {
	src     *Limit
	pos     int
	methods []*wire.Method // nil for any
	parts   []string       // of the key
	costs   costs
	bounds  []bound
	shadow  bool
}

// What a bound bounds; the words are those of the configuration.
const (
	// A token bucket: units that come back all the time.
	boundRate = "rate"
	// Units that all come back when the next span begins.
	boundQuota = "quota"
	// A place for as long as the call runs.
	boundConcurrency = "concurrency"
	// A place from the send that makes a task until the task is over.
	boundTasks = "openTasks"
)

// bound is one figure of a limit, with buckets of its own.
type bound struct {
	of     *limit
	what   string
	shown  string // name in headers
	prefix string // of its keys
	max    int64  // units or places at once
	units  int64  // in window; rate and quota
	window time.Duration
	per    string        // quota
	ttl    time.Duration // of places
}

// What places are held for. A gateway that is gone gives up its calls' places after
// holdTTL; callEvery leaves two tries to renew them.
const (
	holdTTL       = 60 * time.Second
	callEvery     = 20 * time.Second
	defaultForget = 24 * time.Hour
)

// compiler compiles limits for the agents and methods that there are.
type compiler struct {
	agents  []string
	names   map[string][]*wire.Method
	methods []*wire.Method
}

// limit compiles the limit at a place in the configuration. The error lists all that is wrong
// with what it names; what is wrong with the limit itself, Validate has found.
func (c *compiler) limit(pos int, src *Limit) (*limit, error) {
	m := &limit{src: src, pos: pos, parts: src.Key, shadow: src.Mode == modeShadow}
	if m.parts == nil {
		m.parts = []string{partPrincipal}
	}
	problems := c.unknownAgents(src.Agents)
	problems = append(problems, c.setMethods(m)...)
	problems = append(problems, c.setCosts(m)...)
	if problems == nil {
		problems = append(problems, m.reach(c.methods))
	}
	m.setBounds()
	return m, src.errors(pos, problems)
}

// unknownAgents describes the patterns that no configured agent fits: such a limit would
// never apply, which nobody means.
func (c *compiler) unknownAgents(patterns []string) []error {
	var problems []error
	for i, p := range patterns {
		if !slices.ContainsFunc(c.agents, func(a string) bool { return pattern.Match(p, a) }) {
			problems = append(problems, keypath.Point(fmt.Errorf("agents has %q, which is no configured agent", p), "agents", i))
		}
	}
	return problems
}

// setMethods looks the methods up by any name that they have had, as rules do.
func (c *compiler) setMethods(m *limit) []error {
	var problems []error
	for i, name := range m.src.Methods {
		list, ok := c.names[name]
		if !ok {
			problems = append(problems, keypath.Point(fmt.Errorf("method %q is not an A2A method", name), "methods", i))
		}
		m.methods = append(m.methods, list...)
	}
	if m.src.OpenTasks > 0 && problems == nil && m.methods != nil && !slices.ContainsFunc(m.methods, sends) {
		problems = append(problems, keypath.Point(errors.New("openTasks counts tasks that calls make, and none of its methods makes any"), "openTasks"))
	}
	return problems
}

// sends reports whether a method can make a task.
func sends(m *wire.Method) bool { return m != nil && m.Subject == wire.OfMessage }

// setCosts looks up the weights of methods. Two names of one method with two weights would
// leave it to chance which one counts.
func (c *compiler) setCosts(m *limit) []error {
	m.costs = costs{methods: map[*wire.Method]int64{}, skills: m.src.Cost.Skills}
	var problems []error
	for name, weight := range m.src.Cost.Methods {
		list, ok := c.names[name]
		if !ok {
			problems = append(problems, keypath.At(keypath.Point(fmt.Errorf("%q is not an A2A method", name), name), "cost", "methods"))
		}
		for _, method := range list {
			if _, twice := m.costs.methods[method]; twice {
				problems = append(problems, keypath.Point(fmt.Errorf("cost.methods has %s under two names", method.Name), "cost", "methods", name))
			}
			m.costs.methods[method] = weight
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) }) // not the order of a map
	return problems
}

// setBounds makes a bound of each figure that is set. What is left out has its default here:
// a rate is per second, a quota per day, and an open task is forgotten after a day.
func (m *limit) setBounds() {
	src := m.src
	if r := src.Rate; r != nil {
		m.bounds = append(m.bounds, bound{what: boundRate, max: r.burst(), units: r.Units, window: r.per()})
	}
	if q := src.Quota; q != nil {
		m.bounds = append(m.bounds, bound{what: boundQuota, max: q.Units, units: q.Units, per: cmp.Or(q.Per, perDay)})
	}
	if src.Concurrency > 0 {
		m.bounds = append(m.bounds, bound{what: boundConcurrency, max: src.Concurrency, ttl: holdTTL})
	}
	if src.OpenTasks > 0 {
		m.bounds = append(m.bounds, bound{what: boundTasks, max: src.OpenTasks, ttl: cmp.Or(src.Forget.Std(), defaultForget)})
	}
	for i := range m.bounds {
		b := &m.bounds[i]
		b.of, b.shown = m, src.Name
		if len(m.bounds) > 1 {
			b.shown += "/" + b.what // no name has a slash
		}
		// A limit with other figures goes on with its buckets, one that is counted by
		// something else does not.
		b.prefix = src.Name + "/" + b.what + b.per + "/" + strings.Join(m.parts, ",") + "/"
	}
}

// draw is what a call takes of the bound. Key and, for places, Holder and TTL are the
// caller's to set.
func (b *bound) draw(cost int64, now time.Time) state.Draw {
	d := state.Draw{Limit: b.max, Cost: cost, Soft: b.of.shadow}
	switch b.what {
	case boundRate:
		d.Kind, d.Refill, d.Period = state.Rate, b.units, b.window
	case boundQuota:
		d.Kind, d.Until = state.Quota, spanEnd(b.per, now)
	default:
		d.Kind, d.TTL = state.Hold, b.ttl
	}
	return d
}

// The spans of quotas.
const (
	perHour  = "hour"
	perDay   = "day"
	perWeek  = "week"
	perMonth = "month"
)

// spanEnd is the end of the span that a moment is in.
func spanEnd(per string, now time.Time) time.Time {
	now = now.UTC()
	year, month, day := now.Date()
	switch per {
	case perHour:
		return now.Truncate(time.Hour).Add(time.Hour)
	case perWeek:
		day += 7 - (int(now.Weekday())+6)%7
	case perMonth:
		month, day = month+1, 1
	default:
		day++
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// span is how long the quota's span is that a moment is in.
func (b *bound) span(now time.Time) time.Duration {
	switch b.per {
	case perHour:
		return time.Hour
	case perWeek:
		return 7 * day
	case perMonth:
		end := spanEnd(perMonth, now)
		return end.Sub(end.AddDate(0, -1, 0))
	}
	return day
}

// day is one of UTC, which has no summer time.
const day = 24 * time.Hour

// compile reads all limits, and lists those of each agent.
func (l *Limiter) compile(c Config, o *Options) error {
	k := &compiler{agents: o.Agents, names: wire.Named(o.Methods)}
	core := wire.Methods()
	for i := range core {
		k.methods = append(k.methods, &core[i])
	}
	k.methods = append(k.methods, o.Methods...)
	var errs []error
	for i := range c.Each {
		m, err := k.limit(i, &c.Each[i])
		errs = append(errs, err)
		l.limits = append(l.limits, m)
	}
	for _, agent := range o.Agents {
		l.agents[agent] = l.of(agent)
	}
	return errors.Join(errs...)
}

// agent is what applies to calls on one agent, its other conditions aside.
type agent struct {
	limits []*limit
	tasks  []*bound // of all of them, those that count open tasks
}

// of lists what applies to calls on an agent, so that a call asks no other limits.
func (l *Limiter) of(id string) *agent {
	a := &agent{}
	for _, m := range l.limits {
		if !pattern.Any(m.src.Agents, id) {
			continue
		}
		a.limits = append(a.limits, m)
		for i := range m.bounds {
			if m.bounds[i].what == boundTasks {
				a.tasks = append(a.tasks, &m.bounds[i])
			}
		}
	}
	return a
}
