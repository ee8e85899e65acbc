package translate

import (
	"bytes"
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

var errNoTaskID = errors.New("0.1 needs a task id with every call")

// Alias is an id that goes by another name on the caller's side.
type Alias struct{ Agent, Caller string }

// Retelling retells the answers to one call. It must not be copied while a stream is
// on, and is for one goroutine at a time.
type Retelling struct {
	From    wire.Side  // how the agent speaks
	Call    *wire.Call // the caller's call
	History *int       // cut history to the last so many messages; nil leaves it
	Task    Alias      // may be set when the agent's id becomes known
	Context Alias

	Bytes       Bytes // of files, as the agent has them
	CallerBytes Bytes // and the caller

	// Holds has a stream hold back what would have its client stop reading, until it is
	// known whether anything follows: End is called then.
	Holds bool

	// Told says that the client of a stream has been shown its task before: where the agent shows it, it is
	// told as updates. Some clients (the Python and Java SDKs 0.3) take a second task for another one.
	Told bool

	begun     bool           // an event has been retold
	held      held           // back from the client
	taskID    string         // what the stream is about, as the caller says it
	contextID string         //
	artifacts map[string]int // toward 0.1: number of each artifact, by its id
	buf       []byte         // of the event before
}

// broken is the error for an answer that is none.
func broken(what string) error {
	return (&wire.Error{Kind: wire.BadAgentResponse}).Because(errors.New("retell: " + what))
}

// writer is set up for answers to r.Call.
func (r *Retelling) writer(dst []byte) *writer {
	to := dialectOf(r.side())
	if r.artifacts == nil && to == d01 { // who else numbers none
		r.artifacts = make(map[string]int)
	}
	w := &writer{
		buffer: buffer{out: dst},
		from:   dialectOf(r.From), to: to,
		reads: r.Bytes, writes: r.CallerBytes, proper: r.Call.Binding == wire.GRPC,
		task:      naming{r.Task, first(r.taskID, r.Task.caller(r.Call.TaskID))},
		context:   naming{r.Context, first(r.contextID, r.Context.caller(r.Call.ContextID))},
		history:   r.History,
		mixed:     r.Call.Mixed && to == d10,
		artifacts: r.artifacts,
	}
	w.configID = first(r.Call.ConfigID, w.task.known)
	return w
}

// side is how the caller speaks.
func (r *Retelling) side() wire.Side {
	return wire.Side{Version: r.Call.Version, Binding: r.Call.Binding}
}

// caller is how the caller knows an id that the call names: the call may have been
// given the agent's.
func (a Alias) caller(id string) string {
	if a.Caller != "" && (id == "" || id == a.Agent) {
		return a.Caller
	}
	return id
}

// Answer appends the whole body of the caller's answer to dst: a JSON-RPC response, an
// HTTP+JSON body, or an unframed protobuf message. doc is the agent's: a JSON-RPC
// response that has a result, an HTTP+JSON body (which may be empty), or the
// document of a message. It must have been read by wire.ReadAnswer.
//
// The error is of kind BadAgentResponse if doc is not what the method answers, and
// TaskNotFound if a push notification config was asked for and there is none.
//
// Room is how much larger than the agent's document the caller's may become; with it dst grows once.
func (r *Retelling) Answer(dst, doc []byte) ([]byte, error) {
	result := r.result(jsonscan.Mend(doc))
	if n := Room(len(doc)); cap(dst)-len(dst) < n {
		dst = append(make([]byte, 0, len(dst)+n), dst...)
	}
	w := r.writer(dst)
	return r.dress(w, len(dst), func() error { return r.answer(w, result) })
}

// result finds what the method returned in the agent's document; nil if nothing.
func (r *Retelling) result(doc []byte) []byte {
	doc = bytes.TrimSpace(doc)
	if r.From.Binding == wire.JSONRPC {
		return lookup(doc, "result")
	}
	if isNull(doc) {
		return nil
	}
	return doc
}

// dress puts around a result what the caller's binding has around it.
//
// On gRPC the ProtoJSON document is written behind dst, turned into the protobuf message, and the
// message takes its place.
func (r *Retelling) dress(w *writer, start int, result func() error) ([]byte, error) {
	if r.Call.Binding == wire.JSONRPC {
		w.literal(`{"jsonrpc":"2.0","id":`)
		if r.Call.ID == nil {
			w.literal("null")
		}
		w.raw(r.Call.ID)
		w.literal(`,"result":`)
	}
	if err := result(); err != nil {
		return w.out[:start], err
	}
	if w.wrong != "" {
		return w.out[:start], broken(w.wrong)
	}
	switch r.Call.Binding {
	case wire.JSONRPC:
		w.literal("}")
	case wire.GRPC:
		message, err := wire.ResponseMessage(r.Call.Method, r.Call.Version, w.out[start:])
		if err != nil {
			return w.out[:start], broken(err.Error())
		}
		return append(w.out[:start], message...), nil
	}
	return w.out, nil
}

// answer writes the result of a call that is not a stream.
func (r *Retelling) answer(w *writer, result []byte) error {
	m := r.Call.Method
	if ofExtension(r.Call) {
		writeOpaque(w, result)
		return nil
	}
	if m == nil || m.Subject == 0 {
		return broken("no answer that A2A defines")
	}
	switch {
	case m.Does == wire.Deletes:
		w.literal(nothing(r.side()))
		return nil
	case m.Push && m.Lists:
		return writeConfigs(w, result)
	case m.Lists:
		return writeTasks(w, result)
	}
	if result == nil {
		return broken("the answer is empty")
	}
	switch {
	case m.Subject == wire.OfMessage, m.Streams:
		return r.sent(w, result)
	case m.Subject == wire.OfTask:
		return r.task(w, result)
	case m.Subject == wire.OfConfig:
		return r.config(w, result)
	}
	w.raw(result) // a card, already in the caller's words
	return nil
}

// nothing is the answer of a method that returns nothing. It must not be left out:
// clients of JSON-RPC look for a result.
//
//	0.1, 0.3   {"jsonrpc":"2.0","id":7,"result":null}
//	1.0        {"jsonrpc":"2.0","id":7,"result":{}}
func nothing(s wire.Side) string {
	if dialectOf(s) == d03 || dialectOf(s) == d01 {
		return "null"
	}
	return "{}"
}

// sent writes what a send returned: a task or a message.
//
//	0.1            {"id":"T","sessionId":"C","status":{…}}
//	0.3 JSON-RPC   {"kind":"task",…} or {"kind":"message",…}
//	ProtoJSON      {"task":{…}} or {"message":{…}}
func (r *Retelling) sent(w *writer, result []byte) error {
	what, raw := classify(w.from, result, false)
	switch {
	case what == isMessage && w.to == d01:
		writeMessageTask(w, raw)
	case what == isMessage, what == isTask:
		writeThing(w, what, raw, result)
	default:
		return broken("a send returned neither a task nor a message")
	}
	return nil
}

// writeMessageTask makes a finished task of a message, since 0.1 answers nothing else.
//
//	1.0   {"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}
//	0.1   {"id":"T","status":{"state":"completed","message":{"role":"agent","parts":[{"type":"text","text":"hi"}]}}}
func writeMessageTask(w *writer, raw []byte) {
	w.literal("{")
	w.member(&taskObject.members[taskID], nil, nil)
	w.member(&taskObject.members[taskContext], lookup(raw, "contextId", "context_id"), nil)
	w.name("status")
	writeMessageStatus(w, raw, completed)
	w.literal("}")
}

// writeMessageStatus makes a status of a message.
func writeMessageStatus(w *writer, raw []byte, state int) {
	w.literal(`{"state":"`)
	w.literal(w.spelled(states[state]))
	w.literal(`"`)
	w.name("message")
	w.object(messageObject, raw)
	w.literal("}")
}

// task writes the task that a method about a task returned.
func (r *Retelling) task(w *writer, result []byte) error {
	what, raw := classify(w.from, result, false)
	if what != isTask {
		return broken("the answer is not a task")
	}
	w.object(taskObject, raw)
	return nil
}

// writeTasks writes the answer of ListTasks, in which no member may be missing.
//
// ProtoJSON leaves out what is empty, and A2A 1.0 §3.1.4 wants tasks, nextPageToken, pageSize and
// totalSize in every answer.
func writeTasks(w *writer, result []byte) error {
	if result == nil {
		result = []byte("{}")
	}
	w.object(tasksObject, result)
	w.out = w.out[:len(w.out)-1]
	for _, m := range tasksObject.members {
		name := m.say[d10]
		if has(result, name, snakeCase(name)) {
			continue
		}
		w.name(name)
		switch name {
		case "tasks":
			w.literal("[]")
		case "nextPageToken":
			w.word("")
		default:
			w.number(0)
		}
	}
	w.literal("}")
	return nil
}
