package ext

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Machine follows tasks through the states of an extension. It is immutable.
type Machine struct {
	key     string
	known   []string // sorted
	initial map[string]bool
	next    map[string][]string
	within  map[string][]string
}

func newMachine(s *StatesConfig) *Machine {
	m := &Machine{
		key: s.Key, known: s.names(), initial: make(map[string]bool, len(s.Initial)),
		next: s.Transitions, within: s.Within,
	}
	for _, state := range s.Initial {
		m.initial[state] = true
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
	reached := make(map[string]bool)
	for todo := slices.Clone(s.Initial); len(todo) > 0; {
		state := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !reached[state] {
			reached[state] = true
			todo = append(todo, s.Transitions[state]...)
		}
	}
	return slices.DeleteFunc(s.names(), func(state string) bool { return reached[state] })
}

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
	if !m.knows(to) {
		return "not one of the states " + strings.Join(m.known, ", ")
	}
	switch {
	case from == "" && !m.initial[to]:
		return fmt.Sprintf("a task may not begin with state %q", to)
	case from != "" && from != to && m.knows(from) && !slices.Contains(m.next[from], to):
		return fmt.Sprintf("state %q may not follow %q", to, from)
	}
	if may, limited := m.within[to]; limited && task != "" && !slices.Contains(may, task) {
		return fmt.Sprintf("state %q may not go with task state %s", to, task)
	}
	return ""
}

func (m *Machine) knows(state string) bool {
	_, ok := slices.BinarySearch(m.known, state)
	return ok
}
