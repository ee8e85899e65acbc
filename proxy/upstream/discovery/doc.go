// Package discovery finds out where the instances of an agent are, and goes on finding out.
//
// It owns the sources: a list that never changes, names in DNS, a file that somebody
// edits, and the endpoint slices of a Kubernetes service. It knows nothing of calls: who
// gets one, and whether an instance is well, is decided by whoever is told of it. A source
// that fails, or whose answer makes no sense, takes nothing away: what it said last holds.
package discovery
