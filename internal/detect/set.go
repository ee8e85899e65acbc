package detect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
)

// Finding is one thing that was found in a text: its kind, and where it stands, in bytes.
type Finding struct {
	Begin, End int
	Kind       string
}

// Set is some of the kinds, made ready. It is immutable; any number of goroutines may use it.
type Set struct {
	kinds  []kind
	needs  need
	digits bool // some are told by their digits
}

// New makes a set of kinds by their names. The error names the first that there is not.
func New(names ...string) (*Set, error) {
	for _, name := range names {
		if !slices.ContainsFunc(table, func(k kind) bool { return k.Name == name }) {
			return nil, fmt.Errorf("there is no kind %q%s", name, spelling.Hint(name, namesOf(Kinds(""))))
		}
	}
	s := &Set{}
	for i := range table {
		if slices.Contains(names, table[i].Name) {
			s.kinds = append(s.kinds, table[i])
			s.needs |= table[i].needs
			s.digits = s.digits || table[i].at != nil
		}
	}
	return s, nil
}

// namesOf are the names of kinds.
func namesOf(kinds []Kind) []string {
	names := make([]string, 0, len(kinds))
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// found is a finding before those that overlap are joined.
type found struct {
	span
	by int // index into Set.kinds
}

// Find appends what is found in a text, in its order. Findings that overlap are one, from the
// beginning of the first to the end of the last, of the kind that stands first in the table.
func (s *Set) Find(dst []Finding, text string) []Finding { return s.FindIn(dst, text, Read(text)) }

// FindIn is Find in a text that has been read.
func (s *Set) FindIn(dst []Finding, text string, traits Traits) []Finding {
	has := traits.has
	if has&s.needs == 0 {
		return dst
	}
	return s.find(dst, text, has)
}

// find looks for the kinds that can be in a text. It is a function of its own for what it has on the heap.
func (s *Set) find(dst []Finding, text string, has need) []Finding {
	var room [8]span
	var all [8]found
	every := all[:0]
	if has&needsDigits != 0 && s.digits {
		every = s.numbers(every, text)
	}
	for i := range s.kinds {
		if s.kinds[i].find == nil || s.kinds[i].needs&has != s.kinds[i].needs {
			continue
		}
		for _, at := range s.kinds[i].find(room[:0], text) {
			every = append(every, found{at, i})
		}
	}
	return s.join(dst, every)
}

// join brings findings into order, and joins those that overlap.
func (s *Set) join(dst []Finding, every []found) []Finding {
	// By place, and at one place in the order of the table.
	slices.SortFunc(every, func(a, b found) int { return cmp.Or(a.begin-b.begin, a.by-b.by) })
	for i := 0; i < len(every); {
		one := every[i]
		for i++; i < len(every) && every[i].begin < one.end; i++ {
			one.end = max(one.end, every[i].end)
			one.by = min(one.by, every[i].by)
		}
		dst = append(dst, Finding{one.begin, one.end, s.kinds[one.by].Name})
	}
	return dst
}

// Replace is a text with something else in the place of findings, which are in its order.
func Replace(text string, findings []Finding, with func(kind string) string) string {
	var out strings.Builder
	at := 0
	for _, f := range findings {
		out.WriteString(text[at:f.Begin])
		out.WriteString(with(f.Kind))
		at = f.End
	}
	out.WriteString(text[at:])
	return out.String()
}
