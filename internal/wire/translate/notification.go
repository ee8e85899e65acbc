package translate

import (
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

var notificationRules = []rule{
	{every, only01, changed, "A notification about a new status becomes a task with that status and nothing else; one that is a " +
		"message becomes a completed task."},
	{every, only01, refused, "A notification about an artifact: 0.1 sends tasks, and a task has a status: `UNSUPPORTED_OPERATION`."},
}

// Notification retells what an agent posts to a webhook, for a receiver who speaks
// as r.Call does, and appends it to dst. It is JSON over HTTP whatever the binding
// of the calls was: 0.1 posts tasks, 0.2 and 0.3 the objects with their kind (A2A
// 0.3 §9.5 leaves the form open; these are what its SDKs send and read), 1.0 the
// StreamResponse (A2A 1.0 §4.3.3).
//
// The error is of kind BadAgentResponse if doc is none of these, and Unsupported if
// the receiver's version cannot say it.
func (r *Retelling) Notification(dst, doc []byte) ([]byte, error) {
	doc = jsonscan.Mend(doc)
	posted := func(v wire.Version) dialect { return dialectOf(wire.Side{Version: v, Binding: wire.JSONRPC}) }
	from, to := posted(r.From.Version), posted(r.Call.Version)
	what, raw := classify(from, doc, false)
	if what == 0 {
		return dst, broken("a notification is none that A2A has")
	}
	start := len(dst)
	w := r.writer(dst)
	w.from, w.to = from, to
	switch {
	case to != d01:
		writeThing(w, what, raw, doc)
	case what == isMessage:
		writeMessageTask(w, raw)
	case what == isArtifact:
		return dst, wire.Errorf(wire.Unsupported, "A2A 0.1 has no notification about an artifact")
	case what == isStatus:
		writeStatusTask(w, raw)
	default:
		w.object(taskObject, raw)
	}
	if w.wrong != "" {
		return w.out[:start], broken(w.wrong)
	}
	return w.out, nil
}

// writeStatusTask makes a task of an update of its status.
func writeStatusTask(w *writer, raw []byte) {
	var v values
	statusUpdateObject.gather(w.from, raw, &v)
	w.literal("{")
	w.member(&taskObject.members[taskID], v[0], nil)
	w.member(&taskObject.members[taskContext], v[1], nil)
	w.name("status")
	w.status(v[updateStatus])
	w.literal("}")
}
