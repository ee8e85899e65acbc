package wire

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// Kinds of answer, as Answer.Kind spells them.
const (
	kindTask     = "task"
	kindMessage  = "message"
	kindStatus   = "statusUpdate"
	kindArtifact = "artifactUpdate"
	kindList     = "list"
)

// Answer is what one answer of an agent shows: a whole unary body, or the data
// of one stream event. It holds what ownership, the audit record and the relay
// ask about and nothing else; the bytes themselves go on untouched.
type Answer struct {
	// Error is 0 for a result. On JSON-RPC it is the error's code. On HTTP+JSON
	// it is error.code (an HTTP status) or the bare code (a JSON-RPC code), and
	// -32603 for an error body that has none.
	Error  int
	Reason string // google.rpc.ErrorInfo reason of the error, "" when it has none

	// ID is the JSON-RPC id as it stands in the body, quotes included, or nil
	// when there is none. It is a piece of the body: valid as long as that is.
	ID   []byte
	IDAt int // where ID begins in the body

	// Tasks are the tasks that the answer names: the task itself, the task that
	// an event or message belongs to, every entry of a list, the task of every
	// push notification config. An entry of a list stands here even when its ID
	// is missing (then ""), because a filter must be able to cut it out.
	Tasks []TaskRef

	// ContextID is the context of the message, else of the first task that has one.
	ContextID string

	// State is the last task state seen, under its 1.0 name (TASK_STATE_WORKING)
	// in whatever version the agent speaks; "" when none was seen or the name is
	// unknown. Lists leave it empty.
	State string

	// Final says that no further event of this task's stream is due: the state is
	// terminal, or the answer is a message. Of status updates of 0.x it is what they say
	// themselves: a task that has completed may yet have artifacts to show.
	Final bool

	// Chunk is what an artifactUpdate says of its artifact.
	Chunk chunk

	// Kind is "task", "message", "statusUpdate", "artifactUpdate", "list", or ""
	// for every other answer: errors, empty results, cards, push notification
	// configs, results of extension methods that show nothing of these.
	Kind string

	// Result is where the body holds a JSON-RPC result that was not looked into:
	// the card of GetExtendedAgentCard, what an extension's method returns that is no
	// object.
	Result [2]int

	// Extensions are the URIs listed by the message, the status message or the
	// artifacts shown, in order of appearance, each once. History is not looked
	// at: it may be older than this call.
	Extensions []string

	Hints // of the whole body
}

// TaskRef names a task that an answer shows.
type TaskRef struct {
	ID, ContextID string // "" where the answer leaves it out
	Span          [2]int // for entries of a task list: where the entry stands in the body
	State         string // likewise, as Answer.State
}

// chunk is what an update of an artifact brings.
type chunk struct {
	// ID is where the artifact's id stands in the body, quotes included; in 0.1, where its
	// number does. It is empty where there is none. Events that share an Answer have the same
	// bytes there.
	ID     [2]int
	Append bool // it goes behind what there is of the artifact, else in its place
	Last   bool // nothing more comes of the artifact
}

// Answers reports whether the answer carries the JSON-RPC id of the call. Agents
// parse the id and print it again, so strings are compared by their characters
// ("a\/b" is "a/b") and numbers as the doubles that JavaScript and a2a-go turn
// them into; the types must agree. To a call whose id is null, an answer without one is the answer.
//
//	call     answer
//	7        7.0      the same: JavaScript prints one as the other
//	"7"      7        not the same: the types differ (JSON-RPC 2.0 §5)
//	null     none     the same, an error that could not be told to which call it belongs
func (a *Answer) Answers(id []byte) bool {
	if bytes.Equal(a.ID, id) || len(a.ID) == 0 && NullID(id) {
		return true
	}
	if len(a.ID) == 0 || len(id) == 0 {
		return false
	}
	if a.ID[0] == '"' && id[0] == '"' {
		x, errX := jsontext.AppendUnquote(nil, a.ID)
		y, errY := jsontext.AppendUnquote(nil, id)
		return errX == nil && errY == nil && bytes.Equal(x, y)
	}
	x, errX := strconv.ParseFloat(string(a.ID), 64)
	y, errY := strconv.ParseFloat(string(id), 64)
	return errX == nil && errY == nil && x == y
}

// NullID reports whether a JSON-RPC id is null.
func NullID(id []byte) bool { return string(id) == "null" }

// ReadAnswer reads the body of an agent's answer to m, or the data of one event
// of its stream, in one pass. It copies nothing but ids.
//
// Agents are read leniently where that cannot hide a task: members may come in
// any order, in camelCase or in the snake_case of their proto names, unknown
// ones are ignored, objects are recognised with and without "kind" and wrappers,
// the HTTP status is not needed to tell an error body. A method with no row in
// the core table (nil, or one of an extension) may answer anything; tasks in it are
// found where A2A would have them.
//
// They are read strictly where parsers would disagree, or where the answer is
// none: broken JSON, invalid UTF-8, two members of one name, an id that is no
// string, two wrappers at once, and on JSON-RPC anything but version "2.0" and
// exactly one of result and error (a method that returns nothing may leave both
// out, as a2a-go and the Python SDK do). On gRPC body is what ResponseJSON made of
// the message; errors are not in it but in the status (see ReadStatus). The error is then an *Error of kind
// BadAgentResponse that says nothing to the client and has the cause inside.
//
// What is found in one answer, read for GetTask of 1.0 on JSON-RPC:
//
//	{"jsonrpc":"2.0","id":7,"result":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}
//	Answer{ID: `7`, Kind: "task", Tasks: [{ID: "T", ContextID: "C"}], ContextID: "C", State: "TASK_STATE_WORKING"}
func ReadAnswer(b Binding, v Version, m *Method, body []byte, lim Limits) (Answer, error) {
	r := answerReader{binding: b, version: v, method: m}
	if err := r.read(body, lim, nil); err != nil {
		return Answer{}, err
	}
	return r.a, nil
}

// read is ReadAnswer, into r.a. What it reads p learns, which may be nil.
//
// HTTP+JSON has no envelope, so whether the body is an error shows at its end only: failed looks at
// what the pass has collected then. JSON-RPC says so in the envelope.
func (r *answerReader) read(body []byte, lim Limits, p *pattern) error {
	if r.binding != JSONRPC && len(bytes.TrimSpace(body)) == 0 && mayBeEmpty(r.method) { // 204, or 200 without a body
		return nil
	}
	r.s = NewScanner(body, lim)
	if p != nil {
		r.s.KeepStrings(patternFree)
	}
	defer r.s.Release()
	if r.binding == JSONRPC {
		r.envelope()
	} else {
		r.result()
		r.failed()
	}
	if e := Finish(r.s); e != nil {
		return BadAnswer(e)
	}
	r.a.Hints = hintsOf(r.s)
	if p != nil {
		p.learn(r.s, &r.a)
	}
	return nil
}

// BadAnswer gives a broken answer the only kind that may reach a client: whether
// it was the JSON or the envelope is between the agent and the log.
func BadAnswer(e *Error) error {
	if e.Kind == BadAgentResponse {
		return e
	}
	return (&Error{Kind: BadAgentResponse}).Because(e)
}

// inCore reports whether m is in the method table, so that its answer has a shape
// that A2A prescribes.
//
// A row that is put together for a call of the gateway's own may have no subject; nothing is known of
// what that answers.
func inCore(m *Method) bool { return m != nil && m.Subject != 0 && m.Extension == "" }

// mayBeEmpty is true for methods that answer google.protobuf.Empty, and for those
// of extensions.
//
// The delete of a push notification config is the only one of A2A's own. What agents send for it:
// 204 without a body, {} (google.protobuf.Empty in ProtoJSON), "result":null, or no result at all.
func mayBeEmpty(m *Method) bool {
	return !inCore(m) || len(m.Verbs) > 0 && m.Verbs[0] == http.MethodDelete
}

// answerReader is the state of one ReadAnswer.
type answerReader struct {
	s       *jsonscan.Scanner
	a       Answer
	binding Binding
	version Version
	method  *Method // may be nil

	wrapper string  // the 1.0 oneof member that was seen: one of the kinds, or ""
	inner   shape   // what the wrapper held
	problem problem // what an HTTP+JSON body has of an error

	listed  bool      // an extension's answer has a list of tasks
	entries []TaskRef // and these are they
}

// refuse says why the answer is not acceptable. The first reason stands.
//
// The reason is for the log and the audit record. The caller is told that the agent's answer is
// invalid, and not what stands in it.
func (r *answerReader) refuse(reason string) {
	r.s.Refuse(&Error{Kind: BadAgentResponse, Err: errors.New(reason)})
}

// envelope reads a JSON-RPC 2.0 response object. Members that JSON-RPC does not
// know are ignored, and a null error is none: some servers print every field.
//
//	{"jsonrpc":"2.0","id":7,"result":{…}}
//	{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"…"}}
func (r *answerReader) envelope() {
	s := r.s
	if s.Kind() != '{' {
		r.refuse("the JSON-RPC response is not an object")
		s.Skip()
		return
	}
	var version, result, null, failed bool
	for s.Enter(); s.More(); {
		switch string(s.Name()) {
		case "jsonrpc":
			version = string(r.word()) == "2.0"
		case "id":
			r.a.ID = r.rpcID()
		case "result":
			result, null = true, s.Kind() == 'n'
			r.result()
		case "error":
			failed = r.rpcError()
		default:
			s.Skip()
		}
	}
	switch {
	case !version:
		r.refuse(`the response does not say "jsonrpc":"2.0"`)
	case failed && result && !null:
		r.refuse("the response has both a result and an error")
	case !failed && !result && !mayBeEmpty(r.method):
		r.refuse("the response has neither a result nor an error")
	}
}

// rpcID keeps the id as it stands. Whether it is the right one only the caller
// knows; see Answers.
func (r *answerReader) rpcID() []byte {
	switch r.s.Kind() {
	case '"', '0', 'n':
	default:
		r.refuse("the response id is neither a string nor a number nor null")
	}
	start, end := r.s.Skip()
	r.s.Forgo(start)
	r.a.IDAt = start
	return r.s.Doc[start:end:end]
}

// result reads what the method returned: the result member on JSON-RPC, the whole
// body on HTTP+JSON, the ProtoJSON of the message on gRPC. The subject of the method says what there is to find. null
// shows nothing and is left for the client to make sense of: it is the empty
// result of a delete, the empty list of a Go agent, the "no task" of 0.1.
//
//	OfMessage   a task, a message or an update           event
//	OfTask      a task; for a subscription, updates      event
//	OfConfig    a config or a list of them               configs
//	OfCaller    {"tasks":[…]}                            list
//	OfAgent     a card, which names no task              card
func (r *answerReader) result() {
	if !inCore(r.method) {
		r.extraResult()
		return
	}
	subject := r.method.Subject
	object := r.s.Kind() == '{'
	switch {
	case subject == OfConfig:
		r.configs()
	case object && subject == OfCaller:
		r.list()
	case subject == OfCaller && r.s.Kind() == 'n':
		r.a.Kind = kindList
		r.s.Skip()
	case object && subject != OfAgent:
		r.event()
	case object && r.binding != JSONRPC:
		r.card()
	default:
		if subject != OfAgent && r.s.Kind() != 'n' {
			r.refuse("the result is not an object")
		}
		r.a.Result[0], r.a.Result[1] = r.s.Skip()
	}
}

// word reads a string; anything else is skipped and gives nil.
func (r *answerReader) word() []byte {
	if r.s.Kind() == '"' {
		return r.s.Text()
	}
	r.s.Skip()
	return nil
}
