// Package ext answers one question: which extensions are active in a call.
//
// It owns the extensions header under both its names (A2A-Extensions of 1.0,
// X-A2A-Extensions of 0.2.4 to 0.3), the per-agent rules about extensions, and
// the negotiation between what a client asks for, what the agent declares and
// what the operator allows, denies or requires (A2A 1.0 §3.2.6, §4.6).
//
// It does not own cards, metadata, the methods an extension may bring or the
// form of a refusal: it knows no HTTP response beyond the one header it writes,
// does no I/O and keeps no state. It imports internal/wire only.
//
// A URI is an opaque identifier here, compared byte for byte. A client that
// asks for …/v2 of an agent that offers …/v1 gets neither: falling back to
// another version would be a downgrade that nobody asked for.
package ext
