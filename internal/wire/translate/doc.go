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
package translate
