package translate

import "strconv"

// updates tells a task to a client that has been shown it: as an update for each artifact and one for the
// status, in the agent's words. The status comes last, since clients stop reading at some of them.
func (s stream) updates(raw []byte) error {
	var v values
	taskObject.gather(dialectOf(s.From), raw, &v)
	if v[taskArtifacts] != nil {
		if !isArray(v[taskArtifacts]) {
			return broken("artifacts is not an array")
		}
		for artifact := range elements(v[taskArtifacts]) {
			doc := s.update(artifactUpdateObject, &v, updateArtifact, artifact)
			if err := s.take(isArtifact, doc, doc); err != nil {
				return err
			}
		}
	}
	doc := s.update(statusUpdateObject, &v, updateStatus, v[taskStatus])
	return s.take(isStatus, doc, doc)
}

// update is a member of a task as an update of the agent's would have it, in that row of the update's.
func (s stream) update(o *object, task *values, row int, value []byte) []byte {
	from := dialectOf(s.From)
	w := buffer{out: make([]byte, 0, len(value)+128)}
	w.literal("{")
	if from == d03 {
		w.name("kind")
		w.word(o.kind)
	}
	for i, id := range [...]int{taskID, taskContext} {
		if name := o.members[i].say[from]; name != "" {
			w.verbatim(name, task[id])
		}
	}
	w.verbatim(o.members[row].say[from], value)
	if o == statusUpdateObject {
		if from != d10 && dialectOf(s.side()) != d10 { // to 1.0 it may have to wait; see waits
			n, _ := number(states[:], lookup(value, "state"))
			w.name("final")
			w.raw(strconv.AppendBool(nil, ends(n)))
		}
		w.verbatim("metadata", task[taskMetadata])
	}
	w.literal("}")
	return w.out
}
