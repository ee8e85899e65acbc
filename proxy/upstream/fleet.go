package upstream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/discovery"
)

// fleet is the instances of one agent: which there are, how they are, and which of
// them gets a call.
//
// Calls read the current set by one atomic load and take no lock. The mutex is for changes:
// sources that find, checks that begin, ejections.
type fleet struct {
	Load
	dialer      *dialer
	connections int
	sources     []discovery.Source
	o           Options
	byTask      bool
	byContext   bool
	budget      budget
	trouble     *trouble // of the agent's calls

	set atomic.Pointer[set]

	mu     sync.Mutex
	found  [][]discovery.Instance // by source; nil for one that has not said anything
	ctx    context.Context        //nolint:containedctx // of Run: checks of instances that are found later end with it
	checks sync.WaitGroup
	known  chan struct{} // closed once every source has said something
	shut   bool
}

// set is the instances of one moment. It never changes.
type set struct {
	all   []*instance // by address
	names map[string]*instance
	sums  []float64 // of weights up to and with each; nil where all are alike
}

var nobody = &set{}

// newFleet makes the fleet of an agent with instances.
// Static instances are there when it returns; others come with run, and calls before that are
// *Unavailable.
func newFleet(l Load, d *dialer, connections int, o Options) (*fleet, error) {
	f := &fleet{
		Load: l, dialer: d, connections: connections, o: o, budget: budget{percent: int64(l.Retry.Budget)},
		byTask:    slices.Contains(l.Affinity.By, byTask),
		byContext: slices.Contains(l.Affinity.By, byContext),
		found:     make([][]discovery.Instance, len(l.Instances)), known: make(chan struct{}),
	}
	f.set.Store(nobody)
	over, end := context.WithCancel(context.Background())
	end()
	for n, entry := range l.Instances {
		source, err := entry.source(discovery.Options{Logger: o.Log})
		if err != nil {
			return nil, fmt.Errorf("load.instances[%d]: %w", n, err)
		}
		f.sources = append(f.sources, source)
		if len(entry.Static) > 0 { // there is no need to wait for what is written down
			source.Run(over, func(list []discovery.Instance) { f.find(n, list) })
		}
	}
	return f, nil
}

// run finds instances and checks them until ctx ends.
func (f *fleet) run(ctx context.Context) {
	f.mu.Lock()
	f.ctx = ctx
	for _, i := range f.set.Load().all {
		f.check(i)
	}
	f.mu.Unlock()
	var all sync.WaitGroup
	for n, source := range f.sources {
		all.Go(func() { source.Run(ctx, func(list []discovery.Instance) { f.find(n, list) }) })
	}
	all.Wait()
	f.mu.Lock()
	f.shut = true
	f.mu.Unlock()
	f.checks.Wait()
}

// find takes over what a source has found. Instances that stay keep what is known of
// them, and their connections.
//
// The instances of several sources count together; of an address that two of them name the first
// counts.
func (f *fleet) find(source int, list []discovery.Instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if list == nil {
		list = []discovery.Instance{}
	}
	f.found[source] = list
	old, next := f.set.Load(), &set{names: map[string]*instance{}}
	for _, found := range f.found {
		for _, one := range found {
			if next.names[one.Address] != nil {
				continue
			}
			i := f.keep(old, one)
			next.all, next.names[one.Address] = append(next.all, i), i
		}
	}
	next.weigh()
	f.set.Store(next)
	for address, i := range old.names {
		if next.names[address] != i {
			i.stop()
			i.idle() // calls in flight go on; their connections end with them or soon after
		}
	}
	if !slices.ContainsFunc(f.found, func(l []discovery.Instance) bool { return l == nil }) {
		select {
		case <-f.known:
		default:
			close(f.known)
		}
	}
}

// keep returns an instance that is there already, or a new one. Those that come later
// than the first start slowly.
func (f *fleet) keep(old *set, found discovery.Instance) *instance {
	if i := old.names[found.Address]; i != nil && i.weight == float64(max(found.Weight, 1)) {
		return i
	}
	i := newInstance(f.dialer, found, &f.Load, f.connections)
	if len(old.all) > 0 {
		i.since.Store(time.Now().UnixNano())
	}
	f.check(i)
	return i
}

// weigh prepares the choice by weights.
func (s *set) weigh() {
	slices.SortFunc(s.all, func(a, b *instance) int { return strings.Compare(a.address, b.address) })
	sum, alike := 0.0, true
	sums := make([]float64, 0, len(s.all))
	for _, i := range s.all {
		sum += i.weight
		sums, alike = append(sums, sum), alike && i.weight == s.all[0].weight
	}
	if !alike {
		s.sums = sums
	}
}

// available reports whether an instance may have new calls.
func (f *fleet) available(i *instance, now int64) bool {
	return i.well(now) && f.hasRoom(i)
}

// hasRoom reports whether load.connections lets the instance have one more call.
func (f *fleet) hasRoom(i *instance) bool {
	return f.Connections == 0 || i.calls.Load() < int64(f.Connections)
}

// heard takes over what a call, which began in an era of the circuit, says of an
// instance: whose it was, what became of it, and the status of the answer, 0 for none. It
// reports whether the call went well.
//
// An answer with a status that counts ejects nobody by itself where all of them are to one
// caller and others call as well: an agent with a bug in one call is there for others.
func (f *fleet) heard(i *instance, era, who uint64, what outcome, status int) bool {
	now := time.Now().UnixNano()
	i.circuit.leave(era, now, what)
	counts := what == failed && status == 0 || f.Ejection.counts(status)
	switch {
	case what == well && !counts:
		i.row.over()
	case counts && !f.Ejection.Off:
		within := f.Ejection.Within.Std()
		i.row.add(who, now, within)
		if i.row.n.Load() >= int64(f.Ejection.Failures) && (what == failed || i.row.shared() || i.callers.single(now, within)) {
			f.eject(i, now)
		}
	}
	return what == well && !counts
}

// mostEjections bounds how often the time that an instance is out doubles.
const mostEjections = 10

// eject leaves an instance alone for a while (outlier ejection), if enough others are left.
//
// It does nothing where the instance is the last, or as many are out as load.ejection.most
// permits: all failing at once is no fault of instances.
func (f *fleet) eject(i *instance, now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, out := f.set.Load().all, 0
	for _, other := range all {
		if other.ejected.Load() > now {
			out++
		}
	}
	if i.ejected.Load() > now || len(all) < 2 || out >= max(1, len(all)*f.Ejection.Most/100) {
		return
	}
	first := f.Ejection.For.Std()
	last := min(first<<max(i.times-1, 0), mostEjections*first)
	if i.times > 0 && now-i.ejected.Load() > int64(last) {
		i.times = 0 // it has been in for as long as it was out
	}
	i.ejected.Store(now + int64(min(first<<min(i.times, 8), mostEjections*first)))
	i.times++
	i.ejections.Add(1)
	i.row.over()
	if f.o.Ejected != nil {
		f.o.Ejected(i.address)
	}
	if f.o.Log != nil {
		f.o.Log.Warn("instance ejected: it fails calls", "instance", i.address,
			"for", time.Duration(i.ejected.Load()-now).String())
	}
}

// idle drops connections that nobody uses.
func (f *fleet) idle() {
	for _, i := range f.set.Load().all {
		i.idle()
	}
}
