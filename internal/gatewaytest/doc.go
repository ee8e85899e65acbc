// Package gatewaytest has the other ends of the wire for tests: real agents and
// real clients on every Go A2A SDK, an agent and a client of 0.1, for which there
// is none, and a raw recorder that misbehaves on demand.
//
// Three things are for use by other packages' tests:
//
//   - [RunMatrix] is the differential test. It runs every operation of
//     [Operations] with every client on every agent twice, direct and through a
//     gateway, and reports where the two differ, in what the SDK returned or in
//     what was on the wire.
//   - [Start] and [Dial] give one agent and one client, for tests that look at
//     one thing.
//   - [NewRecorder] gives a backend that stores the exact bytes it received and
//     answers as scripted: the oracle of a security test is what the agent saw.
//
// The package does not know the gateway: a gateway is a URL. It does not own
// the sample agents of package demo. It is imported by _test files only, and
// may import the SDKs and nothing of this module.
package gatewaytest
