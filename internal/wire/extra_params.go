package wire

import (
	"fmt"
	"maps"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// extraNames are how the params of one extension's method are read.
type extraNames struct {
	rpc, http, http03 *Names
}

// newExtraNames makes the tables: those of A2A's methods with the same subject, with
// the names for a task in all of them, and that for a context. A method about tasks as a
// whole, or about the agent, that names a task nevertheless must not get past the
// ownership check; nor one about a task that names a context beside it.
//
//	Subject OfTask, TaskField "noteTask"     params {"noteTask":"T"}, {"taskId":"T"}, {"id":"T"}: all name T
func newExtraNames(m *Method) *extraNames {
	own := map[string]jsonscan.Field{"taskId": fieldTask, "metadata": fieldMetadata}
	own["contextId"] = fieldContext
	if m.Subject == OfMessage { // there, the message has it
		own["contextId"] = fieldStrayContext
	}
	if m.TaskField != "" {
		own[m.TaskField] = fieldTask
	}
	sets := extraMembers(m.Subject)
	table := func(further map[string]jsonscan.Field) *Names {
		all := maps.Clone(sets)
		maps.Copy(all, further)
		maps.Copy(all, own)
		return NewNames(InvalidParams, all)
	}
	plain := table(nil)
	switch m.Subject {
	case OfMessage:
		return &extraNames{plain, plain, table(requestMembers)}
	case OfTask:
		named := table(nameMembers)
		return &extraNames{plain, named, named}
	}
	return &extraNames{plain, plain, plain}
}

// extraMembers are what params have in every version.
func extraMembers(s Subject) map[string]jsonscan.Field {
	switch s {
	case OfMessage:
		return sendMembers
	case OfTask:
		return taskMembers
	case OfCaller:
		return listMembers
	}
	return map[string]jsonscan.Field{"tenant": fieldTenant}
}

// table is the one for a binding and version.
func (n *extraNames) table(http bool, v Version) *Names {
	switch {
	case http && v == V03:
		return n.http03
	case http:
		return n.http
	}
	return n.rpc
}

// checkTaskField refuses a member name that cannot be told from one of A2A's, or that
// is too long to be told from anything (see find).
func checkTaskField(m *Method) error {
	name := m.TaskField
	if name == "" || name == "taskId" || name == "id" {
		return nil
	}
	if len(name) > jsonscan.LongestName || !isWord(name, "_-.") {
		return fmt.Errorf("%q is no name for a member that names a task", name)
	}
	folded := string(jsonscan.Fold(nil, []byte(name), jsonscan.LongestName))
	for _, set := range []map[string]jsonscan.Field{
		sendMembers, send01Members, requestMembers, taskMembers, nameMembers, listMembers,
	} {
		for camel := range set {
			if string(jsonscan.Fold(nil, []byte(camel), jsonscan.LongestName)) == folded {
				return fmt.Errorf("the member %q could be taken for A2A's %q", name, camel)
			}
		}
	}
	return nil
}
