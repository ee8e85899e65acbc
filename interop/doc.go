// Package interop runs the A2A SDKs against each other, direct and through the
// gateway, and compares what their clients see.
//
// It owns the agent and client programs below js, python and java, and the test
// that drives them. It has no Go code that anybody could import; the test may
// import package gatewaytest, for the Go SDKs, a library for tokens, and the standard
// library, and knows the gateway as a binary. README.md says how to run it, docs/interop.md
// what it found.
package interop
