// Package spelling finds the name that somebody meant who wrote another: a key of the
// configuration, an agent, a rule, a flag's value. A person sees a slip of one letter last of all,
// and an error that names the right word saves the search for it.
package spelling

import (
	"slices"
	"strings"
)

// Meant is the known name that was probably meant by a word, "" for none: the name in another
// case, or with a letter or two too many, too few or in another's place. Of several that are
// equally near it is the first in the order of the alphabet, so that an error reads the same each
// time.
func Meant(word string, known []string) string {
	best, distance := "", 3 // more than two slips are another word
	for _, name := range slices.Sorted(slices.Values(known)) {
		if d := slips(strings.ToLower(word), strings.ToLower(name)); d < distance && d < len(name)-1 {
			best, distance = name, d
		}
	}
	return best
}

// Hint is Meant as the end of an error, `, did you mean "billing"?`, "" for none.
func Hint(word string, known []string) string {
	best := Meant(word, known)
	if best == "" {
		return ""
	}
	return `, did you mean "` + best + `"?`
}

// slips is the edit distance (Levenshtein) of two short words. A word of a file can be of any
// length, and is not worth a table of that size.
// One row of the table is kept: each entry needs its neighbours of the row before and the one to
// its left.
func slips(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
