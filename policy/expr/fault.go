package expr

import (
	"errors"
	"strings"

	"cel.dev/cel-go/interpreter"
)

// fault says why an expression could not be evaluated. What it says is safe for records:
// it is one of few sentences, and never a value of the call.
// It is made of an error of CEL, whose text may quote what the caller sent.
type fault struct{ reason string }

// Error is the reason.
func (f *fault) Error() string { return f.reason }

// Reasons that CEL has no words for.
// An expression that looks at one of these two variables when it is not known is in doubt: the
// rule's effect then says what doubt means (package policy).
const (
	costly = "it costs too much for this call"
	unread = "the message was not read"
	open   = "which skill the call is for is not known"
	other  = "it cannot be evaluated"
)

// reasons are what CEL's errors begin with. The rest of them may quote the call.
// The texts are those of the version of cel-go in go.mod; one that is not listed becomes other,
// and tests bring about each.
var reasons = [...]struct{ begins, says string }{
	{"no such key", "a key is missing"},
	{"no such field", "a field is missing"},
	{"no such attribute", "a value is missing"},
	{"no such overload", "a value has another type than is needed"},
	{"unsupported key type", "a value has another type than is needed"},
	{"unsupported index type", "a value has another type than is needed"},
	{"index out of bounds", "an index is out of range"},
	{"index out of range", "an index is out of range"},
	{"invalid_argument", "an index is out of range"},
	{"division by zero", "division by zero"},
	{"modulus by zero", "division by zero"},
	{"integer overflow", "a number is out of range"},
	{"unsigned integer overflow", "a number is out of range"},
	{"range error", "a number is out of range"},
	{"duration overflow", "a time is out of range"},
	{"timestamp overflow", "a time is out of range"},
	{"type conversion error", "a value cannot be converted"},
	{"invalid RFC 3339 timestamp", "a value cannot be converted"},
	{"got '", "a value has another type than is needed"},
	{costly, costly},
}

// reason puts an error of CEL's into words that tell nothing of the call.
func reason(err error) string {
	// The budget ends an evaluation from outside, with an error of its own type.
	var cancelled interpreter.EvalCancelledError
	if errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded {
		return costly
	}
	text := err.Error()
	for _, r := range reasons {
		if strings.HasPrefix(text, r.begins) {
			return r.says
		}
	}
	return other
}
