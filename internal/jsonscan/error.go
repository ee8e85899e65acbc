package jsonscan

import "fmt"

// Error is what a Scanner itself finds wrong with a document. Unless one of the two last members
// says something else, the document is no JSON by RFC 8259, or JSON that parsers read in different
// ways, or it is nested deeper or has more members than allowed.
type Error struct {
	What string // in words; never a piece of the document, which may hold secrets
	At   int    // offset into the document, in bytes
	Key  string // configuration key of the limit that is exceeded; "" for none

	// TooLarge is for a document whose offsets have no room in 32 bits.
	TooLarge bool

	// Duplicate is for two members of one object with the same name: {"id":1,"\u0069d":2}.
	// RFC 8259 §4 leaves open what that means, and some parsers take the first, others the
	// last. It is a refusal, not a failure: the walk goes on.
	Duplicate bool
}

// Error is for people: "a string does not end, at byte 17".
func (e *Error) Error() string {
	if e.TooLarge {
		return e.What
	}
	return fmt.Sprintf("%s, at byte %d", e.What, e.At)
}
