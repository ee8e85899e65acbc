package wire

import (
	"unicode/utf8"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// Bounds of strings that are no ids.
const (
	longestToken = 6144 // page tokens are sealed state of the agent, and sealed once more here
	LongestURI   = 2048 // extension URIs
)

// Reader reads the members of a call's objects by tables of names, and refuses what parsers would
// read in two ways. It is the part of decoding that does not know what the members are for.
type Reader struct {
	*jsonscan.Scanner
	at *jsonscan.Spelling // the member or parameter that is being read, for what is said of it
}

// Member reads the next member's name and says what it means. A name that some
// parsers would take for one in the table while others would not is refused:
// case, underscores and hyphens ignored, ſ for s, K for k, a NUL that ends the
// string in some languages. So is a name that is there in both its spellings.
//
//	{"taskId":"T"}                   the task's id
//	{"task_id":"T"}                  the same, as the proto file spells it
//	{"taskId":"T","task_id":"U"}     refused: given twice
//	{"TaskID":"T"}                   refused: encoding/json of Go reads it as taskId, others do not
//	{"taſkId":"T"}                   refused: Go folds the long s as well
func (r *Reader) Member(n *Names, seen *uint32) jsonscan.Field {
	at := r.Pos
	name := r.Name()
	sp, f := n.Find(name)
	switch {
	case sp == nil:
		return fieldNone
	case f == fieldNone:
		r.Refuse(Errorf(n.kind, "a member's name, after byte %d, is not quite %q", at, sp.Camel))
	case *seen&sp.Bit != 0:
		r.Refuse(Errorf(n.kind, "%q is given twice", sp.Camel))
	}
	*seen |= sp.Bit
	r.at = sp
	return f
}

// IsObject reports whether an object is next; anything else is skipped, and
// refused unless it is null.
//
// null counts as absent because ProtoJSON says so for every field, and JavaScript clients write it for
// members that are undefined.
func (r *Reader) IsObject(what string) bool {
	switch r.Kind() {
	case '{':
		return true
	case 'n':
	default:
		r.Invalid(what + " is not an object")
	}
	r.Skip()
	return false
}

// isText reads a value and reports whether it is this string.
func (r *Reader) isText(want string) bool {
	if r.Kind() != '"' {
		r.Skip()
		return false
	}
	return string(r.Text()) == want
}

// notCall refuses what is no JSON-RPC call (JSON-RPC 2.0 §5.1, -32600), in the words of the schema's
// message and with what is wrong behind them.
func (r *Reader) notCall(what string) {
	r.Refuse(Errorf(InvalidRequest, "Request payload validation error: %s", what))
}

// End ends the reading, and names the key of the limit that a call is beyond.
//
//	{"code":-32600,"message":"nested deeper than 64 (server.limits.jsonDepth)"}
func (r *Reader) End() *Error {
	e := Finish(r.Scanner)
	if key := r.Limit(); e != nil && key != "" {
		e.Message += " (" + key + ")"
	}
	return e
}

// Words reads an array of strings; null is absent.
//
// The bound of longest is per element. How many there may be is bounded by the scanner's limit on the
// elements of one array (server.limits.jsonMembers).
func (r *Reader) Words(what string, longest int) []string {
	if kind := r.Kind(); kind != '[' {
		if kind != 'n' {
			r.Invalid(what + " is not an array")
		}
		r.Skip()
		return nil
	}
	var list []string
	for r.Enter(); r.More(); {
		var w string
		if r.word(&w, what, longest); w == "" {
			r.Invalid(what + " has an element that is not a string or empty")
			continue
		}
		list = append(list, w)
	}
	return list
}

// word reads a string into dst; null is absent. A value that is already there
// must be the same.
func (r *Reader) word(dst *string, what string, longest int) {
	switch r.Kind() {
	case '"':
		if text := r.Text(); string(text) != *dst {
			r.agree(dst, string(text), what, longest)
		}
	case 'n':
		r.Skip()
	default:
		r.Skip()
		r.Invalid(what + " is not a string")
	}
}

// agree puts value into dst, or refuses when something else is there. An empty
// value says nothing. Control characters are refused because a NUL ends the
// string for some agents and a line break forges lines in their logs.
//
// A task that is named in the path and in the body is named once if the two are equal. Servers differ
// in which of two they take.
func (r *Reader) agree(dst *string, value, what string, longest int) {
	switch {
	case value == "" || value == *dst:
	case *dst != "":
		r.Invalid(what + " is given twice, and differently" + r.where())
	case len(value) > longest:
		r.Refuse(Errorf(InvalidParams, "%s is longer than %d bytes", what, longest))
	case !utf8.ValidString(value) || hasControl(value):
		r.Invalid(what + " holds a control character or invalid UTF-8")
	default:
		*dst = value
	}
}

// hasControl looks for the control characters of ASCII and of Latin-1, which
// UTF-8 writes as C2 80 to C2 9F.
func hasControl(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c == 0x7f || c == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0 {
			return true
		}
	}
	return false
}

// where says which member or parameter it is that is wrong.
func (r *Reader) where() string {
	if r.at == nil {
		return ""
	}
	return ", in " + r.at.Camel
}

// Invalid refuses params: -32602 on JSON-RPC, 400 and INVALID_ARGUMENT elsewhere.
func (r *Reader) Invalid(what string) {
	r.Refuse(Errorf(InvalidParams, "Invalid parameters: %s", what))
}
