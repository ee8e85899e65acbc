package wire

import (
	"fmt"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// Every version names the task and the context of a call in places of its own. An agent
// that knows several, or a dialect, may look in those of another one, and would go by an id
// that nobody has checked. So wherever some version has an id, it is read:
//
//   - where a call names its task, by any name that some version has for it: all of them
//     have to say the same;
//   - a context beside the task is judged as one in which the call puts it;
//   - a send has its ids in its message, and a list has a filter. Around those an id may
//     repeat what they say, but not stand in for it: the agent would not find it there.

// stray is an id that stands where the version has none.
//
//	{"taskId":"T","message":{…}}        1.0 has the task in the message
//	{"id":"T","message":{"taskId":"T"}}  as 0.1 has it, in a call of 1.0
type stray struct{ member, id string }

// stray reads one.
func (d *decoder) stray(f jsonscan.Field) {
	member, kind, start := d.at.Camel, d.Kind(), d.Pos
	if f == fieldStrayObject {
		if d.Skip(); kind != 'n' {
			d.noPlace(member)
		}
		return
	}
	var name string
	d.word(&name, member, 3*d.lim.IDLength)
	d.aside(f, name)
	if f == fieldStrayContext && name != "" {
		d.call.ContextCopies = append(d.call.ContextCopies, [2]int{start, d.Pos})
	}
}

// strayParameter is stray for a parameter of the query.
func (d *decoder) strayParameter(f jsonscan.Field, value string) {
	var name string
	d.agree(&name, value, d.at.Camel, 3*d.lim.IDLength)
	switch {
	case name == "":
	case f == fieldStrayObject:
		d.noPlace(d.at.Camel)
	case f == fieldReferences:
		d.call.ReferenceTaskIDs = append(d.call.ReferenceTaskIDs, name)
	default:
		d.aside(f, name)
	}
}

// noPlace refuses a message or a push config that would be carried past everything that is
// asked of one.
func (d *decoder) noPlace(member string) {
	d.Invalid(fmt.Sprintf("A2A %s has no %s here", d.call.Version, member))
}

// aside keeps what stands in such a place until the call is read. A task can go by its
// resource name.
//
// Two strays that disagree are refused at once; one that disagrees with the call only at the end,
// since the call's own id may stand behind it.
func (d *decoder) aside(f jsonscan.Field, name string) {
	other := &d.otherContext
	if f == fieldStrayTask {
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "tasks/"), "/")
		other = &d.otherTask
	}
	switch {
	case name == "":
	case other.id == "":
		*other = stray{d.at.Camel, name}
	case other.id != name:
		d.elsewhere(d.at.Camel, "id than "+other.member)
	}
}

// strays holds what was kept against what the call names.
func (d *decoder) strays() {
	if o := &d.otherTask; o.id != "" && o.id != d.call.TaskID {
		d.elsewhere(o.member, "task than the call")
	}
	if o := &d.otherContext; o.id != "" && o.id != d.call.ContextID {
		d.elsewhere(o.member, "context than the call")
	}
}

// elsewhere refuses a call that names one task or context where its version does, and another where
// some other version would look.
func (d *decoder) elsewhere(member, what string) {
	d.Invalid(fmt.Sprintf("%s, which A2A %s does not have here, names another %s", member, d.call.Version, what))
}
