// Package wire knows what A2A looks like on the wire, in every version and
// binding, and nothing else does.
//
// # The vocabulary
//
// A call is one operation (a Method) of one Version, carried by one Binding. There are three
// versions in the field. 0.1 is the first publication, with tasks/send and task ids that clients
// choose. 0.3, which 0.2 is treated as, has message/send and objects that say their "kind". 1.0 is
// ProtoJSON of one proto file, with the same names in JSON-RPC and gRPC. One send, in all of them:
//
//	0.1 JSON-RPC   {"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"T","message":{…}}}
//	0.3 JSON-RPC   {"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{…}}}
//	0.3 HTTP+JSON  POST /v1/message:send            {"message":{…}}, proto members
//	0.3 gRPC       /a2a.v1.A2AService/SendMessage
//	1.0 JSON-RPC   {"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{…}}}
//	1.0 HTTP+JSON  POST /message:send, or /TENANT/message:send   {"message":{…}}
//	1.0 gRPC       /lf.a2a.v1.A2AService/SendMessage
//
// A message has parts, which are text, files and data. Before 1.0 a part says what it is; in
// ProtoJSON it is what it has:
//
//	0.1            {"type":"file","file":{"name":"a.txt","mimeType":"text/plain","bytes":"aGV5"}}
//	0.3 JSON-RPC   {"kind":"file","file":{"name":"a.txt","mimeType":"text/plain","bytes":"aGV5"}}
//	0.3 ProtoJSON  {"file":{"name":"a.txt","mimeType":"text/plain","fileWithBytes":"aGV5"}}
//	1.0            {"filename":"a.txt","mediaType":"text/plain","raw":"aGV5"}
//
// A task is the work that a message began. It has an id, a context that it belongs to together
// with other tasks and messages, and a status with one of nine states:
//
//	0.1            {"id":"T","sessionId":"C","status":{"state":"working"}}
//	0.3 JSON-RPC   {"kind":"task","id":"T","contextId":"C","status":{"state":"working"}}
//	ProtoJSON      {"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}
//
// The answer to a send is a task or a message. ProtoJSON wraps either in a member that names it,
// as it wraps the events of a stream; JSON-RPC of 0.3 has "kind" in their place, and 0.1 nothing at
// all:
//
//	0.1            {"id":"T","status":{"state":"completed"},"final":true}
//	0.3 JSON-RPC   {"kind":"status-update","taskId":"T","contextId":"C","status":{…},"final":true}
//	ProtoJSON      {"statusUpdate":{"taskId":"T","contextId":"C","status":{…}}}
//
// A push notification config names a webhook for a task's events:
//
//	0.1            {"id":"T","pushNotificationConfig":{"url":…,"authentication":{"schemes":["Bearer"]}}}
//	0.3 JSON-RPC   {"taskId":"T","pushNotificationConfig":{"id":"C","url":…}}
//	0.3 ProtoJSON  {"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":"C","url":…}}
//	1.0            {"taskId":"T","id":"C","url":…,"authentication":{"scheme":"Bearer"}}
//
// An error has a code on JSON-RPC, a status on HTTP+JSON and gRPC, and since 1.0 a reason that is
// the same on all of them:
//
//	JSON-RPC       {"error":{"code":-32001,"message":…,"data":[{"@type":…,"reason":"TASK_NOT_FOUND",…}]}}
//	HTTP+JSON 1.0  404 {"error":{"code":404,"status":"NOT_FOUND","message":…,"details":[{…}]}}
//	gRPC           grpc-status: 5, and the details in grpc-status-details-bin
//
// Where a comment says ProtoJSON it means all of 1.0, and 0.3 over HTTP+JSON and gRPC.
//
// # One call and its answer
//
// A request is read in three steps. What it is called tells the operation and, but for three names,
// the version: ByRoute reads a path, ByRPC the path of an RPC, the decoder the "method" of an
// envelope. RequestVersion reads what the header says, which must not contradict. Then one of
// DecodeJSONRPC, DecodeHTTP and DecodeGRPC reads the document, in one pass, into a Call:
//
//	document ─ Reader (names, strings, near misses) ─ decoder (what members mean) ─ Call
//
// A Call has what policy and ownership ask about, and where in the body it stands. What a rule about
// contents needs is read later, from the same bytes, by package message.
//
// An agent's answer is read by ReadAnswer, or by a Series where it is one of many events, into an
// Answer: the tasks it names, their states, whether it is an error. Where extensions are concerned,
// ReadCarriers finds the objects that may hold something of theirs, in calls and answers, and Apply
// writes the document without it.
//
// # What is where
//
//	versions, bindings       version.go
//	operations               method.go; with those of extensions, extra.go and extra_*.go
//	paths                    route.go
//	headers                  headers.go
//	a call                   call.go, call_http.go, call_grpc.go; members in names.go and params.go
//	an answer                answer.go, event.go, shape.go, problem.go, extra_answer.go
//	objects with extensions  carrier.go, carrier_read.go, carrier_object.go, carrier_edit.go
//	errors                   error.go: the table; how they travel is package failure
//	protobuf                 proto.go, proto_check.go, tenant.go
//
// Below the package stand taskstate and mediatype, which it imports together with jsonscan. Beside
// it, and importing it, are failure (errors on the wire), message (contents), pushconfig, taskpage,
// fold, authdemand and translate: each is about one member of documents or one thing to do with
// them.
//
// It does not own transport, policy or translation, keeps no state and does no I/O. How a document
// is walked without being decoded is jsonscan's.
//
// It exports more than twenty names because it is the vocabulary that all packages above it share:
// a good thirty are rows of the error table, the others versions, bindings, the names of operations and
// what an operation is about and does, and the types that these functions take and give.
//
// # What is read is checked, and what is checked is forwarded
//
// A body is accepted only if every JSON parser in the field must read it alike (no duplicate
// names, no near-miss of a name that decides something, valid UTF-8, nothing
// after the document), and then its original bytes go on, so that unknown
// members, big numbers and the order of keys survive.
//
// Calls are held to this strictly, since they are what an attacker writes: whatever two parsers
// could read as two tasks is refused. Answers are read leniently where that cannot hide a task,
// and everything that a client might take for one is found.
//
// A gRPC message is its ProtoJSON document dressed in protobuf: it is undressed
// once (proto.go), read by the tables that read HTTP+JSON, and the bytes that came
// are what goes on. There the same rule asks for more than protobuf does: nothing
// may be given twice (proto_check.go).
package wire
