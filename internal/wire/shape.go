package wire

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
)

// shape is what one object of an answer holds of the members that A2A's objects
// have, read before it is known which of them the object is: members may come in
// any order, and "kind" may come last.
//
// One pass suffices so: to find out first what the object is, and then read it as that, would take two.
type shape struct {
	kind    string // what "kind" says, as one of the kinds
	id      string // "id": a task's own; a 0.1 event's task
	task    string // "taskId": of a message or event
	context string // "contextId"; 0.1's "sessionId"
	state   string // of "status"
	final   bool   // "final", which 1.0 does not have
	chunk   chunk  // "artifact", and what an update says of it
	seen    mark
}

// mark says which members a shape has.
type mark uint16

const (
	markID mark = 1 << iota
	markTask
	markContext
	markMessage // messageId
	markStatus
	markArtifact
	markBadID // an id that is not a string
)

// has reports whether all of some members were there.
func (s *shape) has(m mark) bool { return s.seen&m == m }

// object reads the object that comes next. top is the object that the method
// returned (or the event); only there do wrappers and error members mean anything.
//
// Both spellings of a name are read, since ProtoJSON parsers accept the names of the proto file beside
// the camelCase ones (ProtoJSON, "JSON names"), and some programs write them.
func (r *answerReader) object(top bool) shape {
	var o shape
	s := r.s
	for s.Enter(); s.More(); {
		name := s.Name()
		if top && (r.problemMember(name) || r.wrapperMember(name) || r.listMember(name)) {
			continue
		}
		switch string(name) {
		case "kind":
			o.kind = kindNamed(r.word())
		case "id":
			o.id = r.identifier(&o, markID)
		case "taskId", "task_id":
			o.task = r.identifier(&o, markTask)
		case "contextId", "context_id":
			o.context = r.identifier(&o, markContext)
		case "sessionId":
			if r.version == V01 {
				o.context = r.identifier(&o, markContext)
			} else {
				s.Skip()
			}
		case "messageId", "message_id":
			o.seen |= markMessage
			s.Skip()
		case "status":
			r.status(&o)
		case "artifact":
			o.seen |= markArtifact
			r.artifact(&o)
		case "append":
			o.chunk.Append = r.yes()
		case "lastChunk", "last_chunk":
			o.chunk.Last = r.yes()
		case "artifacts":
			r.artifacts()
		case "extensions":
			r.extensions()
		case "final":
			o.final = s.Kind() == 't' && r.version != V10
			s.Skip()
		default:
			s.Skip()
		}
	}
	return o
}

// kindNamed maps 0.2's and 0.3's discriminator; anything else is no kind.
//
//	{"kind":"status-update","taskId":"T","status":{…}}   0.3; 0.1 has no kinds, 1.0 has wrappers
func kindNamed(word []byte) string {
	switch string(word) {
	case "task":
		return kindTask
	case "message":
		return kindMessage
	case "status-update":
		return kindStatus
	case "artifact-update":
		return kindArtifact
	}
	return ""
}

// wrapperMember consumes the value of a member that wraps the answer in 1.0 and in
// HTTP+JSON 0.3, and reports whether it did. Two of them contradict the oneof of
// the schema, and clients would each pick their own.
//
//	{"task":{…}}  {"message":{…}}  {"statusUpdate":{…}}  {"artifactUpdate":{…}}
func (r *answerReader) wrapperMember(name []byte) bool {
	var kind string
	switch string(name) {
	case "task":
		kind = kindTask
	case "message", "msg": // "msg" is the proto name in 0.3
		kind = kindMessage
	case "statusUpdate", "status_update":
		kind = kindStatus
	case "artifactUpdate", "artifact_update":
		kind = kindArtifact
	}
	if kind == "" || r.s.Kind() != '{' {
		return false
	}
	inner := r.object(false)
	if r.wrapper != "" {
		r.refuse("the answer is two things at once")
	}
	r.wrapper, r.inner = kind, inner
	return true
}

// identifier reads an id. null is the same as leaving it out. The same id in both
// spellings is refused: some clients read one, some the other.
func (r *answerReader) identifier(o *shape, m mark) string {
	if o.has(m) {
		r.refuse("an id is given in two spellings")
	}
	switch r.s.Kind() {
	case '"':
		o.seen |= m
		return string(r.s.Text())
	case 'n':
	default:
		o.seen |= markBadID
	}
	r.s.Skip()
	return ""
}

// status reads a TaskStatus. Its message is called "update" in 0.3's proto.
//
//	0.1, 0.3   {"state":"input-required","message":{…},"timestamp":"…"}
//	ProtoJSON  {"state":"TASK_STATE_INPUT_REQUIRED","message":{…}}   0.3's proto field: "update"
func (r *answerReader) status(o *shape) {
	s := r.s
	if s.Kind() != '{' {
		s.Skip()
		return
	}
	o.seen |= markStatus
	for s.Enter(); s.More(); {
		switch string(s.Name()) {
		case "state":
			o.state = r.state()
		case "message", "update":
			r.extensionsWithin()
		default:
			s.Skip()
		}
	}
}

// state reads a task state.
func (r *answerReader) state() string { return ReadState(r.s) }

// ReadState reads the value that is next as a task state in the spelling of any version, or as
// the number that ProtoJSON allows for an enum. It returns the 1.0 name, "" for what is no state.
func ReadState(s *jsonscan.Scanner) string {
	if s.Kind() == '"' {
		return taskstate.Named(s.Text())
	}
	n, ok := integer(s)
	if !ok {
		return ""
	}
	return taskstate.Numbered(n)
}

// artifact reads the artifact of an update. 0.1 numbers it, and says in it what later
// versions say beside it.
//
//	0.1        {"index":0,"append":true,"lastChunk":false,"parts":[…]}
//	0.3, 1.0   {"artifactId":"a","parts":[…]}, and beside it "append" and "lastChunk"
func (r *answerReader) artifact(o *shape) {
	s := r.s
	if s.Kind() != '{' {
		s.Skip()
		return
	}
	for s.Enter(); s.More(); {
		switch name := string(s.Name()); {
		case name == "extensions":
			r.extensions()
		case name == "artifactId", name == "artifact_id", name == "index" && r.version == V01:
			start, end := s.Skip()
			s.Forgo(start)
			o.chunk.ID = [2]int{start, end}
		case name == "append" && r.version == V01:
			o.chunk.Append = r.yes()
		case (name == "lastChunk" || name == "last_chunk") && r.version == V01:
			o.chunk.Last = r.yes()
		default:
			s.Skip()
		}
	}
}

// yes reads true.
func (r *answerReader) yes() bool {
	yes := r.s.Kind() == 't'
	r.s.Skip()
	return yes
}

// artifacts collects the extensions of a task's artifacts.
//
// Parts and metadata of an artifact are not looked at: they name no task.
func (r *answerReader) artifacts() {
	s := r.s
	if s.Kind() != '[' {
		s.Skip()
		return
	}
	for s.Enter(); s.More(); {
		r.extensionsWithin()
	}
}

// extensionsWithin collects the extensions that a message or artifact lists.
//
//	{"messageId":"m","extensions":["https://example.com/ext/v1"],"parts":[…]}     0.3 and 1.0
func (r *answerReader) extensionsWithin() {
	s := r.s
	if s.Kind() != '{' {
		s.Skip()
		return
	}
	for s.Enter(); s.More(); {
		if string(s.Name()) == "extensions" {
			r.extensions()
		} else {
			s.Skip()
		}
	}
}

// manyExtensions bounds Answer.Extensions, whose entries are compared each with
// each. No call activates so many; an answer that lists more is refused rather
// than read in part, since the part left out would escape the check.
const manyExtensions = 64

// extensions reads a list of extension URIs.
func (r *answerReader) extensions() {
	s := r.s
	if s.Kind() != '[' {
		s.Skip()
		return
	}
	for s.Enter(); s.More(); {
		uri := r.word()
		if len(uri) == 0 || slices.ContainsFunc(r.a.Extensions, func(x string) bool { return x == string(uri) }) {
			continue
		}
		if len(r.a.Extensions) == manyExtensions {
			r.refuse("more extensions than an answer can use")
			continue
		}
		r.a.Extensions = append(r.a.Extensions, string(uri))
	}
}
