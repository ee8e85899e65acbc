package wire

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is one row of the error table: what a refusal is called in every
// binding. docs/errors.md is generated from the rows.
//
// One row in every form, for a caller of 1.0:
//
//	JSON-RPC   200 {"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"Task not found",
//	                "data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND",…}]}}
//	HTTP+JSON  404 {"error":{"code":404,"status":"NOT_FOUND","message":"Task not found","details":[…]}}
//	gRPC       grpc-status: 5, grpc-message: Task not found
type Kind struct {
	Reason string // ErrorInfo reason, UPPER_SNAKE (A2A 1.0 §11.6)
	Code   int    // JSON-RPC error code
	HTTP   int    // status on HTTP+JSON
	RPC    int    // status on JSON-RPC: 200 for protocol refusals, as the SDK servers answer
	GRPC   string // google.rpc.Code name; also the status word of HTTP+JSON bodies
	Text   string // message when the Error has none of its own
}

// The kinds. Statuses follow A2A 1.0.1 §5.4; -31401 and -31403, and the reasons
// beside them, are what the Go SDK maps to its ErrUnauthenticated and
// ErrUnauthorized, since A2A has no name for either.
var (
	parseError      = &Kind{"PARSE_ERROR", -32700, 400, 200, "INVALID_ARGUMENT", "Invalid JSON payload"}
	InvalidRequest  = &Kind{"INVALID_REQUEST", -32600, 400, 200, "INVALID_ARGUMENT", "Request payload validation error"}
	MethodNotFound  = &Kind{"METHOD_NOT_FOUND", -32601, 404, 200, "UNIMPLEMENTED", "Method not found"}
	InvalidParams   = &Kind{"INVALID_PARAMS", -32602, 400, 200, "INVALID_ARGUMENT", "Invalid parameters"}
	Internal        = &Kind{"INTERNAL_ERROR", -32603, 500, 500, "INTERNAL", "Internal error"}
	TaskNotFound    = &Kind{"TASK_NOT_FOUND", -32001, 404, 200, "NOT_FOUND", "Task not found"}
	NotCancelable   = &Kind{"TASK_NOT_CANCELABLE", -32002, 400, 200, "FAILED_PRECONDITION", "Task cannot be canceled"}
	PushUnsupported = &Kind{
		"PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400, 200, "FAILED_PRECONDITION",
		"Push Notification is not supported",
	}
	Unsupported = &Kind{
		"UNSUPPORTED_OPERATION", -32004, 400, 200, "FAILED_PRECONDITION",
		"This operation is not supported",
	}
	ContentType = &Kind{
		"CONTENT_TYPE_NOT_SUPPORTED", -32005, 400, 200, "INVALID_ARGUMENT",
		"Incompatible content types",
	}
	BadAgentResponse = &Kind{"INVALID_AGENT_RESPONSE", -32006, 502, 502, "INTERNAL", "Invalid agent response"}
	NoExtendedCard   = &Kind{
		"EXTENDED_AGENT_CARD_NOT_CONFIGURED", -32007, 400, 200, "FAILED_PRECONDITION",
		"Extended Agent Card is not configured",
	}
	ExtensionRequired = &Kind{
		"EXTENSION_SUPPORT_REQUIRED", -32008, 400, 200, "FAILED_PRECONDITION",
		"Extension support required",
	}
	VersionUnsupported = &Kind{
		"VERSION_NOT_SUPPORTED", -32009, 400, 200, "FAILED_PRECONDITION",
		"Protocol version not supported",
	}
	Unauthenticated = &Kind{"UNAUTHENTICATED", -31401, 401, 401, "UNAUTHENTICATED", "Authentication required"}
	Denied          = &Kind{"UNAUTHORIZED", -31403, 403, 403, "PERMISSION_DENIED", "Permission denied"}
	ContentRefused  = &Kind{"CONTENT_REFUSED", -31403, 403, 200, "PERMISSION_DENIED", "The content is not permitted"}
	UnknownAgent    = &Kind{"AGENT_NOT_FOUND", -32601, 404, 404, "NOT_FOUND", "No such agent"}
	Duplicate       = &Kind{"DUPLICATE_MESSAGE", -32602, 409, 200, "ALREADY_EXISTS", "The message was sent before"}
	Malformed       = &Kind{"MALFORMED_REQUEST", -32600, 400, 400, "INVALID_ARGUMENT", "Malformed HTTP request"}
	Misdirected     = &Kind{"MISDIRECTED_REQUEST", -32600, 421, 421, "INVALID_ARGUMENT", "Host not served here"}
	VerbNotAllowed  = &Kind{"METHOD_NOT_ALLOWED", -32600, 405, 405, "UNIMPLEMENTED", "HTTP method not allowed"}
	TooLarge        = &Kind{"REQUEST_TOO_LARGE", -32600, 413, 413, "RESOURCE_EXHAUSTED", "Request too large"}
	TargetTooLong   = &Kind{"URI_TOO_LONG", -32600, 414, 414, "RESOURCE_EXHAUSTED", "Request target too long"}
	FieldsTooLarge  = &Kind{"HEADER_FIELDS_TOO_LARGE", -32600, 431, 431, "RESOURCE_EXHAUSTED", "Header fields too large"}
	Encoded         = &Kind{"CONTENT_ENCODING_NOT_SUPPORTED", -32600, 415, 415, "UNIMPLEMENTED", "Request body must not be compressed"}
	PaymentRequired = &Kind{"PAYMENT_REQUIRED", -32603, 402, 402, "FAILED_PRECONDITION", "Payment required"}
	RateLimited     = &Kind{"RATE_LIMITED", -32603, 429, 429, "RESOURCE_EXHAUSTED", "Too many requests"}
	Loop            = &Kind{"LOOP_DETECTED", -32603, 508, 508, "FAILED_PRECONDITION", "The call has come back to where it has been"}
	Unavailable     = &Kind{"UNAVAILABLE", -32603, 503, 503, "UNAVAILABLE", "Temporarily unavailable"}
	// AnswerRefused is about a call that has had its effect: see OutcomeUnknown.
	AnswerRefused = &Kind{"ANSWER_REFUSED", -32603, 502, 200, "INTERNAL", "The content of the answer is not permitted"}
	// OutcomeUnknown is 200 on JSON-RPC: what stands in between repeats calls that are 5xx.
	OutcomeUnknown = &Kind{"OUTCOME_UNKNOWN", -32603, 500, 200, "INTERNAL", "The call has reached the agent, and what became of it is not known"}
	AgentTimeout   = &Kind{"AGENT_TIMEOUT", -32603, 504, 504, "DEADLINE_EXCEEDED", "The agent did not answer in time"}
)

// Kinds returns the table in the order of docs/errors.md.
func Kinds() []*Kind {
	return []*Kind{
		parseError, InvalidRequest, MethodNotFound, InvalidParams, Internal,
		TaskNotFound, NotCancelable, PushUnsupported, Unsupported, ContentType,
		BadAgentResponse, NoExtendedCard, ExtensionRequired, VersionUnsupported,
		Unauthenticated, Denied, ContentRefused, UnknownAgent, Duplicate, Malformed, Misdirected, VerbNotAllowed,
		TooLarge, TargetTooLong, FieldsTooLarge, Encoded, PaymentRequired, RateLimited, Loop, Unavailable, AnswerRefused, OutcomeUnknown, AgentTimeout,
	}
}

// Error is a refusal on its way to the client. It is the only error type whose
// text a client may read; everything else is turned into one by the proxy.
type Error struct {
	*Kind
	Message string            // sent; Kind.Text when empty
	Meta    map[string]string // sent, as google.rpc.ErrorInfo metadata
	Details []jsontext.Value  // sent after the ErrorInfo where 1.0 is spoken: objects with "@type"
	Header  http.Header       // sent: WWW-Authenticate, Retry-After, Allow
	Err     error             // logged and audited, never sent
}

// Errorf makes an Error of kind k. The text is sent to the client: it must name
// nothing that the client does not already know.
//
//	wire.Errorf(wire.InvalidParams, "pageSize is not 1 to %d", 100)
//	{"code":-32602,"message":"pageSize is not 1 to 100"}
func Errorf(k *Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// Because records the cause for the log and the audit record and returns e.
//
// The cause may quote what must not reach the caller: an address behind the gateway, a part of the
// body.
func (e *Error) Because(err error) *Error {
	e.Err = err
	return e
}

// Text is the message the client gets.
func (e *Error) Text() string {
	if e.Message != "" {
		return e.Message
	}
	return e.Kind.Text
}

// Error is for logs: reason, message and cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Reason + ": " + e.Text() + ": " + e.Err.Error()
	}
	return e.Reason + ": " + e.Text()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
