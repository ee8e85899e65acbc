// Package pattern matches names against the patterns of the configuration: the one
// meaning that a * has in rules, limits, authorizers and certificate names.
//
// It owns that meaning and nothing else, and imports nothing of ours. Package policy
// compiles its patterns for the hot path; its tests hold them to this.
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
