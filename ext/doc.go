// Package ext answers one question: which extensions are active in a call.
//
// It owns the extensions header under both its names (A2A-Extensions of 1.0,
// X-A2A-Extensions of 0.2.4 to 0.3), the registry of extensions and what is made of
// it, the per-agent rules about extensions, and the negotiation between what a client
// asks for, what the agent declares and what registry, operator and policy permit,
// require and inject (A2A 1.0 §3.2.6, §4.6). It also says what an extension
// implemented by the gateway is: a Provider.
//
// It does not own cards, the documents of a call and what extensions leave in them
// (ext/content), or the form of a refusal: it knows no HTTP response beyond the one
// header it writes. It does no I/O but to read schemas, and keeps no state; its hooks
// (ext/hook) are called by others. It imports ext/schema, ext/hook, internal/secret
// and internal/wire.
//
// A URI is an opaque identifier here, compared byte for byte. A client that
// asks for …/v2 of an agent that offers …/v1 gets neither: falling back to
// another version would be a downgrade that nobody asked for.
//
// It exports more than twenty names because an entry of the registry is configuration: its kind,
// status, methods, states, schemas and limits are types and words of their own. The others are the
// question and the answer of a negotiation, and the contract of a Provider.
package ext
