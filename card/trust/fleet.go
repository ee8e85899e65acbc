package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
)

// Fleet knows what the cards in force are called, so that no agent passes for another.
// The zero Fleet is empty. It is safe for concurrent use.
// One is shared by the judges of all agents. Its memory is of this process only: what other
// replicas let into force is found in the state, and what is in force nowhere is not compared with.
type Fleet struct {
	mu     sync.Mutex
	agents map[string]identity
	// By name and by skill, the ids of the agents that have it, sorted: with thousands of
	// agents, each card is compared with those it meets and not with all.
	names, skills map[string][]string

	kept   map[string]struct{} // those there are, as Keep was told
	unread map[string]struct{} // those of them that may have a standing card, and are not in agents

	looking *recollection // at the cards of unread; nil while nobody is
}

// identity is what callers find an agent by. Neither its id nor its address is part of it: those are
// the operator's, and an agent cannot choose them.
type identity struct {
	name   string // as lint.Fold has it
	skills []string
}

// identify is what others could take an agent for: its name, however it is spelled to look the same,
// and its skills.
func identify(p *profile) identity {
	return identity{lint.Fold(p.texts["name"]), slices.Sorted(maps.Keys(p.skills))}
}

// Keep says which agents there are: others are forgotten. What agents that are new here
// were called before is read from the Book when somebody has to know, so that Keep is to be
// called before they are judged.
// It is called when the configuration is loaded and whenever agents come or go.
func (f *Fleet) Keep(ids []string) {
	kept := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		kept[id] = struct{}{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := func(id string) bool {
		_, ok := kept[id]
		return !ok
	}
	for id := range f.agents {
		if gone(id) {
			f.forget(id)
		}
	}
	if f.unread == nil {
		f.unread = map[string]struct{}{}
	}
	maps.DeleteFunc(f.unread, func(id string, _ struct{}) bool { return gone(id) })
	for id := range kept {
		_, before := f.kept[id]
		if _, known := f.agents[id]; !before && !known {
			f.unread[id] = struct{}{}
		}
	}
	f.kept = kept
}

// set notes what an agent is called by the card in force, without a look at others: it is in force,
// whoever has the same name.
func (f *Fleet) set(agent string, i identity) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(agent, i)
}

// drop notes that no card of an agent is in force. Its name is free for others then.
func (f *Fleet) drop(agent string) { f.set(agent, identity{}) }

// claim is set for a card that is about to come into force, unless it has what is forbidden:
// of two that come at once with one name, one gets it. taken is as of collisions. back puts
// back what was there before, for a card that did not come into force.
// Looking and putting are one step under the mutex: between two steps another judge could put the
// same name.
func (f *Fleet) claim(agent string, old, new *profile, forbids func(Change) bool) (taken []Change, back func()) {
	was, is := differing(old, new)
	f.mu.Lock()
	defer f.mu.Unlock()
	if taken = f.meet(agent, was, is); slices.ContainsFunc(taken, forbids) {
		return taken, func() {}
	}
	before, known := f.agents[agent]
	_, unread := f.unread[agent]
	f.put(agent, is)
	return taken, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.forget(agent)
		if known {
			f.put(agent, before)
		}
		if _, kept := f.kept[agent]; unread && kept {
			f.unread[agent] = struct{}{}
		}
	}
}

// put is set. f.mu is held, here as below.
func (f *Fleet) put(agent string, i identity) {
	if f.agents == nil {
		f.agents, f.names, f.skills = map[string]identity{}, map[string][]string{}, map[string][]string{}
	}
	f.forget(agent)
	delete(f.unread, agent)
	// An agent whose card has neither collides with nobody.
	if i.name == "" && len(i.skills) == 0 {
		return
	}
	f.agents[agent] = i
	if i.name != "" {
		enter(f.names, i.name, agent)
	}
	for _, skill := range i.skills {
		enter(f.skills, skill, agent)
	}
}

// forget takes an agent out of all three indexes, by what it was called.
func (f *Fleet) forget(agent string) {
	i := f.agents[agent]
	delete(f.agents, agent)
	leave(f.names, i.name, agent)
	for _, skill := range i.skills {
		leave(f.skills, skill, agent)
	}
}

// enter notes that an agent has a name or a skill. Lists are sorted, so that what is told of
// collisions is the same on every replica.
func enter(index map[string][]string, key, agent string) {
	at, found := slices.BinarySearch(index[key], agent)
	if !found {
		index[key] = slices.Insert(index[key], at, agent)
	}
}

// leave takes that back, and leaves no empty entry behind.
func leave(index map[string][]string, key, agent string) {
	at, found := slices.BinarySearch(index[key], agent)
	switch {
	case !found:
	case len(index[key]) == 1:
		delete(index, key)
	default:
		index[key] = slices.Delete(index[key], at, at+1)
	}
}

// collisions are what an agent's card has that another agent's has. old is the card before
// it, nil for none: what was the same there already is nobody's news.
func (f *Fleet) collisions(agent string, old, new *profile) []Change {
	was, is := differing(old, new)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.meet(agent, was, is)
}

// differing are an agent's identities by two cards; the first is empty for an agent without one.
func differing(old, new *profile) (was, is identity) {
	if old != nil {
		was = identify(old)
	}
	return was, identify(new)
}

// meet is collisions. f.mu is held.
// A name that the agent had before is not told again with each change of its card.
func (f *Fleet) meet(agent string, was, is identity) []Change {
	var l changes
	if is.name != "" && is.name != was.name {
		named, more := others(f.names[is.name], agent)
		for _, id := range named {
			l.add(Change{Kind: nameTaken, Severity: Danger, Subject: id, Text: "the name looks like that of agent"})
		}
		if more > 0 {
			l.add(Change{Kind: nameTaken, Severity: Danger, Text: fmt.Sprintf("the name looks like those of %d more agents", more)})
		}
	}
	for _, skill := range is.skills {
		if slices.Contains(was.skills, skill) {
			continue
		}
		switch named, more := others(f.skills[skill], agent); {
		case more > 0:
			l.taken(skill, fmt.Sprintf("agents %s and %d more have", strings.Join(named, ", "), more))
		case len(named) > 1:
			l.taken(skill, "agents "+strings.Join(named, ", ")+" have")
		case len(named) == 1:
			l.taken(skill, "agent "+named[0]+" has")
		}
	}
	return l
}

// taken tells of a skill that another agent has too. That is common, and a hint at most: rules name
// agents beside skills, where a name alone would lead a caller to the wrong one.
func (l *changes) taken(skill, whose string) {
	l.add(Change{Kind: skillTaken, Severity: Info, Subject: skill, Text: whose + " a skill of the same id,"})
}

// mostOthers are the agents that are named for one thing which they have too: in a fleet
// of a kind, all have it.
const mostOthers = 8

// others are some of the agents of a list without one, and how many more there are.
// ids is sorted, so that the same agents are named each time.
func others(ids []string, but string) (named []string, more int) {
	for i, id := range ids {
		switch {
		case id == but:
		case len(named) == mostOthers:
			more = len(ids) - i
			if _, among := slices.BinarySearch(ids[i:], but); among {
				more--
			}
			return named, more
		default:
			named = append(named, id)
		}
	}
	return named, 0
}
