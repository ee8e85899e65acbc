// Package breaker is the circuit breaker of services that the gateway itself asks, token servers
// and external authorizers: it keeps one that fails from being asked by everybody who waits.
//
// It owns the counting alone: what an answer means its user says. What fails for one
// caller, whose token or whose message may be the reason, is counted for that caller; for
// all it counts when there was no service to fail, or when it fails for several. So nobody
// takes a service from others by asking it what it fails at. It imports nothing of the
// gateway's.
package breaker
