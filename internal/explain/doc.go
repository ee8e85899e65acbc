// Package explain says what would become of a call, and why, without making it: it puts the
// questions of the request path, in their order, to the code that a running gateway asks. It
// also puts recorded calls to other rules, to see which would be decided otherwise.
//
// It owns the order of the questions and what is said where something is not known. It does
// not own the answers' form (internal/verdict), configurations, or where calls are read from.
// It counts nothing and connects to nobody, but for authorizers where that is asked for.
//
// A Judge holds what a configuration was compiled to. Judge.Read, or Manner, Said and the methods
// of Inquiry one by one, turn what somebody has written into an Inquiry, and Judge.Judge takes it
// through these steps, each of which may refuse it:
//
//	decode     the call is read as the gateway would read it, in JSON-RPC of 1.0
//	learn      the agent's skills: of its section, of its card, or the one that is named
//	prepare    what the card says of the method; the ledger, with the described task in it
//	decide     the skill, the rules, the media types, push, limits, authorizers, extensions
//	screen     files in the message
//	hide       methods of extensions that the caller does not get to see
//
// What is not known, because a card, a message or a task was not given, is assumed and noted. A
// verdict without a note is that of the running gateway; one with a note holds as far as the note
// does.
//
// A Replay (replay.go) reads recorded calls the other way round: their outcome is known, and not
// all that the rules look at. It asks two sets of rules, one in which unknown facts count against
// the call and one in which they count for it, and trusts the answer where both agree.
package explain
