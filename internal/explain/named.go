package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// named says what the rules ask of tasks that the call shows or names and is not about.
// ListTasks, references of a message and its context show the caller tasks that the call itself is
// not about. The gateway asks for each whether the caller may read it; here no tasks are recorded,
// so that it is said for which skills they may be.
func (j *judgement) named() {
	switch {
	case j.Method.Name == wire.ListTasks:
		j.note("a task is listed where GetTask on it would be allowed: " + j.readable(j.Skill, j.call.Skill))
	case len(j.call.ReferenceTaskIDs) > 0:
		j.note("the tasks that the message refers to have to be the caller's, or shared with it, and readable: " + j.readable("", ""))
	case j.call.ContextID != "" && j.task == nil:
		j.note("the context has to be used for such skills only as the caller may read tasks of: " + j.readable("", ""))
	}
}

// readable says for which skills the caller may read a task of its own, asked as the
// gateway asks for each task. path and declared are what else says which skill is meant.
func (j *judgement) readable(path, declared string) string {
	read, err := j.FindMethod(wire.GetTask)
	if err != nil {
		return err.Error()
	}
	var yes, no []string
	// The last entry, "", is for tasks whose skill was never settled.
	for _, skill := range append(slices.Clone(j.skills), "") {
		q := j.ask
		// GetTask brings no message: what the call brings must not make a rule match here.
		q.Method, q.Message = read, nil
		q.Skill, q.Agentwide, err = j.Rules.Resolve(policy.SkillSource{
			Path: path, Task: skill, Declared: declared, All: j.skills, Method: read, Principal: j.Caller, Agent: j.Agent.ID,
		})
		if err == nil {
			_, err = j.Rules.Check(q)
		}
		if skill == "" {
			skill = "no known one"
		}
		var denied *policy.Denied
		switch {
		case err == nil:
			yes = append(yes, skill)
		case errors.As(err, &denied):
			no = append(no, fmt.Sprintf("%s (%s)", skill, denied.Rule))
		}
	}
	switch {
	case len(no) == 0:
		return "those of every skill"
	case len(yes) == 0:
		return "those of no skill"
	}
	return "those of " + strings.Join(yes, ", ") + "; not of " + strings.Join(no, ", ")
}
