// Package interop runs the A2A SDKs of other languages against each other,
// direct and through the gateway, and compares what their clients see.
//
// It owns the agent and client programs below js and python, and the test that
// drives them. It has no Go code that anybody could import; the test may import
// the standard library only, and knows the gateway as a binary. README.md says
// how to run it, docs/interop.md what it found.
package interop
