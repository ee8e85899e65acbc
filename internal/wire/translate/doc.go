// Package translate retells calls and answers in another version or binding of
// A2A.
//
// A caller speaks one wire.Side and an agent's interface another. Request turns
// the caller's call into the agent's, a Retelling the agent's answers into the
// caller's. In between stand four JSON dialects, not eight sides: gRPC is the
// ProtoJSON of its messages, dressed in protobuf by package wire.
//
// It owns what the versions call the same thing (table.go), how a value is said in
// another version (value.go, part.go, push.go, settings.go) and what cannot be
// said, which stands as data beside the code (rules.go) and is printed in
// docs/versions.md. The same tables tell what in a document its version does not
// define (stranger.go).
//
// It does not own transport, ids or policy: the ids of a wire.Call are right and
// those in its body are not looked at. It reads documents that package wire has
// checked and checks JSON no second time, keeps no state but that of one stream,
// and imports no other package of this module.
//
// Between two bindings of one dialect documents keep every member, known or not. Toward
// gRPC, and in a query, known ones go by the dialect's own names. Between dialects what
// the tables do not know is dropped. Values that mean the same everywhere (metadata,
// texts, base64) are copied as they stand, once.
//
// # One call
//
// A caller of 0.3 on JSON-RPC asks for a task, and the agent speaks 1.0 on HTTP+JSON:
//
//	POST /  {"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"id":"T","historyLength":1}}
//
// wire decodes it. Request makes of the wire.Call an Outbound: verb, path and query, and a body where
// the verb has one.
//
//	GET /tasks/T?historyLength=1
//
// The agent answers in its own words, and Retelling.Answer writes the caller's:
//
//	{"id":"T","contextId":"C","status":{"state":"TASK_STATE_COMPLETED"}}
//	{"jsonrpc":"2.0","id":7,"result":{"kind":"task","id":"T","contextId":"C","status":{"state":"completed"}}}
//
// For a stream Retelling.Event is called with each event, and End when the agent's stream has ended.
// Some events are held back until the next one, see hold.go.
//
// # The parts
//
//	buffer      JSON text as it grows: names, commas, strings
//	writer      one document of a dialect from pieces of another, by the tables
//	object      the table of one kind of object: what each dialect calls its members
//	meaning     how the value of a member is written, for those that are not just copied
//	Retelling   what the answers of one call have in common, and the state of its stream
//	opaque      a call of an extension's method, of which only the envelope is known
//	rule        what is lost, added, changed or refused, for docs/versions.md
//
// A dialect is the JSON of a version, of which 0.3 has two (A2A 0.3 over JSON-RPC has a schema of its
// own; over HTTP+JSON and gRPC it is ProtoJSON of the package a2a.v1):
//
//	        0.1   0.3 JSON-RPC   0.3 HTTP+JSON, gRPC   1.0
//	0.1     d01
//	0.3           d03            p03
//	1.0                                                d10
//
// # What is checked here
//
// A caller's document that cannot be said in the target's words is refused with INVALID_PARAMS or
// UNSUPPORTED_OPERATION, an agent's with INVALID_AGENT_RESPONSE. The writer notes the first thing that
// is wrong and goes on, so that no function of it has an error to hand back; who called it looks at
// wrong when the document is complete, and throws the document away.
package translate
