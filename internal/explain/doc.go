// Package explain says what would become of a call, and why, without making it: it puts the
// questions of the request path, in their order, to the code that a running gateway asks. It
// also puts recorded calls to other rules, to see which would be decided otherwise.
//
// It owns the order of the questions and what is said where something is not known. It does
// not own the answers' form (internal/verdict), configurations, or where calls are read from.
// It counts nothing and connects to nobody, but for authorizers where that is asked for.
package explain
