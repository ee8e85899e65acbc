// Package example is measured by a test.
package example

// Request has three fields, and Config is none that is counted.
type Request struct {
	A, B int
	C    caller // a trailing comment is no line of its own
}

type caller string

// Config is a configuration.
type Config struct{ A, B, C, D int }

const Limit = 1

func (r *Request) Sum() int {
	// The sum of two.
	return r.A + r.B
}

func (r *Request) String() string { return string(r.C) }
