package auditcmd

import (
	"maps"
	"slices"
	"strings"
)

// attempts counts changes that came to nothing and whose first record is still to come, by what both
// records say. A change that somebody asks for is on record before it is made, and only one that
// comes to nothing has a second record, with its outcome: the first one alone does not tell. Records
// have to come the newest first.
type attempts map[string]int

// attempted reports whether a record is the first one of a change that came to nothing.
func (a attempts) attempted(r *summary) bool {
	if r.Type != "event" || r.Attrs["who"] == "" {
		return false
	}
	key := keyOf(r)
	switch outcome := r.Attrs["outcome"]; {
	case outcome == "failed" || outcome == "not found":
		a[key]++
	case outcome == "" && a[key] > 0:
		a[key]--
		return true
	}
	return false
}

// keyOf is what both records of a change say: the kind of event and the attributes, without the
// outcome. Texts of records have no control characters.
func keyOf(r *summary) string {
	key := []string{r.Event}
	for _, name := range slices.Sorted(maps.Keys(r.Attrs)) {
		if name != "outcome" {
			key = append(key, name, r.Attrs[name])
		}
	}
	return strings.Join(key, "\x00")
}
