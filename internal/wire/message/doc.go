// Package message reads the contents of A2A messages for those who judge them: policy, which asks
// for parts and metadata, and the screening of files.
//
// Decoding a call (package wire) reads ids and checks the document, and looks at no part, since most
// rules are about neither. Read is a second pass over the params, made when a rule asks, and gives
// one wire.Message whatever version and binding the call came in:
//
//	0.1        {"type":"file","file":{"name":"a.txt","bytes":"aGV5"}}
//	0.3        {"kind":"file","file":{"name":"a.txt","bytes":"aGV5"}}
//	ProtoJSON  {"file":{"name":"a.txt","fileWithBytes":"YUdWNQ=="}}         of 0.3
//	1.0        {"filename":"a.txt","raw":"aGV5"}
//	           all of them: wire.Part{Kind: "file", Name: "a.txt", Bytes: 3}
//
// Read refuses what two parsers would take for two things, because the judge's reading and the
// agent's must be one. Files goes the other way: it takes a part for everything that any version
// might find in it, so that nothing hides behind a spelling. It serves answers as well as calls,
// and there nothing can be refused for being lax. Replace puts texts in the place of such parts.
//
// The wire.Message holds no piece of the body. The bytes that go on to the agent are the body's
// own, and not made from it.
package message
