package strict

// class is where a character may stand.
type class uint8

const (
	ofToken  class = 1 << iota // RFC 9110 §5.6.2
	ofTarget                   // visible ASCII, without the sign of a fragment
	ofValue                    // RFC 9110 §5.5: visible, space, tab, or beyond ASCII
)

var classes = func() (all [256]class) {
	for c := range all {
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z':
			all[c] = ofToken | ofTarget | ofValue
		case c == '#', c == ' ', c == '\t', c > 0x7f:
			all[c] = ofValue
		case c > ' ' && c < 0x7f:
			all[c] = ofTarget | ofValue
		}
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		all[c] |= ofToken
	}
	return all
}()

// span is how many characters at the beginning of p are of a class.
func span(p []byte, of class) int {
	// A table look-up a byte: all that clients send goes through here.
	for i, c := range p {
		if classes[c]&of == 0 {
			return i
		}
	}
	return len(p)
}

// same tells whether a token is a name, which is written in lower case.
func same(token []byte, name string) bool {
	if len(token) != len(name) {
		return false
	}
	for i, c := range token {
		if c|0x20 != name[i] { // no sign that a token may hold becomes a letter or hyphen by this
			return false
		}
	}
	return true
}
