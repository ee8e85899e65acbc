package fold

import "errors"

// kind is what an event shows.
type kind uint8

// The kinds are those of the oneof of StreamResponse (A2A 1.0 §3.2.3). A message is of no task that
// would change: it counts as nothing.
const (
	isNothing kind = iota // of a task
	isTask
	isStatus
	isArtifact
)

// event is one event of a stream, read.
type event struct {
	kind        kind
	task        Task
	id, context string
	status      []byte   // of a status update
	metadata    object   // of a status update
	artifact    artifact // of an artifact update
	append      bool
}

var (
	errTwice    = errors.New("the event is two things at once")
	errSpelling = errors.New("an id is given in two spellings")
)

// readEvent reads a StreamResponse. The event is made of pieces of doc.
//
// A member with the value null counts as absent, as ProtoJSON has it.
func readEvent(doc []byte) (e event, err error) {
	r := read(doc)
	defer r.done()
	err = r.object(func(name string) error {
		is := isNothing
		switch name {
		case "task":
			is = isTask
		case "statusUpdate", "status_update":
			is = isStatus
		case "artifactUpdate", "artifact_update":
			is = isArtifact
		}
		if is == isNothing || r.dec.PeekKind() == 'n' {
			return r.dec.SkipValue()
		}
		if e.kind != isNothing {
			return errTwice
		}
		e.kind = is
		if is == isTask {
			return r.task(&e.task)
		}
		return r.update(&e)
	})
	if err == nil {
		err = r.end()
	}
	return e, err
}

// update reads a status update or an artifact update.
//
//	{"taskId":"T","contextId":"C","status":{…},"metadata":{…}}
//	{"taskId":"T","contextId":"C","append":true,"artifact":{"artifactId":"a","parts":[…]}}
func (r *reader) update(e *event) error {
	status := e.kind == isStatus
	return r.object(func(name string) (err error) {
		switch {
		case name == "taskId", name == "task_id":
			e.id, err = r.text()
		case name == "contextId", name == "context_id":
			e.context, err = r.text()
		case status && name == nameStatus:
			e.status, err = r.optional()
		case status && name == nameMetadata:
			e.metadata, err = r.members()
		case !status && name == "artifact":
			at := r.at
			if e.artifact, err = r.artifact(); err == nil {
				_, e.artifact.whole = r.since(at)
			}
		case !status && name == "append":
			e.append, err = r.flag()
		default:
			err = r.dec.SkipValue()
		}
		return err
	})
}

// readTask reads a Task document. The task is made of pieces of doc.
//
// It is for a whole Task, as GetTask answers it; an event has a wrapper around one.
func readTask(doc []byte) (t Task, err error) {
	r := read(doc)
	defer r.done()
	if err = r.task(&t); err == nil {
		err = r.end()
	}
	return t, err
}

// task reads a Task into t. Members that an event can change are kept apart from the others, each of
// which stays as it was written, with the space before its name.
func (r *reader) task(t *Task) error {
	t.known = true
	err := r.object(func(name string) (err error) {
		at, m := r.at, member{name: name, apart: true}
		switch name {
		case nameID:
			t.id, err = r.text()
		case "contextId", "context_id":
			m.name = nameContext
			if t.rest.stands(m.name) {
				return errSpelling
			}
			t.context, err = r.text()
		case nameStatus:
			t.status, err = r.optional()
		case nameArtifacts:
			err = r.artifacts(t)
		case nameHistory:
			t.hasPast = r.dec.PeekKind() == '['
			t.history, err = r.array()
		case nameMetadata:
			t.metadata, err = r.members()
		default:
			m.apart, err = false, r.dec.SkipValue()
		}
		if err == nil {
			m.lead, m.value = r.since(at)
			t.rest.members = append(t.rest.members, m)
		}
		return err
	})
	if err == nil && t.id == "" {
		return errors.New("the task has no id")
	}
	return err
}

// artifacts reads the artifacts of a task. Should two have the same id, updates go to
// the first, as in the SDKs.
//
// Every artifact keeps how it was written, so that those that no event touches are copied whole.
func (r *reader) artifacts(t *Task) error {
	if null, err := r.enter('[', "an array"); null || err != nil {
		return err
	}
	t.index = make(map[string]int)
	for r.dec.PeekKind() != ']' {
		from := r.offset()
		a, err := r.artifact()
		if err != nil {
			return err
		}
		a.whole = r.doc[from:r.offset():r.offset()]
		if _, ok := t.index[a.id]; !ok {
			t.index[a.id] = len(t.artifacts)
		}
		t.artifacts = append(t.artifacts, a)
	}
	_, err := r.dec.ReadToken()
	return err
}

// artifact reads an artifact, which may have no id: all that have none are one artifact then, as they
// are in the SDKs, whose maps find them under the empty string.
func (r *reader) artifact() (a artifact, err error) {
	err = r.object(func(name string) (err error) {
		at, m := r.at, member{name: name, apart: true}
		switch name {
		case "artifactId", "artifact_id":
			m.name = nameArtifactID
			if a.rest.stands(m.name) {
				return errSpelling
			}
			a.id, err = r.text()
		case nameParts:
			a.parts, err = r.array()
		case nameMetadata:
			a.metadata, err = r.members()
		default:
			m.apart, err = false, r.dec.SkipValue()
		}
		if err == nil {
			m.lead, m.value = r.since(at)
			a.rest.members = append(a.rest.members, m)
		}
		return err
	})
	return a, err
}
