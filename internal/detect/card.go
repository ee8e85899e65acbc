package detect

import "strings"

// ISO/IEC 7812-1 allows up to 19 digits; Maestro issues numbers of 12.
const (
	shortestCard = 12
	longestCard  = 19
)

// cards finds payment card numbers: digits, alone or in groups, that an issuer's numbers
// begin with and whose last one is right (Luhn).
func cards(found []span, s string) []span {
	for i := 0; i < len(s); i++ {
		// A number begins where no digit is before it: else any long number would hold a card's.
		if !isDigit(s[i]) || i > 0 && isDigit(s[i-1]) {
			continue
		}
		if end := cardAt(s, i); end > 0 {
			found = append(found, span{i, end})
		}
	}
	return found
}

// cardAt is where the longest card number ends that begins here, 0 for none. It ends where
// a group does.
// The longest is taken, since a shorter one may be right by accident: of random digits one in ten
// is.
func cardAt(s string, from int) (end int) {
	var room [longestCard]byte
	digits := room[:0]
	for i, group := from, 0; i < len(s) && len(digits) < longestCard; {
		digits = append(digits, s[i])
		i++
		group++
		if i < len(s) && isDigit(s[i]) {
			continue
		}
		if len(digits) >= shortestCard && isIssuer(digits) && luhn(digits) {
			end = i
		}
		// Cards are written in groups of four, or 4-6-5 and 4-6-4. Rows of prices, versions, dates and the
		// fractions of numbers are not.
		if first := len(digits) == group; first && group != 4 || group < 4 || group > 6 {
			break
		}
		if i += separator(s[i:]); i >= len(s) || !isDigit(s[i]) {
			break
		}
		group = 0
	}
	return end
}

// separator is how long what stands between two groups of digits is.
// Among them are the spaces and the hyphen that do not break lines, which word processors put in.
func separator(s string) int {
	for _, between := range []string{" ", "-", ".", "\u00a0", "\u2009", "\u202f", "\u2011"} {
		if strings.HasPrefix(s, between) {
			return len(between)
		}
	}
	return 0
}

// isIssuer reports whether numbers of some scheme begin like this and are so long. Times
// in milliseconds and most numbers of orders are none. Luhn's check alone lets one in ten of all
// numbers pass, which would leave audit logs full of ids that read [card].
func isIssuer(d []byte) bool {
	prefix := 0
	for _, c := range d[:4] {
		prefix = prefix*10 + int(c-'0')
	}
	n := len(d)
	switch {
	case prefix/1000 == 4: // Visa
		return n == 13 || n == 16 || n == 19
	case prefix >= 2221 && prefix <= 2720, prefix/100 >= 51 && prefix/100 <= 55: // Mastercard
		return n == 16
	case prefix/100 == 34, prefix/100 == 37: // American Express
		return n == 15
	case prefix/100 == 36, prefix/100 == 38, prefix/10 >= 300 && prefix/10 <= 305, prefix/10 == 309: // Diners
		return n >= 14
	case prefix >= 3528 && prefix <= 3589, prefix >= 2200 && prefix <= 2204: // JCB, Mir
		return n >= 16
	}
	if n == 17 || n == 18 { // which ids of 64 bits have, and hardly a card
		return false
	}
	return prefix/1000 == 6 || prefix/100 == 50 || prefix/100 >= 56 && prefix/100 <= 58 // Discover, UnionPay, Maestro
}

// luhn checks the last digit of a number (ISO/IEC 7812-1), which is there to find slips of the hand:
// it is no secret, and no proof that there is such a card.
func luhn(d []byte) bool {
	// From the right, every second digit counts twice, as the sum of its digits.
	sum := 0
	for i := range d {
		n := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}
