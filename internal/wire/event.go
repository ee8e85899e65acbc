package wire

import (
	"bytes"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
)

// event reads an answer that is a task, a message or an update, wrapped or bare,
// and shows what it is.
//
// Version and binding say where to look first. An object that does not look as
// they say is still read for what it shows: a client may understand it, so the
// ownership check must.
//
//	0.1            {"id":"T","status":{…},"final":false}            an update, by the method
//	0.3 JSON-RPC   {"kind":"status-update","taskId":"T","status":{…}}
//	ProtoJSON      {"statusUpdate":{"taskId":"T","status":{…}}}
//	1.0 GetTask    {"id":"T","status":{…}}                          bare, in every binding
//
// An agent of 0.3 that wraps on JSON-RPC, or one of 1.0 that does not, is read for both: what the
// wrapper holds, and what stands beside it. Each of them that names a task is mentioned.
func (r *answerReader) event() {
	outer := r.object(true)
	kind := r.kindOf(&outer)
	switch {
	case r.wrapper != "" && (kind == "" || r.wraps()):
		r.show(r.wrapper, &r.inner)
		r.mention(kind, &outer)
	case kind != "":
		r.show(kind, &outer)
		r.mention(r.wrapper, &r.inner)
	}
}

// wraps reports whether this method's answers are one-member objects that name
// what is inside.
func (r *answerReader) wraps() bool {
	if r.version != V10 && r.binding == JSONRPC {
		return false
	}
	return r.method != nil && (r.method.Subject == OfMessage || r.method.Streams)
}

// kindOf says what a bare object is: by its "kind" where the version has one, else
// by the members that only one of them has. A result of tasks/get needs no more
// than an id; where the method promises nothing, an id with a status.
//
// Members are asked for from the rarest to the most common, because an object has those of the
// others too: an artifact update may have a status, and a message a taskId.
func (r *answerReader) kindOf(o *shape) string {
	if o.kind != "" && r.version != V10 {
		return o.kind
	}
	events := r.method != nil && r.method.Streams
	core := inCore(r.method)
	switch {
	case o.has(markMessage):
		return kindMessage
	case o.has(markTask | markArtifact), r.version == V01 && events && o.has(markID|markArtifact):
		return kindArtifact
	case o.has(markTask | markStatus), r.version == V01 && events && o.has(markID|markStatus):
		return kindStatus
	case o.has(markID | markStatus), core && o.has(markID) && r.wrapper == "":
		return kindTask
	case core && o.has(markStatus):
		return kindTask // without an id: nothing to own, but a state to report
	}
	return ""
}

// show makes o the thing that the answer is.
//
// 0.x says "final" in status updates, since there the state does not end a stream: agents exist that
// send artifacts after "completed". In 1.0 the state alone decides.
func (r *answerReader) show(kind string, o *shape) {
	r.a.Kind = kind
	r.a.State = o.state
	r.a.Chunk = o.chunk
	r.a.Final = o.final || kind == kindMessage || taskstate.Terminal(o.state) && (kind != kindStatus || r.version == V10)
	r.mention(kind, o)
}

// mention adds the task that o names. An id that is no string is refused: it
// cannot be looked up, and a client may well print it as one.
func (r *answerReader) mention(kind string, o *shape) {
	if kind == "" {
		return
	}
	if o.has(markBadID) {
		r.refuse("an id is not a string")
	}
	id := o.task
	if kind == kindTask || id == "" && r.version == V01 {
		id = o.id
	}
	if r.a.ContextID == "" {
		r.a.ContextID = o.context
	}
	ref := TaskRef{ID: id, ContextID: o.context}
	if n := len(r.a.Tasks); id == "" || n > 0 && r.a.Tasks[n-1] == ref {
		return // the configs of a list are all of one task
	}
	r.a.Tasks = append(r.a.Tasks, ref)
}

// list reads the result of ListTasks.
func (r *answerReader) list() {
	s := r.s
	r.a.Kind = kindList
	for s.Enter(); s.More(); {
		name := s.Name()
		switch {
		case r.problemMember(name):
		case string(name) == "tasks":
			r.tasks()
		case bytes.EqualFold(name, []byte("tasks")):
			// encoding/json reads it as "tasks"; a filter that does not would
			// let every task through to Go clients.
			r.refuse(`the list has a member that is almost "tasks"`)
			s.Skip()
		default:
			s.Skip()
		}
	}
}

// tasks reads the tasks of a list and where each stands.
//
// The span of each entry is kept because entries of other callers are cut out of the body later, and
// so that no second pass has to look for them.
func (r *answerReader) tasks() {
	s := r.s
	if s.Kind() != '[' {
		if s.Kind() != 'n' {
			r.refuse("the list of tasks is not an array")
		}
		s.Skip()
		return
	}
	for s.Enter(); s.More(); {
		if s.Kind() != '{' {
			r.refuse("an entry of the list of tasks is not an object")
			s.Skip()
			continue
		}
		start := s.Pos // kind stands on the brace
		o := r.object(false)
		if o.has(markBadID) {
			r.refuse("an id is not a string")
		}
		if r.a.ContextID == "" {
			r.a.ContextID = o.context
		}
		r.a.Tasks = append(r.a.Tasks, TaskRef{ID: o.id, ContextID: o.context, Span: [2]int{start, s.Pos}, State: o.state})
	}
}

// configs reads push notification configs: one, a bare array (JSON-RPC 0.3), or
// {"configs":[…]}. An agent that mixes up whose configs it lists would hand out
// webhook tokens, so the task of every one of them is shown.
func (r *answerReader) configs() {
	switch r.s.Kind() {
	case '{':
		r.config(true)
	case '[':
		r.configArray()
	default: // null, and what agents return from a delete
		r.s.Skip()
	}
}

// configArray reads a list of configs; whatever else stands in it names no task.
func (r *answerReader) configArray() {
	s := r.s
	for s.Enter(); s.More(); {
		if s.Kind() == '{' {
			r.config(false)
		} else {
			s.Skip()
		}
	}
}

// config reads {taskId,…}, 0.1's {id,…} or 0.3 proto's {name:"tasks/T/…"}.
//
// The name is a resource name, see ReadResourceName. A taskId beside it goes first, as it is what
// JSON-RPC clients read.
func (r *answerReader) config(top bool) {
	var o shape
	s := r.s
	for s.Enter(); s.More(); {
		name := s.Name()
		if top && r.problemMember(name) {
			continue
		}
		switch string(name) {
		case "taskId", "task_id":
			o.task = r.identifier(&o, markTask)
		case "id": // in other versions the config's own
			if r.version == V01 {
				o.id = r.identifier(&o, markID)
			} else {
				s.Skip()
			}
		case "name":
			if id, _, ok := ReadResourceName(string(r.word())); ok && o.task == "" {
				o.task = id
			}
		case "configs":
			if top && s.Kind() == '[' {
				r.configArray()
			} else {
				s.Skip()
			}
		default:
			s.Skip()
		}
	}
	r.mention(kindStatus, &o) // like an update, a config names its task by taskId
}

// card reads past an extended agent card, which names no task; on HTTP+JSON an
// error may stand in its place.
func (r *answerReader) card() {
	s := r.s
	for s.Enter(); s.More(); {
		if !r.problemMember(s.Name()) {
			s.Skip()
		}
	}
}
