package metrics

import (
	"iter"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Values of a label that stand for what has no name of its own.
const (
	labelOther = "other" // a value from outside the closed set
	labelNone  = "none"  // no value
)

// Labels are the closed sets that come from the configuration.
type Labels struct {
	Agents    []string // configured agent ids
	Rules     []string // names of policy rules, and of what decides where none does
	URIs      []string // registered extension URIs
	Methods   []string // names of the methods that extensions bring
	Providers []string // issuers and schemes, as authn reports them

	Limits      []string // names of limits
	Authorizers []string // names of authorizers
	Guards      []string // names of guards
	Domains     []string // names that certificates are ordered for
}

// labelSet is Labels made ready for counting. It is immutable but for the
// children that are made on first use. A call that counts while the sets are replaced
// counts in those that it found: the children that stay are shared by both.
type labelSet struct {
	agents    map[string]*agentSeries
	methods   map[string]bool // those of extensions; A2A's are in coreMethods
	rules     map[string]*ruleSeries
	uris      map[string]*uriSeries
	providers map[string]bool

	limits, authorizers, guards, domains map[string]bool
}

// series are those of all agents and methods that had calls.
func (s *labelSet) series() iter.Seq[*callSeries] {
	return func(yield func(*callSeries) bool) {
		for _, agent := range s.agents {
			for i := range agent.calls {
				if c := agent.calls[i].Load(); c != nil && !yield(c) {
					return
				}
			}
			for _, cell := range agent.extra {
				if c := cell.Load(); c != nil && !yield(c) {
					return
				}
			}
		}
	}
}

// counterCell and observerCell hold a child of a vector once it was needed:
// finding it through the vector costs ten times as much as using it.
type (
	counterCell  = atomic.Pointer[prometheus.Counter]
	observerCell = atomic.Pointer[prometheus.Observer]
	callCell     = atomic.Pointer[callSeries]
)

// agentSeries are the children of one agent.
type agentSeries struct {
	id    string
	calls []callCell           // by index of coreMethods
	extra map[string]*callCell // by name of an extension's method

	states []counterCell // by index of taskStateLabels
}

// ruleSeries are the children of one rule, uriSeries those of one extension.
type (
	ruleSeries struct {
		decisions [len(decisionNames)]counterCell
	}
	uriSeries struct {
		results [len(resultNames)]counterCell
		faults  [len(faultNames)][2]counterCell // reported, enforced
	}
)

// labelSets are the closed sets in force, which all topics share.
type labelSets struct {
	atomic.Pointer[labelSet]

	setting sync.Mutex // held while they are replaced, and the series of what is gone removed
}

// replace puts the sets of l in force and gives the old ones and the new. The caller holds
// setting.
func (s *labelSets) replace(l Labels) (old, next *labelSet) {
	if old = s.Load(); old == nil {
		old = &labelSet{}
	}
	next = &labelSet{
		agents: series(old.agents, l.Agents, func(id string) *agentSeries {
			return &agentSeries{
				id: id, calls: make([]callCell, len(coreMethods)), states: make([]counterCell, len(taskStateLabels)),
			}
		}),
		methods:   make(map[string]bool, len(l.Methods)),
		rules:     series(old.rules, l.Rules, func(string) *ruleSeries { return new(ruleSeries) }),
		uris:      series(old.uris, l.URIs, func(string) *uriSeries { return new(uriSeries) }),
		providers: map[string]bool{labelNone: true},
	}
	for _, p := range l.Providers {
		next.providers[p] = true
	}
	next.limits, next.authorizers, next.guards, next.domains = named(l.Limits), named(l.Authorizers), named(l.Guards), named(l.Domains)
	next.addMethods(l.Methods)
	s.Store(next)
	return old, next
}

// series makes the map of a closed set, with "other" and "none", reusing what
// the old one had.
func series[T any](old map[string]*T, names []string, fresh func(string) *T) map[string]*T {
	set := make(map[string]*T, len(names)+2)
	for _, name := range append([]string{labelOther, labelNone}, names...) {
		if s, ok := old[name]; ok {
			set[name] = s
		} else if _, ok := set[name]; !ok {
			set[name] = fresh(name)
		}
	}
	return set
}

// addMethods gives every agent a cell for each of the extensions' methods. Agents
// that the old set has too are copied for it, calls that are counted meanwhile read
// their maps; the cells of methods that stay go over.
func (s *labelSet) addMethods(names []string) {
	for _, name := range names {
		if _, core := coreMethods[name]; !core {
			s.methods[name] = true
		}
	}
	for id, a := range s.agents {
		fresh := &agentSeries{
			id: a.id, calls: a.calls, states: a.states, extra: make(map[string]*callCell, len(s.methods)),
		}
		for name := range s.methods {
			if fresh.extra[name] = a.extra[name]; fresh.extra[name] == nil {
				fresh.extra[name] = new(callCell)
			}
		}
		s.agents[id] = fresh
	}
}

// gone are the names that are in the old set only.
func gone[T any](old, next map[string]T) []string {
	var left []string
	for name := range old {
		if _, stays := next[name]; !stays {
			left = append(left, name)
		}
	}
	return left
}

// bounded finds the series of a value: its own, or that of "none" or "other".
func bounded[T any](set map[string]*T, value string) *T {
	if value == "" {
		return set[labelNone]
	}
	if s, ok := set[value]; ok {
		return s
	}
	return set[labelOther]
}

// coreMethods numbers the values of the method label that are always there: A2A's
// own, none, other, and what is no call.
var coreMethods = indexMethods()

// indexMethods takes the names from the table of methods, so that one which is added there is counted
// under its name.
func indexMethods() map[string]int {
	methods := wire.Methods()
	index := make(map[string]int, len(methods)+3)
	for i := range methods {
		index[methods[i].Name] = i
	}
	index[labelNone] = len(methods)
	index[labelOther] = len(methods) + 1
	index["PushNotification"] = len(methods) + 2 // what agents deliver to be relayed
	return index
}

// method bounds a method name.
func (s *labelSet) method(name string) string {
	if name == "" {
		return labelNone
	}
	if _, core := coreMethods[name]; core || s.methods[name] {
		return name
	}
	return labelOther
}

// cell bounds a method name and finds where its children are kept.
func (a *agentSeries) cell(method string) (string, *callCell) {
	if method == "" {
		method = labelNone
	}
	if i, ok := coreMethods[method]; ok {
		return method, &a.calls[i]
	}
	if c, ok := a.extra[method]; ok {
		return method, c
	}
	return labelOther, &a.calls[coreMethods[labelOther]]
}

// member is the label that bounded chose the series for.
func member[T any](set map[string]T, value string) string {
	if value == "" {
		return labelNone
	}
	if _, ok := set[value]; ok {
		return value
	}
	return labelOther
}

// agent is the label of an agent.
func (s *labelSets) agent(id string) string { return member(s.Load().agents, id) }

// named is a closed set of names.
func named(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
