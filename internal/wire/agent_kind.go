package wire

import "slices"

// Which kind an agent's error is: by its reason, JSON-RPC code, gRPC code or status.

// kindsByReason finds the kind that an ErrorInfo names. Some SDKs have a word of
// their own for what A2A has none.
var kindsByReason = func() map[string]*Kind {
	index := map[string]*Kind{"PERMISSION_DENIED": Denied, "FORBIDDEN": Denied}
	for _, k := range Kinds() {
		index[k.Reason] = k
	}
	return index
}()

// kindOfReason returns nil for a reason that is not in the table.
func kindOfReason(reason string) *Kind { return kindsByReason[reason] }

// kindOfCode is the kind with a JSON-RPC code. Where kinds share one, the status
// that came with it decides, as it does where the code says nothing but that something
// went wrong.
//
//	-32001  TaskNotFound in every version
//	-32007  NoExtendedCard since 0.3; in 0.1's text, that a credential is missing
//	-32601  MethodNotFound, and the gateway's own UnknownAgent: the status tells
func kindOfCode(v Version, code, status int) *Kind {
	switch k := kindOfPlain(status); {
	case k == nil:
	case k.Code == code:
		return k
	case code == Internal.Code || !coded(code):
		own := *k
		own.Code = code
		return &own
	}
	if v == V01 && -32099 <= code && code < ContentType.Code {
		return Internal
	}
	var found *Kind
	for _, k := range Kinds() {
		switch {
		case k.Code != code:
		case status != 200 && k.RPC == status:
			return k
		case found == nil:
			found = k
		}
	}
	if found == nil {
		found = &Kind{"UNKNOWN", code, 500, 200, "UNKNOWN", "Unknown error"}
	}
	return found
}

// coded reports whether any kind has a JSON-RPC code.
func coded(code int) bool {
	return slices.ContainsFunc(Kinds(), func(k *Kind) bool { return k.Code == code })
}

// ReasonOf is the reason of an error that ReadAnswer has found in an answer of a status,
// "AGENT_ERROR" where it is no kind's.
func (a *Answer) ReasonOf(v Version, status int) string {
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
func kindOfStatus(status int) *Kind {
	if k := kindOfPlain(status); k != nil {
		return k
	}
	switch status {
	case 400, 422:
		return InvalidParams
	case 401:
		return Unauthenticated
	case 403:
		return Denied
	case 404:
		return TaskNotFound
	case 405, 501:
		return Unsupported
	case 409:
		return NotCancelable
	case 415:
		return ContentType
	case 502:
		return BadAgentResponse
	}
	if 400 <= status && status < 500 {
		return InvalidRequest
	}
	return Internal
}

// kindOfGRPC is what a code means when nothing else says so: what the Go SDK makes
// of it, and for codes that it does not know the nearest kind.
func kindOfGRPC(name string) *Kind {
	switch name {
	case "INVALID_ARGUMENT", "OUT_OF_RANGE", "ALREADY_EXISTS":
		return InvalidParams
	case "NOT_FOUND":
		return TaskNotFound
	case "FAILED_PRECONDITION":
		return NotCancelable
	case "UNIMPLEMENTED":
		return Unsupported
	case "UNAUTHENTICATED":
		return Unauthenticated
	case "PERMISSION_DENIED":
		return Denied
	case "RESOURCE_EXHAUSTED":
		return RateLimited
	case "UNAVAILABLE":
		return Unavailable
	case "DEADLINE_EXCEEDED":
		return AgentTimeout
	}
	return Internal
}
