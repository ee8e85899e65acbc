// Package spelling finds the name that somebody meant who wrote another: a key of the
// configuration, an agent, a rule, a flag's value. A person sees a slip of one letter last of all,
// and an error that names the right word saves the search for it.
package spelling

import (
	"strings"
)

// Meant is the known name that was probably meant by a word, "" for none: the name in another
// case, or with a letter or two too many, too few or in another's place. Of several that are
// equally near it is the first in the order of the alphabet, so that an error reads the same each
// time.
func Meant(word string, known []string) string {
	best, distance := "", tooMany
	word = strings.ToLower(word)
	for _, name := range known {
		// One that differs in length by as much cannot be nearer. Most names of many are told apart by that.
		lower := strings.ToLower(name)
		if diff := len(word) - len(lower); diff >= tooMany || -diff >= tooMany {
			continue
		}
		d := slips(word, lower)
		if d < len(name)-1 && (d < distance || d == distance && best != "" && name < best) {
			best, distance = name, d
		}
	}
	return best
}

// tooMany slips make another word.
const tooMany = 3

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
