package fold

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// Task is what a task has become. The zero value knows nothing yet. It is not safe
// for concurrent use.
type Task struct {
	known       bool
	id, context string

	// rest are the members of the document that showed the task, in its order and as it
	// wrote them. What is kept in the fields below has no value there once it has changed.
	rest      object
	status    []byte // nil: none was shown
	artifacts []artifact
	index     map[string]int // of artifacts: the first of an id
	history   [][]byte
	hasPast   bool            // the task has a history, though it may be empty
	said      map[string]bool // message ids of history, once they were asked for
	metadata  object

	size, statusSize int // see Size; of status, what it is of size
}

// Size is about how many bytes of memory the task takes. A text that comes word by word is
// counted by its words, not by the far longer events that bring them.
//
// It is what a limit on the memory of open streams counts, and no exact measure: slices have room, and
// maps have more.
func (t *Task) Size() int { return t.size }

// perPart is what a piece of an artifact takes beside its bytes.
const perPart = 32

// artifact is kept in pieces, so that a chunk of it costs what the chunk is long.
//
// Pieces are slices of the events that brought them, or copies; none is ever written to, so snapshots
// may share them.
type artifact struct {
	id       string
	whole    []byte // as written, in a list with what stands before it; nil once it has changed
	rest     object // of which id, parts and metadata are kept apart
	parts    [][]byte
	metadata object
}

var errUnknown = errors.New("nothing is known of the task")

// Known reports whether the whole task was shown. Before, a snapshot is only what
// updates have said of it.
func (t *Task) Known() bool { return t.known }

// Apply adds the next event of the task's stream. A task replaces all that was
// known. Events that show no task change nothing. After an error t is as it was.
//
// The official SDKs agree on the most of it: an update's status replaces the task's;
// the message of the status before it becomes history; an artifact replaces the one
// of its id, or adds its parts to it; the metadata of a status update goes into the
// task's, that of an appended artifact into the artifact's. Where they differ:
//
//   - The Go and Python SDKs add the old status's message to the history without
//     looking; the JavaScript SDK adds the new status's at once, if no message of its
//     id is there. Both lead to the same history here: the old one's is added unless
//     it is there.
//   - The JavaScript SDK leaves metadata of a status update alone; here it is merged.
//   - A chunk of an unknown artifact is an error to the Go and Python SDKs. The
//     JavaScript SDK takes it for a new one, as is done here: who begins to listen in
//     the middle sees such chunks.
//   - The Go and Python SDKs take nothing but parts and metadata from a chunk, the
//     JavaScript SDK name and description as well. Here all its members count.
//
// Nobody keeps the metadata of an artifact update (other than its artifact's).
//
// event is copied, and so may be reused by the caller. Halves of surrogate pairs, which Go's parsers
// refuse and JavaScript's write, become U+FFFD first (Mend).
func (t *Task) Apply(event []byte) error {
	e, err := readEvent(bytes.Clone(jsonscan.Mend(event)))
	switch {
	case err != nil:
		return fmt.Errorf("read event: %w", err)
	case e.kind == isTask:
		*t = e.task
		t.size = len(event)
		return nil
	case e.kind == isNothing:
		return nil
	case t.id != "" && e.id != "" && t.id != e.id:
		return errors.New("the event is of another task")
	}
	if t.id = first(t.id, e.id); t.context == "" && e.context != "" {
		t.context = e.context
		t.rest.touch(nameContext)
	}
	kept := bytesOf(e.metadata.members)
	t.size += kept
	if e.status != nil {
		t.replaceStatus(e.status, len(event)-kept)
	}
	if len(e.metadata.members) > 0 {
		t.metadata.merge(e.metadata.members)
		t.rest.touch(nameMetadata)
	}
	if e.artifact.rest.members != nil {
		t.size += t.update(&e.artifact, e.append, len(event))
	}
	return nil
}

// replaceStatus takes over the status of an event of that size. Of the one before nothing is
// left, unless its message went to the history.
//
//	before   status {"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"m1",…}}
//	event    status {"state":"TASK_STATE_WORKING"}
//	after    the event's status, and m1 at the end of history
func (t *Task) replaceStatus(status []byte, size int) {
	before := len(t.history)
	t.remember()
	if len(t.history) == before {
		t.size -= t.statusSize
	}
	t.status, t.statusSize = status, size
	t.rest.touch(nameStatus)
	t.size += size
}

// first is the first of two that is not empty.
func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// remember moves the message of the status that is about to go to the history. A
// message without an id cannot be found there; it is added where there is a history
// at all.
//
// The comparison is by id, since JavaScript agents put the message into the history themselves and then
// send it in the status as well.
func (t *Task) remember() {
	for _, message := range pick(t.status, "message") {
		if message[0] != '{' {
			continue
		}
		id := lookup(message, "messageId", "message_id")
		switch {
		case id == "" && !t.hasPast, id != "" && t.hasSaid(id):
			continue
		}
		t.history, t.hasPast = append(t.history, message), true
		t.rest.touch(nameHistory)
		if id != "" {
			t.said[id] = true
		}
	}
}

// hasSaid looks a message up in the history by its id.
//
// The index is made when it is first asked for: most tasks end without a status whose message matters.
func (t *Task) hasSaid(id string) bool {
	if t.said == nil {
		t.said = make(map[string]bool, len(t.history))
		for _, message := range t.history {
			t.said[lookup(bare(message), "messageId", "message_id")] = true
		}
	}
	return t.said[id]
}

// update adds, replaces or extends an artifact by an event of that size, and says by how
// much the task has grown.
//
// Without append an artifact replaces the one of its id; with append and no such artifact it is a new
// one, as for whoever begins to listen in the middle of a stream.
func (t *Task) update(a *artifact, extend bool, size int) (grown int) {
	i, ok := t.index[a.id]
	t.rest.touch(nameArtifacts)
	switch {
	case !ok:
		if t.index == nil {
			t.index = make(map[string]int)
		}
		t.index[a.id] = len(t.artifacts)
		t.artifacts = append(t.artifacts, *a)
	case extend:
		return t.artifacts[i].extend(a)
	default:
		t.artifacts[i] = *a
	}
	return size
}

// extend adds a chunk. Its parts are copied once more, together: those of a text that
// comes word by word are far shorter than the events that bring them, which could not
// be freed otherwise. It says by how much the artifact has grown.
//
//	parts [{"text":"Hel"}] and a chunk [{"text":"lo"}]   [{"text":"Hel"},{"text":"lo"}]
func (a *artifact) extend(chunk *artifact) int {
	size := 0
	for i, part := range chunk.parts {
		chunk.parts[i] = bare(part)
		size += len(chunk.parts[i])
	}
	parts := make([]byte, 0, size)
	for _, part := range chunk.parts {
		parts = append(parts, part...)
		a.parts = append(a.parts, parts[len(parts)-len(part):len(parts):len(parts)])
	}
	var said []member
	for _, m := range chunk.rest.members {
		if !m.apart && m.value[0] != 'n' {
			said = append(said, m)
		}
	}
	if len(chunk.parts) > 0 {
		a.rest.touch(nameParts)
	}
	if len(chunk.metadata.members) > 0 {
		a.metadata.merge(own(chunk.metadata.members))
		a.rest.touch(nameMetadata)
	}
	a.rest.merge(own(said))
	a.whole = nil
	return size + perPart*len(chunk.parts) + bytesOf(said) + bytesOf(chunk.metadata.members)
}

// bytesOf is how long the values of members are, together, as they are written.
func bytesOf(members []member) (n int) {
	for _, m := range members {
		n += len(m.value)
	}
	return n
}

// own copies values out of the event that brought them.
func own(members []member) []member {
	for i := range members {
		members[i].value = bytes.Clone(members[i].value)
	}
	return members
}
