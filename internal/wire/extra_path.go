package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checkTemplate refuses a path of which not every server makes the same: literals are
// words of unreserved characters that need no encoding, and an id is the only thing in
// its segment but for a verb behind the last.
//
//	/tasks/{task}/notes   /tasks/{task}:pause   /acme/reports     good
//	/v1/reports           read as 0.3's by every server
//	/tasks/{task}/a{x}    an id is a whole segment
func checkTemplate(path string) error {
	segments, ok := split(path)
	if !ok || len(segments) >= longestPath || len(path) > longestRPC {
		return fmt.Errorf("path %q: it is a slash and 1 to %d segments with slashes between", path, longestPath-1)
	}
	ids := 0
	for i, s := range segments {
		suffix, id := strings.CutPrefix(s, "{task}")
		literal, verb, found := strings.Cut(s, ":")
		switch {
		case id && suffix == "":
			ids++
		case id:
			ids++
			if i < len(segments)-1 || suffix[0] != ':' || !isWord(suffix[1:], "_-") {
				return fmt.Errorf("path %q: behind {task} may stand a colon and a verb, at the end", path)
			}
		case !isWord(literal, "_-.~"), found && !isWord(verb, "_-"), i == 0 && strings.EqualFold(s, "v1"):
			return fmt.Errorf("path %q: segment %q is not for extensions", path, s)
		}
	}
	if ids > 1 {
		return fmt.Errorf("path %q: there is only one task", path)
	}
	return nil
}

// checkPaths refuses paths that could be read as a path of A2A's or of another row.
//
// The check compares each row with every other, which is square in their number; there are a dozen of
// A2A's and a few of extensions.
func checkPaths(extra []*Method) error {
	all := slices.Concat(coreMethods(), extra)
	table := newRouteTable(all)
	var errs []error
	for i, m := range all {
		if m.Extension == "" || m.Path == "" {
			continue
		}
		rival := table.v10.rival(all, i)
		if rival == nil {
			rival = table.v03.rival(all, i)
		}
		if rival != nil {
			errs = append(errs, fmt.Errorf("method %q: path %q could be taken for %q of %s",
				m.Name, m.Path, rival.Path, rival.Name))
		}
	}
	return errors.Join(errs...)
}

// rival is the method that a path of the i-th could be read as, or nil.
func (rs *routes) rival(all []*Method, i int) *Method {
	m := all[i]
	path := parseTemplate(m.path(rs.version))
	for j, other := range all {
		if j == i || other.Path == "" {
			continue
		}
		its := parseTemplate(other.path(rs.version))
		switch {
		case slices.Equal(path, its): // with other verbs, it is shared
			if slices.ContainsFunc(m.Verbs, func(verb string) bool { return slices.Contains(other.Verbs, verb) }) {
				return other
			}
		case sameVerb(path, its), rs.overlap(path, its, true), rs.version == V10 && rs.hidesTenant(path, its):
			return other
		}
	}
	return nil
}

// sameVerb reports whether the verbs behind two ids differ only in case: what ends
// which id, servers would then not agree on (see cutVerb).
//
//	/tasks/{task}:pause   /tasks/{task}:Pause   refused: servers would differ in which of them ends the id
func sameVerb(path, other []segment) bool {
	x, y := path[len(path)-1].suffix, other[len(other)-1].suffix
	return x != y && strings.EqualFold(x, y)
}

// hidesTenant reports whether a path could be another one with a tenant before it,
// which it was until it came. A tenant that is called as A2A's own paths begin is
// ambiguous already, and a task that is called as they go on as well: both at once is
// nobody's loss, and /tasks/{task}/notes is the path that extensions want.
//
//	/acme/tasks   refused: GET /acme/tasks is ListTasks of the tenant acme
func (rs *routes) hidesTenant(path, other []segment) bool {
	first := path[0].literal
	known := first != "" && slices.ContainsFunc(coreRoutes.v10.paths, func(p route) bool {
		return len(p.segments) > 1 && p.segments[0].literal == first
	})
	return rs.overlap(path[1:], other, !known)
}

// overlap reports whether some segments fit both. ids says that an id of a may be
// what b has as a literal.
//
//	/tasks/{task}:pause   /tasks/{task}   do not overlap: the suffix tells them apart
//	/{task}               /reports        overlap where ids is true: "reports" may be a task's id
func (rs *routes) overlap(a, b []segment, ids bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		last := i == len(a)-1
		switch x, y := a[i], b[i]; {
		case x.literal != "" && y.literal != "":
			if !strings.EqualFold(x.literal, y.literal) {
				return false
			}
		case x.literal == "" && y.literal == "":
			if !x.config && !y.config && x.suffix != y.suffix {
				return false
			}
		case x.literal == "":
			if !ids || !rs.takes(x, y.literal, last) {
				return false
			}
		default:
			if !rs.takes(y, x.literal, last) {
				return false
			}
		}
	}
	return true
}

// takes reports whether a literal could be this id.
func (rs *routes) takes(id segment, literal string, last bool) bool {
	if id.config || !last {
		return true
	}
	_, suffix, _ := rs.cutVerb(literal)
	return suffix == id.suffix
}
