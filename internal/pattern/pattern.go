// Package pattern matches names against the patterns of the configuration: the one
// meaning that a * has in rules, limits, authorizers and certificate names.
//
// Match and Any take patterns as they are written, and are for checks and for lists that are
// rarely asked. Compile makes a List of them for the hot path, as rules are asked for each call:
// names without a star are found in a map, and a pattern is taken apart at its stars once.
// Within, Intersect and Widens (exact.go) are for lists whose entries are names and nothing else.
//
// It owns that meaning and nothing else, and imports nothing of ours. Its tests hold a List to
// what Any says.
package pattern

import "strings"

// Match reports whether a pattern fits a name: a * stands for any run of bytes, also
// none, nothing else is special and there is no escape. Each piece between stars is
// looked for as early as possible, which never misses a match and takes time in
// proportion to the lengths: no pattern can be made slow from outside.
func Match(pattern, name string) bool {
	head, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	for ok {
		piece, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, piece)
		}
		_, name, ok = strings.Cut(name, piece)
		rest = next
	}
	return false
}

// Any reports whether any of the patterns fits. Nil is no condition and always holds;
// an empty list never does.
func Any(patterns []string, name string) bool {
	for _, p := range patterns {
		if Match(p, name) {
			return true
		}
	}
	return patterns == nil
}
