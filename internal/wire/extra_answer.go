package wire

import "bytes"

// extraResult reads what a method returned of which A2A prescribes no answer. A client
// may well make tasks of what looks like tasks, so they are found: the answer itself,
// what stands in it as A2A's own answers have it, and a list under "tasks" or bare.
//
// A method about the caller's tasks shows tasks in such a list only. There they can be
// cut out; what stands beside it cannot, and is refused.
//
//	{"notes":["a"]}                           shows no task
//	{"id":"T","status":{"state":"working"}}   a task T: ownership is checked as for GetTask
//	[{"id":"T","status":{…}},{"id":"U",…}]    a list, out of which foreign tasks are cut
func (r *answerReader) extraResult() {
	switch r.s.Kind() {
	case '{':
		r.event()
	case '[':
		r.a.Result[0] = r.s.Pos
		r.candidates()
		r.a.Result[1] = r.s.Pos
	default:
		if r.aboutCaller() && r.s.Kind() != 'n' {
			r.refuse("the result is neither an object nor a list")
		}
		r.a.Result[0], r.a.Result[1] = r.s.Skip()
	}
	if !r.listed && !r.aboutCaller() {
		return
	}
	if len(r.a.Tasks) > 0 {
		r.refuse("a task stands beside the list of tasks")
	}
	r.a.Kind, r.a.Tasks, r.a.State, r.a.Final = kindList, r.entries, "", false
}

// aboutCaller is true for an extension's method that lists the caller's tasks.
//
// Its answer has to be such a list, since what could not be cut out of it would be shown to the wrong
// caller.
func (r *answerReader) aboutCaller() bool { return r.method != nil && r.method.Subject == OfCaller }

// listMember consumes the value of a member that may be a list of tasks, and reports
// whether it did. encoding/json reads "Tasks" as well.
//
// Two such members, or one in another case that a parser without regard to case would prefer, are refused:
// a filter would cut one and the client read the other.
func (r *answerReader) listMember(name []byte) bool {
	if inCore(r.method) || !bytes.EqualFold(name, []byte("tasks")) {
		return false
	}
	again := r.listed
	r.candidates()
	if r.listed && (again || string(name) != "tasks") {
		r.refuse(`the answer has a member that is almost "tasks"`)
	}
	return true
}

// candidates reads what may be a list of tasks. One entry that looks like a task makes
// all of them entries of such a list, for the others could then only be broken ones.
//
//	{"tasks":[{"id":"T","status":{…}},…]}   a list: the second member of T shows it
//	{"tasks":["buy milk"]}                  none, for a method that is not about tasks
func (r *answerReader) candidates() {
	s, other, badID := r.s, false, false
	if s.Kind() != '[' {
		if r.aboutCaller() && s.Kind() != 'n' {
			r.refuse("the list of tasks is not an array")
		}
		s.Skip()
		return
	}
	list := r.aboutCaller()
	var entries []TaskRef
	for s.Enter(); s.More(); {
		if s.Kind() != '{' {
			other = true
			s.Skip()
			continue
		}
		start := s.Pos // kind stands on the brace
		o := r.object(false)
		badID = badID || o.has(markBadID)
		list = list || o.kind == kindTask || o.has(markID|markStatus)
		entries = append(entries, TaskRef{ID: o.id, ContextID: o.context, Span: [2]int{start, s.Pos}})
	}
	switch {
	case !list:
		return
	case other:
		r.refuse("an entry of the list of tasks is not an object")
	case badID:
		r.refuse("an id is not a string")
	}
	r.listed, r.entries = true, entries
	for i := range entries {
		if r.a.ContextID == "" {
			r.a.ContextID = entries[i].ContextID
		}
	}
}
