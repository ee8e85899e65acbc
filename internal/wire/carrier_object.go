package wire

import "bytes"

// top reads what an agent answered: a task, a message or an update, bare or in a
// wrapper, or a list of tasks. What the object itself is shows at its end; one that
// is only there to hold others is no carrier.
//
//	{"id":"T","status":{…}}            the task is carrier 0
//	{"task":{"id":"T","status":{…}}}   so here: the wrapper is taken out of the list again
func (r *carrierReader) top() {
	s := r.s
	var o shape
	var own bool // it holds something that a wrapper does not
	i := r.begin(Carrier{Place: InTask, Parent: -1, Index: -1})
	for s.Enter(); s.More(); {
		name := s.Name()
		if r.wrapped(name) {
			continue
		}
		if string(name) == "tasks" {
			r.children(Carrier{Place: InTask, Parent: i, Name: "tasks"})
			continue
		}
		if r.thingMember(i, name, &o) {
			own = true
		}
	}
	r.list[i].Span[1] = s.Pos
	kind := r.kindOf(&o)
	if kind == "" && !own {
		r.list = r.list[:copy(r.list, r.list[1:])]
		for j := range r.list {
			r.list[j].Parent--
		}
		for j := range r.marks {
			r.marks[j].Carrier--
		}
		return
	}
	r.settle(i, placeOf(kind), &o)
}

// placeOf is the place of a kind of answer. An answer that is nothing A2A knows, but
// has something for extensions, is most likely a task.
func placeOf(kind string) Place {
	switch kind {
	case kindMessage:
		return InMessage
	case kindStatus, kindArtifact:
		return InUpdate
	}
	return InTask
}

// settle says what a thing is that has been read.
func (r *carrierReader) settle(i int, p Place, o *shape) {
	c := &r.list[i]
	c.Place = p
	switch {
	case p == InTask, p == InUpdate && o.task == "" && r.version == V01:
		c.Task = o.id
	case p == InUpdate:
		c.Task = o.task
	}
}

// wrapped consumes the value of a member that wraps an answer, and reports whether it
// did. The object around it is the first of all.
//
// The name is kept as the document spells it, for the pointers that refusals and schemas show.
func (r *carrierReader) wrapped(name []byte) bool {
	if r.s.Kind() != '{' {
		return false
	}
	var kind, as string
	switch string(name) {
	case "task":
		kind, as = kindTask, "task"
	case "message":
		kind, as = kindMessage, "message"
	case "msg": // the proto name in 0.3
		kind, as = kindMessage, "msg"
	case "statusUpdate":
		kind, as = kindStatus, "statusUpdate"
	case "status_update":
		kind, as = kindStatus, "status_update"
	case "artifactUpdate":
		kind, as = kindArtifact, "artifactUpdate"
	case "artifact_update":
		kind, as = kindArtifact, "artifact_update"
	default:
		return false
	}
	r.wrapper = kind
	r.thing(Carrier{Place: placeOf(kind), Name: as, Index: -1})
	return true
}

// thing reads a task, a message or an update, and everything that one of them might
// have, for that is how ReadAnswer reads it.
//
// What a task, a message and an update have is disjoint but for their ids and the metadata, so one pass
// that takes the members of all three is enough to read any of them.
func (r *carrierReader) thing(c Carrier) {
	s := r.s
	var o shape
	i := r.begin(c)
	for s.Enter(); s.More(); {
		r.thingMember(i, s.Name(), &o)
	}
	r.list[i].Span[1] = s.Pos
	r.settle(i, c.Place, &o)
}

// thingMember reads the value of a member of a thing, and reports whether it may hold
// something of an extension's.
func (r *carrierReader) thingMember(i int, name []byte, o *shape) bool {
	s := r.s
	if r.common(i, name) {
		return true
	}
	switch string(name) {
	case "kind":
		o.kind = kindNamed(r.word())
	case "id":
		o.id = r.identifier(o, markID)
	case "taskId", "task_id":
		o.task = r.identifier(o, markTask)
	case "messageId", "message_id":
		o.seen |= markMessage
		s.Skip()
	case "status":
		if s.Kind() != '{' {
			s.Skip()
			return false
		}
		o.seen |= markStatus
		r.status(i)
		return true
	case "artifact":
		o.seen |= markArtifact
		r.child(Carrier{Place: InArtifact, Parent: i, Name: "artifact", Index: -1})
		return true
	case "artifacts":
		r.children(Carrier{Place: InArtifact, Parent: i, Name: "artifacts"})
		return true
	case "history":
		r.children(Carrier{Place: InMessage, Parent: i, Name: "history", History: true})
		return true
	default:
		if i == 0 && r.foreign() {
			s.Skip() // what an extension's method answers has names of its own
		} else {
			r.other(name)
		}
	}
	return false
}

// common reads the members that messages and artifacts have, and reports whether this
// is one.
func (r *carrierReader) common(i int, name []byte) bool {
	switch string(name) {
	case "metadata":
		r.metadata(i)
	case "extensions":
		r.listed(i)
	case "parts":
		r.children(Carrier{Place: InPart, Parent: i, Name: "parts", History: r.list[i].History})
	case "content":
		r.children(Carrier{Place: InPart, Parent: i, Name: "content", History: r.list[i].History})
	default:
		return false
	}
	return true
}

// children reads the objects of an array, c being what they have in common.
//
//	"parts":[{"text":"a"},null,{"text":"b"}]   two carriers, with the indexes 0 and 2
func (r *carrierReader) children(c Carrier) {
	s := r.s
	if s.Kind() != '[' {
		s.Skip()
		return
	}
	for s.Enter(); s.More(); c.Index++ {
		r.child(c)
	}
}

// child reads an object in its place; whatever else stands there is passed over.
func (r *carrierReader) child(c Carrier) {
	switch {
	case r.s.Kind() != '{':
		r.s.Skip()
	case c.Place == InPart:
		r.part(c)
	case c.Place == InTask:
		r.thing(c)
	default:
		r.leaf(c)
	}
}

// leaf reads a message or an artifact that stands inside of something else.
//
// Its ids are of no interest here: only its members metadata, extensions and parts can hold marks.
func (r *carrierReader) leaf(c Carrier) {
	s := r.s
	i := r.begin(c)
	for s.Enter(); s.More(); {
		if name := s.Name(); !r.common(i, name) {
			r.other(name)
		}
	}
	r.list[i].Span[1] = s.Pos
}

// status reads a TaskStatus. Its message is called "update" in 0.3's proto.
func (r *carrierReader) status(parent int) {
	s := r.s
	i := r.begin(Carrier{Place: InStatus, Parent: parent, Name: "status", Index: -1})
	for s.Enter(); s.More(); {
		switch name := s.Name(); string(name) {
		case "state":
			r.list[i].State = r.state()
		case "message":
			r.child(Carrier{Place: InMessage, Parent: i, Name: "message", Index: -1})
		case "update":
			r.child(Carrier{Place: InMessage, Parent: i, Name: "update", Index: -1})
		default:
			r.other(name)
		}
	}
	r.list[i].Span[1] = s.Pos
}

// part reads a part of a message or artifact.
//
//	0.3            {"kind":"data","data":{"n":1},"metadata":{"k":1}}
//	0.3 ProtoJSON  {"data":{"data":{"n":1}}}
//	1.0            {"data":{"n":1},"mediaType":"application/json"}
//
// In all three, Data is where {"n":1} stands.
func (r *carrierReader) part(c Carrier) {
	s := r.s
	i, marks := r.begin(c), len(r.marks)
	var data, text [2]int
	var null, file bool // the data is null; there is a file
	for s.Enter(); s.More(); {
		name := s.Name()
		if mayFile(name) {
			r.list[i].File = true
		}
		switch string(name) {
		case "metadata":
			r.metadata(i)
		case "text":
			kind := s.Kind()
			if from, to := s.Skip(); kind == '"' {
				text = [2]int{from, to}
			}
		case "data":
			null = s.Kind() == 'n'
			data[0], data[1] = s.Skip()
		case "raw", "url", "file":
			file = file || s.Kind() != 'n'
			s.Skip()
		default:
			near := s.Kind() == '"' && bytes.EqualFold(name, []byte("text"))
			from := s.Pos
			r.other(name)
			if near { // Go's encoding/json and .NET read "Text" as text
				r.list[i].Near = append(r.list[i].Near, [2]int{from, s.Pos})
			}
		}
	}
	p := &r.list[i]
	p.Span[1] = s.Pos
	p.Text = text
	switch {
	case s.Failed():
	case !null:
		p.Data = r.unwrapped(data, r.marks[marks:])
	case r.version == V10 && !file && text == [2]int{}:
		p.Data = data // in 1.0 null is a value, where nothing else is the part's
	}
}

// compat in a part's metadata says that its data, which before 1.0 had to be an
// object, is {"value":X} for want of a way to say X. The SDKs have agreed on it.
const compat = "data_part_compat"

// unwrapped finds the data in what a version before 1.0 wraps around it. What is not
// as it should be stays as it stands, for a schema to refuse.
//
//	0.3            {"data":{"value":[1,2]},"metadata":{"data_part_compat":true}}            [1,2]
//	0.3 ProtoJSON  {"data":{"data":{"value":[1,2]}},"metadata":{"data_part_compat":true}}   [1,2]
//	0.3            {"data":{"value":[1,2]}}                                                 {"value":[1,2]}
func (r *carrierReader) unwrapped(data [2]int, marks []Mark) [2]int {
	if r.version == V10 || data == [2]int{} {
		return data
	}
	if r.proto03() {
		if inner, _ := MemberOf(r.s.Doc, data, "data"); inner != [2]int{} {
			data = inner
		}
	}
	for _, m := range marks {
		if m.Key == compat && string(r.s.Doc[m.Value[0]:m.Value[1]]) == "true" {
			if value, n := MemberOf(r.s.Doc, data, "value"); n == 1 && value != [2]int{} {
				data = value
			}
		}
	}
	return data
}
