package translate

import "github.com/a2a-gateway/a2a-gateway/internal/wire"

// Stranger is what an object of A2A's has that its version does not define: a member,
// or a value where the version lists those there are. Extensions may add neither
// (A2A 1.0 §4.6).
type Stranger struct {
	Pointer string // RFC 6901, into the document
	Value   bool   // an unknown value; else an unknown member
}

// Strangers finds them in a request's params (the document of a call's Params) or,
// with answer, in a result or event without its envelope. What is inside of metadata,
// data and extensions' own methods is not A2A's and not looked at.
func Strangers(s wire.Side, m *wire.Method, answer bool, doc []byte) []Stranger { return nil }
