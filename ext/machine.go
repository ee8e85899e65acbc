package ext

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Machine follows tasks through the states of an extension. It is immutable.
//
//	initial [draft], transitions {draft: [review], review: [draft, done]}
//
// lets a task go draft, review, done, and a caller that asks once find it at done.
type Machine struct {
	key     string
	known   []string // sorted
	initial map[string]bool
	next    map[string][]string
	later   map[string]map[string]bool // what next comes to in any number of steps, none included
	within  map[string][]string
}

// Everything that Move and Come ask is worked out here, once for a registry.
func newMachine(s *StatesConfig) *Machine {
	m := &Machine{
		key: s.Key, known: s.names(), initial: make(map[string]bool, len(s.Initial)),
		next: s.Transitions, within: s.Within, later: make(map[string]map[string]bool),
	}
	for _, state := range s.Initial {
		m.initial[state] = true
	}
	for _, state := range m.known {
		m.later[state] = s.reached(state)
	}
	return m
}

// names are all states, sorted.
func (s *StatesConfig) names() []string {
	names := slices.Clone(s.Initial)
	for from, to := range s.Transitions {
		names = append(append(names, from), to...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// stranded are the states that no task comes to, sorted.
func (s *StatesConfig) stranded() []string {
	reached := s.reached(s.Initial...)
	return slices.DeleteFunc(s.names(), func(state string) bool { return reached[state] })
}

// reached are the states that a task comes to from these, and these.
func (s *StatesConfig) reached(from ...string) map[string]bool {
	reached := make(map[string]bool)
	for todo := slices.Clone(from); len(todo) > 0; {
		state := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !reached[state] {
			reached[state] = true
			todo = append(todo, s.Transitions[state]...)
		}
	}
	return reached
}

// sortedKeys are the keys of a map in their order, so that errors come in the same order each
// time.
func sortedKeys[M ~map[K]V, K cmp.Ordered, V any](m M) []K {
	return slices.Sorted(maps.Keys(m))
}

// Key is the metadata key.
func (m *Machine) Key() string { return m.key }

// Move says why a task may not go from a state, "" at first, to another while it is
// in a task state, "" where that is not known; "" if it may. The answer names states
// of the configuration only, never what a document says instead.
//
// From a state that is no longer configured every state may follow: a task must not
// be stuck because the registry changed while it ran.
func (m *Machine) Move(from, to, task string) string {
	switch {
	case !m.knows(to):
		return m.unknown()
	case from == "" && !m.initial[to]:
		return fmt.Sprintf("a task may not begin with state %q", to)
	case from != "" && from != to && m.knows(from) && !slices.Contains(m.next[from], to):
		return fmt.Sprintf("state %q may not follow %q", to, from)
	}
	return m.together(to, task)
}

// Come is Move for a task that was not watched in between: it may have gone any way
// that the transitions lead.
func (m *Machine) Come(from, to, task string) string {
	switch {
	case !m.knows(to):
		return m.unknown()
	case m.knows(from) && !m.later[from][to]:
		return fmt.Sprintf("state %q may not come after %q", to, from)
	}
	return m.together(to, task)
}

// unknown lists the states there are.
func (m *Machine) unknown() string { return "not one of the states " + strings.Join(m.known, ", ") }

// together says why a state may not go with a task state.
func (m *Machine) together(state, task string) string {
	if may, limited := m.within[state]; limited && task != "" && !slices.Contains(may, task) {
		return fmt.Sprintf("state %q may not go with task state %s", state, task)
	}
	return ""
}

// knows reports whether a state is one of the machine's.
func (m *Machine) knows(state string) bool {
	_, ok := slices.BinarySearch(m.known, state)
	return ok
}
