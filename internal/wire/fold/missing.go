package fold

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// Missing returns the events that whoever has seen t must still see to know the Task
// as an agent shows it now: updates of artifacts, then of the status, which comes last
// because a terminal one ends a stream. Where all is known there are none. t does
// not change, and the events are new documents.
//
// An artifact whose parts begin with those that are known is extended by the others;
// any other change of an artifact replaces it. JSON is compared by meaning, numbers
// by how they are written.
//
// Updates have no way to say what was added to the history, what became of the task's
// own metadata and of members nobody knows, or that the order of artifacts is another:
// all that is left out, and neither is it a difference. (Metadata could be said in
// part, beside a status that did not change; but clients may take a status update for
// the news that it is.) That an artifact is gone cannot be said either, but it would be
// wrong to leave the client with it. Then, and where t is not Known, the only event is
// the Task itself, which clients put in place of what they have. t must be known,
// because the beginning of an artifact that was not seen could be taken for another.
func (t *Task) Missing(task []byte) (events [][]byte, err error) {
	task = jsonscan.Mend(task)
	now, err := readTask(task)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read task: %w", err)
	case t.id != "" && t.id != now.id:
		return nil, errors.New("the task is another one")
	case !t.known:
		return [][]byte{whole(task)}, nil
	}
	known, ok := t.pairs(&now)
	if !ok {
		return [][]byte{whole(task)}, nil
	}
	last := terminal(now.status)
	for i := range now.artifacts {
		if event := now.difference(known[i], &now.artifacts[i], last); event != nil {
			events = append(events, event)
		}
	}
	if now.status != nil && !equal(t.status, now.status) {
		events = append(events, now.statusUpdate())
	}
	return events, nil
}

// whole makes an event of a task.
func whole(task []byte) []byte {
	w := writer{}
	w.open('{')
	w.name("task")
	w.raw(task)
	w.close('}')
	return w.out
}

// pairs finds for each artifact of now what is known of it, nil for a new one. It is
// not ok where one is gone. Of several with one id each has its own place.
func (t *Task) pairs(now *Task) (known []*artifact, ok bool) {
	known = make([]*artifact, len(now.artifacts))
	if len(t.index) == len(t.artifacts) && len(now.index) == len(now.artifacts) {
		left := len(t.artifacts)
		for i := range now.artifacts {
			if at, ok := t.index[now.artifacts[i].id]; ok {
				known[i] = &t.artifacts[at]
				left--
			}
		}
		return known, left == 0
	}
	// Updates reach only the first of an id. They are all as they were, or the task
	// must be shown.
	if len(t.artifacts) != len(now.artifacts) {
		return nil, false
	}
	for i := range now.artifacts {
		a, b := &t.artifacts[i], &now.artifacts[i]
		if a.id != b.id || len(a.parts) != len(b.parts) || !a.begins(b) {
			return nil, false
		}
		known[i] = a
	}
	return known, true
}

// difference is the event that makes b of a, nil where they are equal.
func (t *Task) difference(a, b *artifact, last bool) []byte {
	extends := a != nil && a.begins(b)
	if extends && len(a.parts) == len(b.parts) {
		return nil
	}
	w := t.open("artifactUpdate")
	w.name("artifact")
	if extends {
		chunk := artifact{id: b.id, parts: b.parts[len(a.parts):]}
		w.artifact(&chunk)
	} else {
		shown := *b
		shown.whole = bare(b.whole)
		w.artifact(&shown)
	}
	if extends {
		w.name("append")
		w.raw([]byte("true"))
	}
	if last {
		w.name("lastChunk")
		w.raw([]byte("true"))
	}
	return w.closed()
}

// statusUpdate is the event that would have brought the task's status.
func (t *Task) statusUpdate() []byte {
	w := t.open("statusUpdate")
	w.name(nameStatus)
	w.raw(t.status)
	return w.closed()
}

// open begins an update of the task.
func (t *Task) open(kind string) *writer {
	w := &writer{}
	w.open('{')
	w.name(kind)
	w.open('{')
	w.text("taskId", t.id)
	w.text(nameContext, t.context)
	return w
}

// closed ends the update and the object around it, and gives the document.
func (w *writer) closed() []byte {
	w.close('}')
	w.close('}')
	return w.out
}

// begins reports whether b is a with more parts, or none.
func (a *artifact) begins(b *artifact) bool {
	if len(a.parts) > len(b.parts) || !same(a.rest.members, b.rest.members) || !same(a.metadata.members, b.metadata.members) {
		return false
	}
	for i := range a.parts {
		if !equal(bare(a.parts[i]), bare(b.parts[i])) {
			return false
		}
	}
	return true
}

// same compares members in any order, apart from those that are kept elsewhere.
func same(a, b []member) bool {
	values := make(map[string][]byte, len(a))
	for _, m := range a {
		if !m.apart {
			values[m.name] = m.value
		}
	}
	for _, m := range b {
		if m.apart {
			continue
		}
		if value, ok := values[m.name]; !ok || !equal(value, m.value) {
			return false
		}
		delete(values, m.name)
	}
	return len(values) == 0
}

// equal compares two values by meaning.
func equal(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) == 0 || len(b) == 0 || jsontext.Value(a).Kind() != jsontext.Value(b).Kind() {
		return false
	}
	return bytes.Equal(plain(a), plain(b))
}

// plain brings a value into the one form of all that mean the same: no white space,
// members by name, strings with the fewest escapes. Numbers stay as they are written:
// as doubles, two large integers could be one.
func plain(value []byte) []byte {
	v := jsontext.Value(bytes.Clone(value))
	_ = v.Format(jsontext.ReorderRawObjects(true)) // it has been read before
	return v
}

// terminal reports whether a task with this status has ended for good.
func terminal(status []byte) bool {
	switch lookup(status, "state") {
	case "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED":
		return true
	}
	return false
}
