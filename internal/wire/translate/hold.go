package translate

import "bytes"

// Before 1.0 an agent may say that a task has completed, and then send its artifacts: final
// ends a stream, and not the state. To clients of 1.0 the state does, and those of 0.1 and
// 0.3 are told final where agents are known to leave it out. So what would have a client
// stop reading waits until it is known whether anything follows.

// held is an event that a stream has kept from its client, whole or in part.
//
// An agent of 0.3, and what a client of 1.0 is told, event by event:
//
//	status-update completed, final false     nothing yet: completed ends a stream in 1.0
//	artifact-update                          statusUpdate WORKING is not needed, the artifact is told
//	(the stream ends)                        statusUpdate COMPLETED
type held struct {
	what  thing  // 0 for none
	raw   []byte // a copy, in the agent's words
	whole []byte // what raw was found in
	told  bool   // the client has all of it but that it is the end
}

// status is the value of the member status of what is held.
func (h *held) status() []byte { return lookup(h.raw, "status") }

// GoOn has a stream begin behind its beginning, which the client has had.
func (r *Retelling) GoOn() { r.begun = true }

// Recall has a stream that is gone on with know an event that the client was not told to
// the end before: the newest that names a state. It is in the form that Event takes.
func (r *Retelling) Recall(doc []byte) {
	from, result := dialectOf(r.From), r.result(doc)
	what, raw := classify(from, result, true)
	if what == isMessage || !r.waits(from, what, raw) {
		return
	}
	r.learn(what, raw)
	r.keep(what, raw, result)
	r.held.told = what == isTask || dialectOf(r.side()) != d10
}

// End gives what was held back, now that the stream has ended in good order. emit is as
// that of Event.
//
// It is not called where the agent's stream broke off: the client is then told the error, or reconnects
// and reads the state from the task.
func (r *Retelling) End(emit func(event []byte) error) error {
	h := r.held
	r.held = held{}
	s := stream{Retelling: r, emit: emit}
	switch {
	case h.what == 0:
		return nil
	case h.what == isTask && h.told:
		return s.taskStatus(&h, false)
	case h.what == isTask && dialectOf(r.side()) == d01: // its artifacts have been told
		return s.status01(h.raw, true)
	}
	return s.pass(h.what, h.raw, h.whole)
}

// keep holds an event back until it is known what follows it.
func (r *Retelling) keep(what thing, raw, whole []byte) {
	r.held = held{what: what, raw: bytes.Clone(raw), whole: bytes.Clone(whole)}
}

// waits reports whether an event is held back until another comes, or the stream's end.
func (r *Retelling) waits(from dialect, what thing, raw []byte) bool {
	to := dialectOf(r.side())
	if from == to {
		return false
	}
	switch what {
	case isMessage: // to 0.1 it is the end of a task
		return to == d01
	case isStatus:
		stops := to == d10 || to == d01 || to == d03 && from == p03
		return stops && from != d10 && terminal(raw) && !isTrue(lookup(raw, "final"))
	case isTask:
		return (to == d10 || to == d01) && from != d10 && terminal(raw)
	}
	return false
}

// terminal reports whether a task or status update shows a state that a task stays in.
func terminal(raw []byte) bool {
	switch n, _ := number(states[:], lookup(lookup(raw, "status"), "state")); n {
	case completed, failed, canceled, rejected:
		return true
	}
	return false
}

// release tells what was held back and what the next event leaves of it: that event says
// that the stream goes on.
func (s stream) release(what thing, raw []byte) error {
	h, to := s.held, dialectOf(s.side())
	s.held = held{}
	another := what == isStatus || what == isTask
	switch {
	case h.what == isMessage:
		return s.send(func(w *writer) {
			w.literal("{")
			w.member(&statusUpdateObject.members[0], nil, nil)
			w.name("status")
			writeMessageStatus(w, h.raw, working)
			w.literal(`,"final":false}`)
		})
	case h.what == isStatus && to == d10:
		if another && !repeats(&h, raw) {
			return s.taskStatus(&h, true) // what else it says is not lost
		}
	case h.told:
	case h.what == isTask && to == d10:
		h.told, s.begun = true, true
		if err := s.send(func(w *writer) { writeUnfinished(w, h.raw) }); err != nil {
			return err
		}
	case h.what == isTask:
		h.told = true
		if err := s.status01(h.raw, false); err != nil {
			return err
		}
	default:
		h.told = true
		if err := s.taskStatus(&h, true); err != nil {
			return err
		}
	}
	if !another {
		s.held = h
	}
	return nil
}

// repeats reports whether all that a status update says beside its state stands in the
// update or task behind it, too.
//
// An update that says no more than the one behind it need not be told twice: agents repeat the state
// with final set to true.
func repeats(h *held, next []byte) bool {
	said := lookup(h.status(), "message", "update")
	metadata := lookup(h.raw, "metadata")
	return (said == nil || bytes.Equal(said, lookup(lookup(next, "status"), "message", "update"))) &&
		(metadata == nil || bytes.Equal(metadata, lookup(next, "metadata")))
}

// taskStatus tells the status of a task or update that was held back. goes says that the
// stream goes on: to 1.0 the task then works, to the others the update is not final.
func (s stream) taskStatus(h *held, goes bool) error {
	return s.send(func(w *writer) {
		var v values
		id, context, status, metadata := 0, 1, updateStatus, 4
		of := statusUpdateObject
		if h.what == isTask {
			id, context, status, metadata, of = taskID, taskContext, taskStatus, taskMetadata, taskObject
		}
		of.gather(w.from, h.raw, &v)
		name := wrapperObject.members[isStatus-1].say[w.to]
		if w.literal("{"); name != "" {
			w.name(name)
			w.literal("{")
		}
		if w.to == d03 {
			w.name("kind")
			w.word(statusUpdateObject.kind)
		}
		for i, from := range [...]int{id, context} {
			if m := &statusUpdateObject.members[i]; m.say[w.to] != "" {
				w.member(m, v[from], nil)
			}
		}
		w.name("status")
		if goes && w.to == d10 {
			writeWorking(w, v[status])
		} else {
			w.status(v[status])
		}
		if w.to == d03 || w.to == d01 {
			w.name("final")
			w.literal(map[bool]string{true: "false", false: "true"}[goes])
		}
		if h.what == isStatus {
			w.verbatim("metadata", v[metadata])
		}
		if w.literal("}"); name != "" {
			w.literal("}")
		}
	})
}

// writeWorking writes a status as that of a task that works.
func writeWorking(w *writer, raw []byte) {
	var v values
	statusObject.gather(w.from, raw, &v)
	w.literal(`{"state":"`)
	w.literal(w.spelled(states[working]))
	w.literal(`"`)
	for i := range statusObject.members {
		if m := &statusObject.members[i]; m.is != aState {
			w.member(m, v[i], &v)
		}
	}
	w.literal("}")
}

// writeUnfinished writes a task of 1.0 whose end is told later.
func writeUnfinished(w *writer, raw []byte) {
	var v values
	taskObject.gather(w.from, raw, &v)
	w.literal(`{"task":{`)
	for i := range taskObject.members {
		if i == taskStatus {
			w.name("status")
			writeWorking(w, v[i])
			continue
		}
		w.member(&taskObject.members[i], v[i], &v)
	}
	w.literal(`}}`)
}
