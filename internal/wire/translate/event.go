package translate

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// thing is what an answer or event is; the numbers are those of wrapperObject's
// rows, from one.
type thing uint8

const (
	isTask thing = iota + 1
	isMessage
	isStatus
	isArtifact
)

var streamRules = []rule{
	{before1, only10, added, "A task as the first event of a stream, if the agent begins with something else than a task or " +
		"a message. Its state is working if the first update says so, else submitted."},
	{after01, only01, changed, "A task in a stream becomes a status update and an artifact update for each artifact; a status " +
		"that is final comes last."},
	{after01, only01, changed, "A message instead of a task becomes a completed task with that message, in a stream a final " +
		"status update."},
	{after01, only01, lost, "The history of a task in a stream."},
	{before1, only10, changed, "A terminal state that is not `final` waits until the stream has ended, and is the last event " +
		"then. A task that shows one works until then. Where another state comes, a message or metadata of the first is told " +
		"as an update of a task that works."},
	{onlyP03, kinded, changed, "A terminal state that is not `final` waits for what comes next. It is `final` if nothing does; " +
		"else it is not, and comes at the end once more as one that is."},
	{onlyD03, only01, changed, "A terminal state that is not `final` waits for what comes next. If the stream goes on it stays so, " +
		"and comes at the end once more as one that is."},
	{after01, only01, changed, "A message that the stream goes on behind becomes a status update of a task that works."},
}

// thingNamed finds a thing by what 0.2 and 0.3 call it.
func thingNamed(kind []byte) thing {
	for i := range wrapperObject.members {
		if m := &wrapperObject.members[i]; string(kind) == m.of.kind {
			return thing(i + 1)
		}
	}
	return 0
}

// classify says what an object is, and gives what is inside of it if it is wrapped.
// The dialect decides where to look first; an agent that mixes dialects is
// understood all the same, as package wire did when it looked for task ids.
func classify(d dialect, raw []byte, stream bool) (thing, []byte) {
	if !isObject(raw) {
		return 0, nil
	}
	var v values
	wrapperObject.gather(d10, raw, &v)
	wrapped, inner := thing(0), raw
	for i := range wrapperObject.members {
		if isObject(v[i]) {
			wrapped, inner = thing(i+1), v[i]
			break
		}
	}
	bare := bareThing(d, raw, stream)
	if wrapped != 0 && (bare == 0 || d == p03 || d == d10) {
		return wrapped, inner
	}
	return bare, raw
}

// bareThing says what an object without a wrapper is: by its kind, else by the
// members that only one of them has.
func bareThing(d dialect, raw []byte, stream bool) thing {
	var kind []byte
	var id, task, message, status, artifact, whole bool
	for name, value := range members(raw) {
		if isNull(value) {
			continue
		}
		switch string(unescaped(name)) {
		case "kind":
			kind = inside(value)
		case "id":
			id = true
		case "taskId", "task_id":
			task = true
		case "messageId", "message_id":
			message = true
		case "status":
			status = true
		case "artifact":
			artifact = true
		case "sessionId", "artifacts", "history":
			whole = true // of tasks only
		}
	}
	if t := thingNamed(kind); t != 0 && d == d03 {
		return t
	}
	switch {
	case message:
		return isMessage
	case artifact && (task || d == d01):
		return isArtifact
	case status && (task || d == d01 && stream && !whole):
		return isStatus
	case id, status:
		return isTask
	}
	return 0
}

// Event retells one event of a stream as none, one or several. doc is what the event
// holds: a JSON-RPC response that has a result, a bare event, or the document of a
// message; wire.ReadAnswer has read it. What emit gets is the caller's, in the same
// forms or as an unframed protobuf message, and is overwritten when emit returns.
//
// An error of emit is returned as it is; else the error is of kind BadAgentResponse.
func (r *Retelling) Event(doc []byte, emit func(event []byte) error) error {
	s := stream{Retelling: r, emit: emit}
	result := r.result(jsonscan.Mend(doc))
	if ofExtension(r.Call) {
		return s.send(func(w *writer) { writeOpaque(w, result) })
	}
	from, to := dialectOf(r.From), dialectOf(r.side())
	what, raw := classify(from, result, true)
	if what == 0 {
		return broken("an event is none that A2A has")
	}
	r.learn(what, raw)
	if r.Told && what == isTask && to != d01 { // which gets a task as updates anyway
		return s.updates(raw)
	}
	return s.take(what, raw, result)
}

// take tells an event, or holds it back. whole is what raw was found in.
func (s stream) take(what thing, raw, whole []byte) error {
	r, from, to := s.Retelling, dialectOf(s.From), dialectOf(s.side())
	if !r.Holds {
		return s.pass(what, raw, whole)
	}
	if r.held.what != 0 {
		if err := s.release(what, raw); err != nil {
			return err
		}
	}
	if !r.waits(from, what, raw) {
		return s.pass(what, raw, whole)
	}
	if what == isStatus {
		if err := s.begin(what, raw); err != nil {
			return err
		}
	}
	r.keep(what, raw, whole)
	if what == isTask && to == d01 {
		return s.artifacts01(raw)
	}
	return nil
}

// pass tells an event as it is. whole is what raw was found in.
func (s stream) pass(what thing, raw, whole []byte) error {
	if dialectOf(s.side()) == d01 {
		return s.event01(what, raw)
	}
	if err := s.begin(what, raw); err != nil {
		return err
	}
	return s.send(func(w *writer) { writeThing(w, what, raw, whole) })
}

// begin tells the task that a stream of 1.0 begins with, where the agent does not.
func (s stream) begin(what thing, raw []byte) error {
	from, to := dialectOf(s.From), dialectOf(s.side())
	begun := s.begun || s.Told
	s.begun = begun || what != isMessage
	if begun || to != d10 || from == d10 || what != isStatus && what != isArtifact {
		return nil
	}
	return s.send(func(w *writer) { writeOpening(w, what, raw) })
}

// writeThing writes an event, or what a send returned. whole is what raw was found in: within a
// dialect all of it is kept.
func writeThing(w *writer, what thing, raw, whole []byte) {
	m := &wrapperObject.members[what-1]
	name := m.say[w.to]
	switch {
	case name == "":
		w.object(m.of, raw)
	case w.from == w.to && len(raw) < len(whole):
		w.object(wrapperObject, whole)
	default:
		w.literal("{")
		w.name(name)
		w.object(m.of, raw)
		w.literal("}")
	}
}

// learn remembers which task and context a stream is about, for events that do not
// say.
func (r *Retelling) learn(what thing, raw []byte) {
	var task, context []byte
	switch what {
	case isTask:
		task, context = lookup(raw, "id"), lookup(raw, "contextId", "context_id", "sessionId")
	case isStatus, isArtifact:
		task, context = lookup(raw, "taskId", "task_id"), lookup(raw, "contextId", "context_id")
		if r.From.Version == wire.V01 {
			task = lookup(raw, "id")
		}
	}
	if id := inside(task); len(id) > 0 {
		r.taskID = r.Task.caller(string(id))
	}
	if id := inside(context); len(id) > 0 {
		r.contextID = r.Context.caller(string(id))
	}
}

// stream sends what becomes of one event.
type stream struct {
	*Retelling
	emit func([]byte) error
}

// largestKept bounds the buffer that a stream keeps between its events.
const largestKept = 64 << 10

// send dresses one event and gives it to emit.
func (s stream) send(write func(w *writer)) error {
	w := s.writer(s.buf[:0])
	event, err := s.dress(w, 0, func() error {
		write(w)
		return nil
	})
	if err != nil {
		return err
	}
	if s.buf = event; cap(event) > largestKept {
		s.buf = nil
	}
	return s.emit(event)
}

// writeOpening writes the task that a stream of 1.0 must begin with (A2A 1.0 §3.1.2), as
// far as it is known from the first update. An update that ends the task still
// follows, so the task is not shown as ended.
func writeOpening(w *writer, what thing, raw []byte) {
	state := submitted
	if what == isStatus {
		if n, ok := number(states[:], lookup(lookup(raw, "status"), "state")); ok && n == working {
			state = n
		}
	}
	w.literal(`{"task":{`)
	w.string("id", w.task.known)
	w.string("contextId", w.context.known)
	w.name("status")
	w.literal(`{"state":"`)
	w.literal(w.spelled(states[state]))
	w.literal(`"}}}`)
}

// event01 retells an event to 0.1, whose streams have updates only.
func (s stream) event01(what thing, raw []byte) error {
	switch what {
	case isTask:
		return s.task01(raw)
	case isMessage:
		return s.send(func(w *writer) {
			w.literal("{")
			w.member(&statusUpdateObject.members[0], nil, nil)
			w.name("status")
			writeMessageStatus(w, raw, completed)
			w.literal(`,"final":true}`)
		})
	case isStatus:
		return s.send(func(w *writer) { w.object(statusUpdateObject, raw) })
	}
	return s.send(func(w *writer) { writeUpdate01(w, raw) })
}

// writeUpdate01 writes an artifact update, whose flags 0.1 has in the artifact.
func writeUpdate01(w *writer, raw []byte) {
	w.appends, w.last = lookup(raw, "append"), lookup(raw, "lastChunk", "last_chunk")
	w.object(artifactUpdateObject, raw)
}

// task01 tells 0.1 about a task: its status, and each artifact. Clients stop reading
// at a final status, so that one comes last.
func (s stream) task01(raw []byte) error {
	n, _ := number(states[:], lookup(lookup(raw, "status"), "state"))
	last := ends(n)
	if !last {
		if err := s.status01(raw, last); err != nil {
			return err
		}
	}
	err := s.artifacts01(raw)
	if err == nil && last {
		err = s.status01(raw, last)
	}
	return err
}

// status01 writes an update of 0.1, whose streams have no tasks: {"id":"T","status":{…},"final":true}.
func (s stream) status01(raw []byte, final bool) error {
	var v values
	taskObject.gather(dialectOf(s.From), raw, &v)
	return s.send(func(w *writer) {
		w.literal("{")
		w.member(&taskObject.members[taskID], v[taskID], nil)
		w.name("status")
		w.status(v[taskStatus])
		w.name("final")
		w.literal(map[bool]string{true: "true", false: "false"}[final])
		w.verbatim("metadata", v[taskMetadata])
		w.literal("}")
	})
}

// artifacts01 writes one update for each artifact, since 0.1's streams show them in no other way:
// {"id":"T","artifact":{"index":0,"parts":[…]}}.
func (s stream) artifacts01(raw []byte) error {
	var v values
	taskObject.gather(dialectOf(s.From), raw, &v)
	if v[taskArtifacts] == nil {
		return nil
	}
	if !isArray(v[taskArtifacts]) {
		return broken("artifacts is not an array")
	}
	position := 0
	for artifact := range elements(v[taskArtifacts]) {
		err := s.send(func(w *writer) {
			w.literal("{")
			w.member(&taskObject.members[taskID], v[taskID], nil)
			w.name("artifact")
			w.position = position
			w.object(artifactObject, artifact)
			w.literal("}")
		})
		if err != nil {
			return err
		}
		position++
	}
	return nil
}
