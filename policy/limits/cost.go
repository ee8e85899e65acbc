package limits

import (
	"fmt"
	"maps"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// costs is a Cost, compiled. Weights are bounded so that no product overflows.
// The weight of a call is that of its method times that of its skill; 1 where none is given.
type costs struct {
	methods map[*wire.Method]int64
	skills  map[string]int64
}

// ofCall is what a call takes: for the dearest of the skills that it may be for.
// A call of an unknown skill is charged as for the dearest: it may be for that one.
func (c *costs) ofCall(call *Call) int64 {
	var most int64
	for _, skill := range call.skills() {
		most = max(most, c.of(call.Method, skill))
	}
	return most
}

// of is what a call for a skill takes; 0 when it is free.
func (c *costs) of(m *wire.Method, skill string) int64 {
	n := int64(1)
	if w, ok := c.methods[m]; ok {
		n = w
	}
	if w, ok := c.skills[skill]; ok {
		n *= w
	}
	return n
}

// checkCost returns what is wrong with the weights, read on their own.
func (m *Limit) checkCost() []error {
	var problems []error
	for _, list := range []struct {
		key     string
		weights map[string]int64
	}{{"methods", m.Cost.Methods}, {"skills", m.Cost.Skills}} {
		for _, name := range slices.Sorted(maps.Keys(list.weights)) {
			if w := list.weights[name]; w < 0 || w > maxWeight {
				problems = append(problems, keypath.Point(fmt.Errorf("cost.%s.%s is %d; it must be from 0 to %d", list.key, name, w, maxWeight), "cost", list.key, name))
			}
		}
		if len(list.weights) > 0 && m.Rate == nil && m.Quota == nil {
			problems = append(problems, keypath.Point(fmt.Errorf("cost.%s is about rate and quota, which are not there", list.key), "cost", list.key))
		}
	}
	return problems
}

// reach finds a call that could never be made, as it costs more than there ever is. Pairs
// of weights that no call can have, because of the conditions, are passed by.
// The error is at the key cost. A call that can never be made is a mistake that would show as a
// refusal without end.
func (m *limit) reach(methods []*wire.Method) error {
	most, key := m.most()
	if most == 0 {
		return nil
	}
	// Every pair is tried: the weights of a method and a skill are multiplied, so that each may
	// be within the bound and both together above it.
	for _, method := range methods {
		if m.methods != nil && !slices.Contains(m.methods, method) {
			continue
		}
		for _, skill := range m.weighedSkills() {
			if units := m.costs.of(method, skill); units > most {
				return keypath.At(fmt.Errorf("%s%s takes %d units, but there are never more than %s, %d, so such a call "+
					"could never be made; raise that or lower the cost", method.Name, forSkill(skill), units, key, most), "cost")
			}
		}
	}
	return nil
}

// most is what a call may take at most; 0 without rate and quota.
func (m *limit) most() (units int64, key string) {
	if m.src.Rate != nil {
		units, key = m.src.Rate.burst(), "rate.burst"
		if m.src.Rate.Burst == 0 {
			key = "rate.units"
		}
	}
	if m.src.Quota != nil && (m.src.Rate == nil || m.src.Quota.Units < units) {
		units, key = m.src.Quota.Units, "quota.units"
	}
	return units, key
}

// weighedSkills are the skills with a weight that the limit applies to, and "" for all
// others.
func (m *limit) weighedSkills() []string {
	list := slices.Sorted(maps.Keys(m.costs.skills))
	list = slices.DeleteFunc(list, func(skill string) bool { return !pattern.Any(m.src.Skills, skill) })
	for _, pattern := range m.src.Skills {
		if _, ok := m.costs.skills[pattern]; !ok {
			return append(list, "")
		}
	}
	if m.src.Skills == nil {
		list = append(list, "")
	}
	return list
}

// forSkill says for which skill a call is, behind the name of its method.
func forSkill(skill string) string {
	if skill == "" {
		return ""
	}
	return " for " + skill
}
