package failure

import (
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// ReadError reads the error that an agent answered in a JSON body, in any of the
// shapes that ReadAnswer takes for one. status is the one of HTTP.
//
// The kind is the one that the ErrorInfo names, else the one of the JSON-RPC code,
// else of the gRPC code's name or the HTTP status. A JSON-RPC code that is not in
// the table keeps its number, under a kind of its own with the reason "UNKNOWN".
// 0.1 never settled what the numbers beyond -32005 mean: they become Internal, with
// the number in the details. Message, metadata and details are the agent's; data
// that is no list of details becomes a google.protobuf.Struct among them.
//
// A body that is no error is BadAgentResponse.
func ReadError(s wire.Side, status int, body []byte) *wire.Error {
	r := errorReader{Scanner: wire.NewScanner(jsonscan.Mend(body), wire.Limits{}), side: s, status: status}
	defer r.Release()
	if r.Kind() == '{' {
		r.top()
	} else {
		r.Refuse(&wire.Error{Kind: wire.BadAgentResponse, Err: errors.New("read error: not an object")})
		r.Skip()
	}
	if e := wire.Finish(r.Scanner); e != nil {
		if e.Kind != wire.BadAgentResponse {
			e = (&wire.Error{Kind: wire.BadAgentResponse}).Because(e)
		}
		return e
	}
	return r.made()
}

// errorReader collects what an error body says.
type errorReader struct {
	*jsonscan.Scanner
	side   wire.Side
	status int // of HTTP, then of the body where it has one

	code    int    // JSON-RPC's; 0 is none
	word    string // name of the gRPC code
	problem string // RFC 9457's type
	title   string // and its title, for want of a detail
	message string
	info    *wire.Kind // what the ErrorInfo says
	meta    map[string]string
	details []jsontext.Value
	found   bool // something made this an error
}

// top reads the body: a JSON-RPC response, or on HTTP+JSON any of problem's shapes.
//
//	{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"…","data":[…]}}
//	{"error":{"code":404,"status":"NOT_FOUND","message":"…","details":[…]}}
//	{"code":-32001,"message":"…"}
//	{"type":"https://a2a-protocol.org/errors/task-not-found","title":"…","status":404}
func (r *errorReader) top() {
	for r.Enter(); r.More(); {
		name := string(r.Name())
		switch {
		case name == "error" && r.Kind() == '{':
			r.found = true
			r.object()
		case r.side.Binding == wire.JSONRPC:
			r.Skip()
		default:
			r.bare(name)
		}
	}
}

// object reads the error of JSON-RPC or the google.rpc.Status of HTTP+JSON. What it
// says goes before what stands beside it.
func (r *errorReader) object() {
	for r.Enter(); r.More(); {
		switch name := string(r.Name()); name {
		case "message":
			if text := r.take(); text != "" {
				r.message = text
			}
		case "status":
			r.word = r.take()
		case "code":
			r.takeCode()
		case "data", "details":
			r.data()
		default:
			r.Skip()
		}
	}
}

// bare reads a member of an error without a wrapper.
func (r *errorReader) bare(name string) {
	switch kind := r.Kind(); {
	case name == "code" && kind == '0', name == "status" && kind == '0':
		r.found = true
		r.takeCode()
	case name == "message" && kind == '"', name == "detail" && kind == '"':
		r.found = true
		if text := r.take(); r.message == "" {
			r.message = text
		}
	case name == "title" && kind == '"':
		r.title = r.take()
	case name == "type" && kind == '"':
		r.problem = r.take()
	case name == "data", name == "details":
		r.data()
	default:
		r.Skip()
	}
}

// take reads a string; anything else is skipped and gives "".
func (r *errorReader) take() string {
	if r.Kind() != '"' {
		r.Skip()
		return ""
	}
	return string(r.Text())
}

// takeCode reads a code. On HTTP+JSON the numbers of HTTP are HTTP's, the others
// JSON-RPC's.
func (r *errorReader) takeCode() {
	kind := r.Kind()
	start, end := r.Skip()
	n, err := strconv.Atoi(string(r.Doc[start:end]))
	switch {
	case kind != '0' || err != nil:
	case r.side.Binding != wire.JSONRPC && 100 <= n && n < 600:
		r.status = n
	case r.code == 0:
		r.code = n
	}
}

// data reads the details of 1.0, or whatever older agents put in their place.
func (r *errorReader) data() {
	kind := r.Kind()
	start := r.Pos
	switch kind {
	case 'n':
		r.Skip()
	case '[':
		for r.Enter(); r.More(); {
			r.detail()
		}
	default:
		_, end := r.Skip()
		r.keep(kind, start, end)
	}
}

// detail reads one element of the details.
//
//	{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}
//
// An element counts as an ErrorInfo by its reason, whether or not it says its type.
func (r *errorReader) detail() {
	kind := r.Kind()
	start := r.Pos
	if kind != '{' {
		_, end := r.Skip()
		r.keep(kind, start, end)
		return
	}
	var typed bool
	var reason string
	var meta map[string]string
	for r.Enter(); r.More(); {
		switch string(r.Name()) {
		case "@type":
			typed = r.take() != ""
		case "reason":
			reason = r.take()
		case "metadata":
			meta = r.strings()
		default:
			r.Skip()
		}
	}
	info := kindOfReason(reason)
	switch {
	case info != nil && r.info == nil:
		r.info, r.meta = info, meta
	case typed:
		r.details = append(r.details, r.Doc[start:r.Pos])
	default:
		r.keep('{', start, r.Pos)
	}
}

// strings reads the members of an object that are strings.
func (r *errorReader) strings() map[string]string {
	if r.Kind() != '{' {
		r.Skip()
		return nil
	}
	found := make(map[string]string)
	for r.Enter(); r.More(); {
		name := string(r.Name())
		if r.Kind() == '"' {
			found[name] = string(r.Text())
		} else {
			r.Skip()
		}
	}
	return found
}

// keep makes a Struct of a value that is no detail, so that it can be one.
func (r *errorReader) keep(kind byte, start, end int) {
	value := string(r.Doc[start:end])
	if kind != '{' {
		value = `{"data":` + value + `}`
	}
	r.details = append(r.details, structOf(value))
}

// structOf is a google.protobuf.Struct as a detail in ProtoJSON, where a message that is not one of
// A2A's says its type and has its value beside it.
func structOf(object string) jsontext.Value {
	return jsontext.Value(`{"@type":"type.googleapis.com/google.protobuf.Struct","value":` + object + `}`)
}

// made builds the error from what was found.
func (r *errorReader) made() *wire.Error {
	e := &wire.Error{Message: r.message, Meta: r.meta}
	if e.Message == "" {
		e.Message = r.title
	}
	unknown := r.side.Binding == wire.JSONRPC && r.code == 0 && r.info == nil
	if !r.found || unknown {
		return (&wire.Error{Kind: wire.BadAgentResponse}).Because(errors.New("read error: there is none"))
	}
	for _, detail := range r.details {
		detail = detail.Clone() // it was a piece of the body
		if detail.Compact() == nil {
			e.Details = append(e.Details, detail)
		}
	}
	e.Kind = r.chosen()
	heedRetry(e)
	if r.side.Version == wire.V01 && r.info == nil && e.Code != r.code && r.code != 0 {
		e.Details = append(e.Details, structOf(`{"code":`+strconv.Itoa(r.code)+`}`))
	}
	return e
}

// chosen is the kind of the error.
func (r *errorReader) chosen() *wire.Kind {
	// https://a2a-protocol.org/errors/task-not-found
	named := r.problem[strings.LastIndexByte(r.problem, '/')+1:]
	named = strings.ToUpper(strings.ReplaceAll(named, "-", "_"))
	switch {
	case r.info != nil:
		return r.info
	case kindOfReason(named) != nil:
		return kindOfReason(named)
	case r.code != 0:
		return kindOfCode(r.side.Version, r.code, r.status)
	case r.word != "":
		return kindOfGRPC(r.word)
	}
	return kindOfStatus(r.status)
}
