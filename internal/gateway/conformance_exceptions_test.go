package gateway_test

// exception is a requirement that an agent does not meet, whoever asks it: the gateway
// is not to make up for it. Names are patterns of package path; on is "own" where
// only bytes that the gateway passes on as they are show it.
type exception struct{ agent, on, id, why string }

// exceptions are all of them. The agents of 1.0 are those of a2a-go 2.4.
var exceptions = []exception{
	{"*", "*", "CORE-SEND-003", "the SDKs leave media types to the agent, and these do not look"},
	{"*03-*", "*", "DM-PART-005", "0.3 has media types of files only"},
	{"go03-*", "*", "PUSH-DELIVER-003", "agents call webhooks themselves, in their version: push mode passthrough"},
	{"go10-*", "*", "CORE-SEND-002", "the SDK says that the message is invalid"},
	{"go10-*", "*", "STREAM-SUB-003", "the SDK says that the task does not exist"},
	{"go10-*", "*", "CORE-STREAM-004", "the SDK's streams of a task that goes on do not begin with it"},
	{"go10-*", "own", "CORE-HIST-002a", "the SDK takes any number"},
	{"go10-*", "own", "CORE-HIST-003", "the SDK does not cut the history of what it answers to a send"},
	{"go10-grpc", "*", "DM-PART-002", "the SDK reads data that is no object as an empty object"},
	{"go10-*", "*", "DM-PART-003", "the SDK reads data that is null as none"},
	{"go10-jsonrpc", "own", "PUSH-DEL-001", "the SDK leaves the result out where it is empty"},
	{"go10-jsonrpc", "own", "PUSH-DEL-002", "the SDK leaves the result out where it is empty"},
	{"go10-jsonrpc", "[jh]*", "CORE-LIST-001a", "the SDK writes null for no tasks"},
	{"go10-rest", "[jh]*", "CORE-LIST-001a", "the SDK writes null for no tasks"},
	{"go10-*", "*", "HTTP_JSON-QP-001", "the SDK takes any state"},
	{"go10-rest", "own", "HTTP_JSON-SVC-001", "the SDK does not look at Accept"},
}
