package wire

import (
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// problem is what the top level of an HTTP+JSON body has of an error. Nothing but
// the shape tells the two apart when the status is not at hand, as in a stream
// event, and a task or message may carry unknown members of the same names; so a
// body is an error only if nothing else was recognised in it (see failed).
//
// The shapes in the field:
//
//	{"error":{"code":404,"status":"NOT_FOUND","message":"…","details":[…]}}   1.0, Go's 0.3
//	{"code":-32001,"message":"…","data":…}                                    JavaScript's 0.3
//	{"message":"…"}                                                           Python's 0.3
//	{"type":"…","title":"…","status":404,"detail":"…"}                        1.0-rc, RFC 9457
type problem struct {
	object bool // "error" is an object
	bare   bool // "code" is a number, or "message" a string
	others bool // there are members that none of the shapes has
	code   int
}

// problemMember consumes the value of r.s's current member if it is one of an error
// shape's, and reports whether it did. It must be called for every member of the
// top level, before anyone else looks at the value.
//
// A member counts only if its value has the type that the error shapes give it: {"code":"a"} of an
// extension's result is no error, and {"message":{…}} is a wrapper and no text.
func (r *answerReader) problemMember(name []byte) bool {
	if r.binding != HTTPJSON {
		return false
	}
	p, kind := &r.problem, r.s.Kind()
	switch string(name) {
	case "error":
		if kind == '{' {
			p.object = true
			if code, ok := r.errorObject(); ok {
				p.code = code
			}
			return true
		}
	case "code":
		if kind == '0' {
			code, ok := r.integer()
			if p.bare = true; ok && p.code == 0 {
				p.code = code
			}
			return true
		}
	case "message":
		if kind == '"' {
			p.bare = true
			r.s.Skip()
			return true
		}
	case "status":
		if kind == '0' {
			code, ok := r.integer()
			if p.object = true; ok && p.code == 0 {
				p.code = code
			}
			return true
		}
	case "data":
		return false
	}
	p.others = true
	return false
}

// failed turns the body into an error if it was nothing else.
//
// An agent that answers a task under an error status has answered a task: what a client shows of it
// has to be the caller's own.
func (r *answerReader) failed() {
	p := &r.problem
	// {"message":"done"} may well be the result of an extension's method.
	bare := p.bare && !p.others && inCore(r.method)
	recognised := r.a.Kind != "" && r.a.Kind != kindList || len(r.a.Tasks) > 0
	if !p.object && !bare || recognised {
		r.a.Reason = "" // it belonged to a member of the result
		return
	}
	r.a.Kind = ""
	if r.a.Error = p.code; p.code == 0 {
		r.a.Error = Internal.Code
	}
}

// rpcError reads the error member of a JSON-RPC response and reports whether there
// is an error: null is none.
func (r *answerReader) rpcError() bool {
	switch r.s.Kind() {
	case 'n':
		r.s.Skip()
		return false
	case '{':
		code, ok := r.errorObject()
		if !ok || code == 0 {
			r.refuse("the error has no integer code")
		}
		r.a.Error = code
	default:
		r.refuse("the error is not an object")
		r.s.Skip()
	}
	return true
}

// errorObject reads a JSON-RPC error or the google.rpc.Status of HTTP+JSON: both
// have a code, and both list an ErrorInfo, as "data" or as "details".
//
// A code that is no integer is not read; on JSON-RPC the answer is refused for it (JSON-RPC 2.0 §5.1).
func (r *answerReader) errorObject() (code int, ok bool) {
	s := r.s
	for s.Enter(); s.More(); {
		switch string(s.Name()) {
		case "code":
			code, ok = r.integer()
		case "data", "details":
			r.reason()
		default:
			s.Skip()
		}
	}
	return code, ok
}

// reason takes the reason from the first element of an error's details that has
// one. Before 1.0 "data" may be anything at all.
//
//	"data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND"}]
func (r *answerReader) reason() {
	s := r.s
	if s.Kind() != '[' {
		s.Skip()
		return
	}
	for s.Enter(); s.More(); {
		if s.Kind() != '{' {
			s.Skip()
			continue
		}
		for s.Enter(); s.More(); {
			if string(s.Name()) == "reason" && r.a.Reason == "" {
				r.a.Reason = string(r.word())
			} else {
				s.Skip()
			}
		}
	}
}

// integer reads the next value.
func (r *answerReader) integer() (int, bool) { return integer(r.s) }

// integer reads a number without fraction and exponent; anything else is skipped.
func integer(s *jsonscan.Scanner) (int, bool) {
	kind := s.Kind()
	start, end := s.Skip()
	if kind != '0' {
		return 0, false
	}
	n, err := strconv.Atoi(string(s.Doc[start:end]))
	return n, err == nil
}
