// Package failure is how A2A's errors travel: it writes the gateway's refusals in the form of the
// caller's binding and version, and reads the errors of agents in every form that is in use.
//
// A refusal is a wire.Error, one row of the table of docs/errors.md with what is particular to the
// call. What becomes of one (TaskNotFound):
//
//	JSON-RPC 1.0    200  {"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":…,"data":[ErrorInfo]}}
//	JSON-RPC 0.x    200  the same without data
//	HTTP+JSON 1.0   404  {"error":{"code":404,"status":"NOT_FOUND","message":…,"details":[ErrorInfo]}}
//	HTTP+JSON 0.3   404  {"code":-32001,"message":…,"error":{…}}, which the three SDKs of 0.3 all read
//	gRPC            200  trailers grpc-status: 5, grpc-message, grpc-status-details-bin (1.0 only)
//	within a stream      one last event; on gRPC the trailers
//
// Write answers a call whose answer has not begun, Event ends a stream that has, SetStatus sets the
// trailers of gRPC. They are the only places of the program that write error bytes.
//
// In the other direction ReadError reads JSON bodies and events, ReadStatus reads gRPC's trailers,
// and Plain stands for an HTTP answer that says no in no form of A2A's: a page of a load balancer,
// a 503 without a body. What tells the kind, in this order:
//
//	ErrorInfo.reason      "TASK_NOT_FOUND"                       1.0 (A2A 1.0 §11.6)
//	problem type          ".../errors/task-not-found"            1.0's release candidate (RFC 9457)
//	JSON-RPC code         -32001                                 every version
//	gRPC code, by name    "NOT_FOUND"                            gRPC, and HTTP+JSON as Google writes it
//	HTTP status           404
//
// Retry-After (RFC 9110 §10.2.3), google.rpc.RetryInfo and the retry field of an event stream say
// the same thing in three places; each is translated into the one that the caller's binding has.
//
// Nothing of an agent's page or stack trace reaches a caller: the words of an A2A error do, since
// they are meant for him.
package failure
