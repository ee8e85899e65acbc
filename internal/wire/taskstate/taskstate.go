package taskstate

import "strconv"

// numbered are the states by their number in both proto packages.
var numbered = [...]string{
	"TASK_STATE_UNSPECIFIED", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING",
	"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED",
	"TASK_STATE_INPUT_REQUIRED", "TASK_STATE_REJECTED", "TASK_STATE_AUTH_REQUIRED",
}

// Numbered is the 1.0 name of the state with a number in the proto packages of 0.3 and 1.0, "" for
// a number that none has. ProtoJSON permits a number in the place of an enum's name.
func Numbered(n int) string {
	if n < 0 || n >= len(numbered) {
		return ""
	}
	return numbered[n]
}

// Named returns the 1.0 name of a state that is spelled as in any version, "" for a name that no
// version has. "cancelled" is the spelling of 0.3's proto, and of some agents on JSON-RPC. The
// argument is bytes, so that who reads a document need not make a string of them.
func Named(word []byte) string {
	switch string(word) {
	case "unknown", "TASK_STATE_UNSPECIFIED":
		return "TASK_STATE_UNSPECIFIED"
	case "submitted", "TASK_STATE_SUBMITTED":
		return "TASK_STATE_SUBMITTED"
	case "working", "TASK_STATE_WORKING":
		return "TASK_STATE_WORKING"
	case "completed", "TASK_STATE_COMPLETED":
		return "TASK_STATE_COMPLETED"
	case "failed", "TASK_STATE_FAILED":
		return "TASK_STATE_FAILED"
	case "canceled", "cancelled", "TASK_STATE_CANCELED", "TASK_STATE_CANCELLED":
		return "TASK_STATE_CANCELED"
	case "input-required", "TASK_STATE_INPUT_REQUIRED":
		return "TASK_STATE_INPUT_REQUIRED"
	case "rejected", "TASK_STATE_REJECTED":
		return "TASK_STATE_REJECTED"
	case "auth-required", "TASK_STATE_AUTH_REQUIRED":
		return "TASK_STATE_AUTH_REQUIRED"
	}
	return ""
}

// Terminal reports whether a task in this state stays in it for good.
//
// A2A 1.0 §3.1.1: a message to a task in one of these is refused, and its stream ends.
func Terminal(state string) bool {
	switch state {
	case "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED":
		return true
	}
	return false
}

// Settled reports whether a caller who waits for a task need not wait any longer:
// it has ended, or it is the caller's turn (A2A 1.0 §3.2.2).
func Settled(state string) bool {
	return Terminal(state) || state == "TASK_STATE_INPUT_REQUIRED" || state == "TASK_STATE_AUTH_REQUIRED"
}

// Parse reads a task state as any version or ProtoJSON writes it ("canceled",
// "TASK_STATE_CANCELLED", "5") and returns its 1.0 name, TASK_STATE_CANCELED. The
// second result is false for a state that no version has.
func Parse(s string) (string, bool) {
	if n, err := strconv.ParseUint(s, 10, 8); err == nil && strconv.FormatUint(n, 10) == s {
		name := Numbered(int(n))
		return name, name != ""
	}
	name := Named([]byte(s))
	return name, name != ""
}
