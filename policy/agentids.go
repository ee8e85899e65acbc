package policy

import (
	"sort"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
)

// agentIDs are the ids of the configured agents, sorted and each once.
type agentIDs []string

// matching lists the configured agents that a pattern names. Only those that
// share the pattern's beginning are looked at.
func (ids agentIDs) matching(text string) []string {
	prefix, _, isGlob := strings.Cut(text, "*")
	from := sort.SearchStrings(ids, prefix)
	if !isGlob {
		if from < len(ids) && ids[from] == text {
			return ids[from : from+1]
		}
		return nil
	}
	g := pattern.NewGlob(text)
	var list []string
	for _, id := range ids[from:] {
		if !strings.HasPrefix(id, prefix) {
			break
		}
		if g.Match(id) {
			list = append(list, id)
		}
	}
	return list
}

// named reports whether a pattern names a configured agent.
func (ids agentIDs) named(pattern string) bool { return len(ids.matching(pattern)) > 0 }

// lacking lists the skills that none of some agents, given by patterns, has, nil where the skills of one
// are not known yet.
func (ids agentIDs) lacking(agents, skills []string, known map[string][]string) []string {
	if agents == nil {
		agents = []string{"*"}
	}
	has := map[string]bool{}
	for _, pattern := range agents {
		for _, id := range ids.matching(pattern) {
			list, ok := known[id]
			if !ok {
				return nil
			}
			for _, skill := range list {
				has[skill] = true
			}
		}
	}
	var unknown []string
	for _, skill := range skills {
		if !strings.Contains(skill, "*") && !has[skill] {
			unknown = append(unknown, skill)
		}
	}
	return unknown
}
