package failure

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Which kind an agent's error is: by its reason, JSON-RPC code, gRPC code or status.

// kindsByReason finds the kind that an ErrorInfo names. Some SDKs have a word of
// their own for what A2A has none.
var kindsByReason = func() map[string]*wire.Kind {
	index := map[string]*wire.Kind{"PERMISSION_DENIED": wire.Denied, "FORBIDDEN": wire.Denied}
	for _, k := range wire.Kinds() {
		index[k.Reason] = k
	}
	return index
}()

// kindOfReason returns nil for a reason that is not in the table.
func kindOfReason(reason string) *wire.Kind { return kindsByReason[reason] }

// kindOfCode is the kind with a JSON-RPC code. Where kinds share one, the status
// that came with it decides, as it does where the code says nothing but that something
// went wrong.
//
//	-32001  TaskNotFound in every version
//	-32007  NoExtendedCard since 0.3; in 0.1's text, that a credential is missing
//	-32601  MethodNotFound, and the gateway's own UnknownAgent: the status tells
func kindOfCode(v wire.Version, code, status int) *wire.Kind {
	switch k := kindOfPlain(status); {
	case k == nil:
	case k.Code == code:
		return k
	case code == wire.Internal.Code || !coded(code):
		own := *k
		own.Code = code
		return &own
	}
	if v == wire.V01 && -32099 <= code && code < wire.ContentType.Code {
		return wire.Internal
	}
	var found *wire.Kind
	for _, k := range wire.Kinds() {
		switch {
		case k.Code != code:
		case status != 200 && k.RPC == status:
			return k
		case found == nil:
			found = k
		}
	}
	if found == nil {
		found = &wire.Kind{Reason: "UNKNOWN", Code: code, HTTP: 500, RPC: 200, GRPC: "UNKNOWN", Text: "Unknown error"}
	}
	return found
}

// coded reports whether any kind has a JSON-RPC code.
func coded(code int) bool {
	return slices.ContainsFunc(wire.Kinds(), func(k *wire.Kind) bool { return k.Code == code })
}

// ReasonOf is the reason of an error that ReadAnswer has found in an answer of a status,
// "AGENT_ERROR" where it is no kind's.
//
// The reason goes into metrics and the audit record. It is one of the table's or "AGENT_ERROR", so that
// an agent cannot make up labels without end.
func ReasonOf(a *wire.Answer, v wire.Version, status int) string {
	switch {
	case a.Reason != "":
		return a.Reason
	case 400 <= a.Error && a.Error < 600:
		return kindOfStatus(a.Error).Reason
	case !coded(a.Error) && kindOfPlain(status) == nil:
		return "AGENT_ERROR"
	}
	return kindOfCode(v, a.Error, status).Reason
}

// kindOfStatus is what an HTTP status means when nothing else says so.
//
// The statuses of A2A 1.0 §5.4, with those that 1.0.0 and the servers of 0.3 have in their place: 409
// for a task that cannot be canceled, 415 for a content type, 501 for what is not supported.
func kindOfStatus(status int) *wire.Kind {
	if k := kindOfPlain(status); k != nil {
		return k
	}
	switch status {
	case 400, 422:
		return wire.InvalidParams
	case 401:
		return wire.Unauthenticated
	case 403:
		return wire.Denied
	case 404:
		return wire.TaskNotFound
	case 405, 501:
		return wire.Unsupported
	case 409:
		return wire.NotCancelable
	case 415:
		return wire.ContentType
	case 502:
		return wire.BadAgentResponse
	}
	if 400 <= status && status < 500 {
		return wire.InvalidRequest
	}
	return wire.Internal
}

// kindOfGRPC is what a code means when nothing else says so: what the Go SDK makes
// of it, and for codes that it does not know the nearest kind.
func kindOfGRPC(name string) *wire.Kind {
	switch name {
	case "INVALID_ARGUMENT", "OUT_OF_RANGE", "ALREADY_EXISTS":
		return wire.InvalidParams
	case "NOT_FOUND":
		return wire.TaskNotFound
	case "FAILED_PRECONDITION":
		return wire.NotCancelable
	case "UNIMPLEMENTED":
		return wire.Unsupported
	case "UNAUTHENTICATED":
		return wire.Unauthenticated
	case "PERMISSION_DENIED":
		return wire.Denied
	case "RESOURCE_EXHAUSTED":
		return wire.RateLimited
	case "UNAVAILABLE":
		return wire.Unavailable
	case "DEADLINE_EXCEEDED":
		return wire.AgentTimeout
	}
	return wire.Internal
}
