// Package wire knows what A2A looks like on the wire, in every version and
// binding, and nothing else does.
//
// It owns the protocol's words: versions and bindings (version.go), the method
// table (method.go) and what extensions add to it (extra.go), the envelope of a call
// and the few members that policy needs (call.go), what an agent's answer says about
// tasks (answer.go), the error table (error.go), every form an error takes on the
// wire (render.go, status.go) and in which agents send theirs (agent_error.go).
//
// It does not own transport, policy or translation, keeps no state and does no
// I/O beyond writing an error response and taking gRPC messages from a reader. It
// imports no other package of this module.
//
// What is read is checked and what is checked is forwarded: a body is accepted
// only if every JSON parser in the field must read it alike (no duplicate
// names, no near-miss of a name that decides something, valid UTF-8, nothing
// after the document), and then its original bytes go on, so that unknown
// members, big numbers and the order of keys survive.
//
// A gRPC message is its ProtoJSON document dressed in protobuf: it is undressed
// once (proto.go), read by the tables that read HTTP+JSON, and the bytes that came
// are what goes on. There the same rule asks for more than protobuf does: nothing
// may be given twice (proto_check.go).
package wire
