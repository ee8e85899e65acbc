package ext

import "strings"

// MissingError says which required extensions a client did not activate: those that
// every call needs, and those on which what it asked for depends. All of them stand in
// the card that the client is served, so that they may be told to it.
type MissingError struct {
	URIs []string // all of them, sorted, never empty
}

// Error lists the URIs.
func (e *MissingError) Error() string {
	return "required extensions not activated: " + strings.Join(e.URIs, ", ")
}
