// Package frameworks runs the agents and clients of frameworks, as their own
// documentation has them, direct and through the gateway, and compares.
//
// It owns a directory for each framework, with its agent, its client and a lock
// of what they need, and the test that drives them. It has no Go code that anybody
// could import; the test may import package gatewaytest, for agents that the clients
// call, and the standard library, and knows the gateway as a binary. README.md above
// says how to run it, docs/interop.md what it found.
package frameworks
