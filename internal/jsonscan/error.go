package jsonscan

import "fmt"

// ErrorKind says what is wrong with a document.
type ErrorKind uint8

// The kinds of an Error.
const (
	// Malformed is for what is no JSON by RFC 8259, for JSON that parsers read in different
	// ways, and for what is nested deeper or has more members than allowed.
	Malformed ErrorKind = iota + 1

	// TooLarge is for a document whose offsets have no room in 32 bits.
	TooLarge

	// Duplicate is for two members of one object with the same name: {"id":1,"\u0069d":2}.
	// RFC 8259 §4 leaves open what that means, and some parsers take the first, others the
	// last. It is a refusal, not a failure: the walk goes on.
	Duplicate
)

// Error is what a Scanner itself finds wrong with a document.
type Error struct {
	Kind ErrorKind
	What string // in words; never a piece of the document, which may hold secrets
	At   int    // offset into the document, in bytes
	Key  string // configuration key of the limit that is exceeded; "" for none
}

// Error is for people: "a string does not end, at byte 17".
func (e *Error) Error() string {
	if e.Kind == TooLarge {
		return e.What
	}
	return fmt.Sprintf("%s, at byte %d", e.What, e.At)
}
