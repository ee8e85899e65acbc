package pattern

import "slices"

// Within reports whether all names of a are in b, byte for byte: no name is a pattern here.
func Within(a, b []string) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	return true
}

// Intersect reports whether any name of a is in b, byte for byte.
func Intersect(a, b []string) bool {
	for _, s := range a {
		if slices.Contains(b, s) {
			return true
		}
	}
	return false
}

// Widens reports whether a condition that any name of a satisfies holds wherever one on b
// does; nil is no condition.
func Widens(a, b []string) bool { return a == nil || b != nil && Within(b, a) }
