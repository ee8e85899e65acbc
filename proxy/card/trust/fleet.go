package trust

import (
	"maps"
	"slices"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/proxy/card/lint"
)

// Fleet knows what the cards in force are called, so that no agent passes for another.
// The zero Fleet is empty. It is safe for concurrent use.
type Fleet struct {
	mu     sync.Mutex
	agents map[string]identity
}

// identity is what callers find an agent by.
type identity struct {
	name   string // as lint.Fold has it
	skills []string
}

func identify(p *profile) identity {
	return identity{lint.Fold(p.texts["name"]), slices.Sorted(maps.Keys(p.skills))}
}

// Keep forgets the agents that are not among ids.
func (f *Fleet) Keep(ids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.agents, func(id string, _ identity) bool { return !slices.Contains(ids, id) })
}

func (f *Fleet) set(agent string, i identity) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.agents == nil {
		f.agents = map[string]identity{}
	}
	f.agents[agent] = i
}

// collisions are what an agent's card has that another agent's has. old is the card before
// it, nil for none: what was the same there already is nobody's news.
func (f *Fleet) collisions(agent string, old, new *profile) []Change {
	was, is := identity{}, identify(new)
	if old != nil {
		was = identify(old)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var l changes
	for _, id := range slices.Sorted(maps.Keys(f.agents)) {
		other := f.agents[id]
		if id == agent {
			continue
		}
		if is.name == other.name && is.name != "" && is.name != was.name {
			l.add(Change{Kind: NameTaken, Severity: Danger, Subject: id, Text: "the name looks like that of agent"})
		}
		for _, skill := range is.skills {
			if slices.Contains(other.skills, skill) && !slices.Contains(was.skills, skill) {
				l.add(Change{Kind: SkillTaken, Severity: Info, Subject: skill, Text: "agent " + id + " has a skill of the same id,"})
			}
		}
	}
	return l
}
