package detect

import (
	"slices"
	"strings"
)

// number is a run of digits, alone or in groups, as it stands in a text.
type number struct {
	digits [longestNumber]byte // their values
	ends   [longestNumber]int  // where the text behind each digit is, if a group ends there; else 0
	n      int
}

// longestNumber is more than any number has that is looked for.
const longestNumber = 20

// read reads the digits that begin here.
func (x *number) read(s string, begin int) {
	*x = number{}
	for i := begin; i < len(s) && x.n < longestNumber; {
		x.digits[x.n] = s[i] - '0'
		x.n++
		i++
		if i < len(s) && isDigit(s[i]) {
			continue
		}
		x.ends[x.n-1] = i
		if i += separator(s[i:]); i >= len(s) || !isDigit(s[i]) {
			break
		}
	}
}

// end is where the first n digits end, 0 where no group does or a word goes on.
func (x *number) end(s string, n int) int {
	if n > x.n || x.ends[n-1] == 0 {
		return 0
	}
	if end := x.ends[n-1]; end == len(s) || !inWord(s[end]) {
		return end
	}
	return 0
}

// grouped reports whether groups end behind these of the first twelve digits, and nowhere else before the last.
func (x *number) grouped(at ...int) bool {
	for i := range 11 {
		if (x.ends[i] > 0) != slices.Contains(at, i) {
			return false
		}
	}
	return true
}

// solid reports whether the first n digits are not in groups.
func (x *number) solid(n int) bool {
	return !slices.ContainsFunc(x.ends[:n-1], func(end int) bool { return end > 0 })
}

// fourMore reports whether a group of four digits stands behind the first n.
func (x *number) fourMore(n int) bool {
	return x.n >= n+4 && x.ends[n+3] > 0 && x.ends[n] == 0 && x.ends[n+1] == 0 && x.ends[n+2] == 0
}

// listed reports whether another group of digits stands before a place: the number is in a row of some.
func listed(s string, at int) bool {
	return at >= 2 && strings.IndexByte(" -.", s[at-1]) >= 0 && isDigit(s[at-2])
}

// value is the number that digits from one place to before another are.
func (x *number) value(from, to int) (v int) {
	for _, d := range x.digits[from:to] {
		v = v*10 + int(d)
	}
	return v
}

// weighed is the sum of the digits, each times its weight.
func (x *number) weighed(weights ...int) (sum int) {
	for i, w := range weights {
		sum += w * int(x.digits[i])
	}
	return sum
}

// isDate reports whether two digits each are a day and a month.
func isDate(day, month int) bool { return 1 <= day && day <= 31 && 1 <= month && month <= 12 }

// contextBytes is how far before a number a word may stand that says what it is.
const contextBytes = 40

// introduced reports whether one of the words, in lower case, stands before a place in a text.
func introduced(s string, at int, words ...string) bool {
	before := s[max(0, at-contextBytes):at]
	for _, word := range words {
		if i := indexFold(before, word); i >= 0 {
			return true
		}
	}
	return false
}

// numberCheck is given the number that begins at a place of a text, and says where one of its kind
// ends that begins there; 0 for none.
type numberCheck func(s string, begin int, x *number) (end int)

// numbers finds those of all kinds that are told by their digits: the text is read once for all.
func (s *Set) numbers(every []found, text string) []found {
	var x number // one for all: it is on the heap
	for i := 0; i < len(text); i++ {
		if !isDigit(text[i]) {
			continue
		}
		if begins(text, i) {
			x.read(text, i)
			for k := range s.kinds {
				if check := s.kinds[k].at; check != nil && x.n >= fewestDigits {
					if end := check(text, i, &x); end > 0 {
						every = append(every, found{span{i, end}, k})
					}
				}
			}
		}
		for i+1 < len(text) && isDigit(text[i+1]) {
			i++
		}
	}
	return every
}

// begins reports whether a number may begin at a digit: no word goes on there, and no fraction.
func begins(s string, i int) bool {
	return i == 0 || !inWord(s[i-1]) && (s[i-1] != '.' || i < 2 || !isDigit(s[i-2]))
}

// phones finds telephone numbers: international ones (E.164), and those of North America as they
// are usually written. National numbers of other countries look like anything.
func phones(found []span, s string) []span {
	for i := 0; i < len(s); i++ {
		end := 0
		switch {
		case s[i] == '+' && i+1 < len(s) && '1' <= s[i+1] && s[i+1] <= '9' && (i == 0 || !inWord(s[i-1])):
			end = dialed(s, i+1)
		case s[i] == '(' && i+1 < len(s) && isDigit(s[i+1]), isDigit(s[i]) && (i == 0 || !inWord(s[i-1])):
			end = northAmerican(s, i)
			if end == 0 && strings.HasPrefix(s[i:], "00") && i+2 < len(s) && '1' <= s[i+2] && s[i+2] <= '9' && grouped(s, i) {
				end = dialed(s, i+2)
			}
		}
		if end > 0 {
			found = append(found, span{i, end})
			i = end - 1
			continue
		}
		for i+1 < len(s) && isDigit(s[i]) && isDigit(s[i+1]) {
			i++
		}
	}
	return found
}

// grouped reports whether a number has a separator behind its prefix: of digits alone nobody can
// tell that they begin with one.
func grouped(s string, at int) bool {
	for at < len(s) && isDigit(s[at]) {
		at++
	}
	return at < len(s) && separator(s[at:]) > 0
}

// dialed is where an international number ends, of which the country code begins here.
func dialed(s string, at int) (end int) {
	digits, open := 0, false
	for at < len(s) && digits < 16 {
		switch n := separator(s[at:]); {
		case isDigit(s[at]):
			digits++
			at++
			if !open {
				end = at
			}
		case s[at] == '(' && !open:
			open = true
			at++
		case s[at] == ')' && open:
			open = false
			at++
		case (n > 0 || s[at] == '/') && at+1 < len(s) && end > 0:
			at += max(n, 1)
			if at < len(s) && !isDigit(s[at]) && s[at] != '(' {
				at = len(s)
			}
		default:
			at = len(s)
		}
	}
	if digits < 8 || digits > 15 || end < len(s) && inWord(s[end]) {
		return 0
	}
	return end
}

// northAmerican is where a number like (415) 555-2671 or 415-555-2671 ends, 0 for none.
func northAmerican(s string, at int) int {
	const paren, plain = "(ddd) ddd-dddd", "ddd-ddd-dddd"
	for _, form := range [...]string{paren, plain} {
		if len(s)-at < len(form) || !fits(s[at:at+len(form)], form) {
			continue
		}
		area := at + strings.IndexByte(form, 'd')
		exchange := at + len(form) - 8
		if end := at + len(form); s[area] > '1' && s[exchange] > '1' && (end == len(s) || !inWord(s[end]) && s[end] != '-') {
			return end
		}
	}
	return 0
}

// fits reports whether a text of the same length has a form, in which d is any digit.
func fits(s, form string) bool {
	for i := range len(form) {
		if form[i] == 'd' && !isDigit(s[i]) || form[i] != 'd' && s[i] != form[i] {
			return false
		}
	}
	return true
}
