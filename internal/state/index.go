package state

import "sync"

// indexes is how many locks the memory driver spreads its agents over.
const indexes = 32

// stretch keeps a list that passes by very many tasks from holding a lock for
// more than about a millisecond at a time.
const stretch = 4096

// index finds the tasks of an owner, of a tenant or of all on one agent without
// looking at anybody else's. It costs no memory per task, as the links lie in the
// entries, and about 140 bytes for each owner that has tasks on an agent.
//
// A claim adds to the index before it unlocks its shard, so that a task is listed
// as soon as anybody can know of it. Who holds a shard may lock an index, never
// the other way round.
type index struct {
	mu     sync.Mutex
	agents map[string]*library
	// stretch is how many tasks are looked at before others are let in.
	stretch int
	_       [40]byte // keeps neighbours' locks off this cache line
}

// library is the tasks on one agent. It is dropped with the last of them.
type library struct {
	owners, tenants map[string]*shelf // the first shelf of each
	all             *shelf
}

// axis is one of the orders in which shelves stand. In each, those with the
// latest tasks come first, so that a list of n tasks opens n shelves or so.
type axis int

const (
	byOwner axis = iota
	byTenant
	byAgent
	axes
)

// shelf is the tasks of one owner in one tenant on one agent.
type shelf struct {
	owner, tenant string
	newest        *entry // never nil outside the lock
	latest        int64  // when the newest that ever stood here was created
	prev, next    [axes]*shelf
}

// add puts a task where it belongs.
func (x *index) add(agent string, e *entry) {
	o := e.origin.Value()
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.agents[agent]
	if l == nil {
		l = &library{owners: make(map[string]*shelf), tenants: make(map[string]*shelf)}
		x.agents[agent] = l
	}
	s := l.find(o.owner, o.tenant)
	if s == nil {
		s = &shelf{owner: o.owner, tenant: o.tenant, latest: e.created}
		for a := range axes {
			l.place(a, s)
		}
	} else {
		l.raise(s, e.created)
	}
	s.put(e)
}

// remove takes a task away, and with it whatever it leaves empty.
func (x *index) remove(agent string, e *entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e.older != nil {
		e.older.newer = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
		return
	}
	o := e.origin.Value()
	l := x.agents[agent]
	s := l.find(o.owner, o.tenant)
	s.newest = e.older
	if s.newest == nil {
		for a := range axes {
			l.displace(a, s)
		}
	}
	if l.all == nil {
		delete(x.agents, agent)
	}
}

// find returns the shelf of an owner in a tenant. An owner is nearly always in
// one tenant only.
func (l *library) find(owner, tenant string) *shelf {
	s := l.owners[owner]
	for s != nil && s.tenant != tenant {
		s = s.next[byOwner]
	}
	return s
}

// raise notes when the newest task of a shelf was created and moves the shelf
// ahead of those that it thereby overtakes.
func (l *library) raise(s *shelf, created int64) {
	s.latest = max(s.latest, created)
	for a := range axes {
		if prev := s.prev[a]; prev != nil && prev.latest < s.latest {
			l.displace(a, s)
			l.place(a, s)
		}
	}
}

// place inserts a shelf on an axis.
func (l *library) place(a axis, s *shelf) {
	var prev *shelf
	next := l.first(a, s)
	for next != nil && next.latest > s.latest {
		prev, next = next, next.next[a]
	}
	s.prev[a], s.next[a] = prev, next
	if next != nil {
		next.prev[a] = s
	}
	if prev != nil {
		prev.next[a] = s
	} else {
		l.setFirst(a, s, s)
	}
}

// displace removes a shelf from an axis.
func (l *library) displace(a axis, s *shelf) {
	prev, next := s.prev[a], s.next[a]
	if next != nil {
		next.prev[a] = prev
	}
	if prev != nil {
		prev.next[a] = next
	} else {
		l.setFirst(a, s, next)
	}
}

// first is the shelf that comes first on an axis of s.
func (l *library) first(a axis, s *shelf) *shelf {
	switch a {
	case byOwner:
		return l.owners[s.owner]
	case byTenant:
		return l.tenants[s.tenant]
	}
	return l.all
}

// setFirst makes first the first shelf on an axis of s.
func (l *library) setFirst(a axis, s, first *shelf) {
	heads, name := l.owners, s.owner
	switch a {
	case byTenant:
		heads, name = l.tenants, s.tenant
	case byAgent:
		l.all = first
		return
	}
	if first == nil {
		delete(heads, name)
		return
	}
	heads[name] = first
}

// put inserts a task among the others of its shelf. It nearly always is the
// newest; it passes those of its own nanosecond, and what is younger than it since
// the clock was set back.
func (s *shelf) put(e *entry) {
	var newer *entry
	older := s.newest
	for older != nil && older.before(e) {
		newer, older = older, older.older
	}
	e.newer, e.older = newer, older
	if older != nil {
		older.newer = e
	}
	if newer != nil {
		newer.older = e
	} else {
		s.newest = e
	}
}
