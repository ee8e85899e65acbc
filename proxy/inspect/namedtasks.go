package inspect

import (
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// CheckNamedTasks: may the caller know of what the call names beside its own task? These are
// tasks that its message refers to, and a context, in which the agent remembers what was said for
// whichever skills it was used. That they are the caller's, or shared with it, CheckOwnership has
// found out; the rules may have changed since, or give single skills only.
//
// Where the rules allow the caller to read everything of the agent's, nothing is looked up. A
// context that the caller may not name is refused like a task: as one that does not exist.
func (in *Inspector) CheckNamedTasks(x *exchange.Exchange) error {
	c := &x.Call
	contextID := c.ContextID
	if x.Record.ID != "" || c.Method.Subject == wire.OfCaller && c.Method.Extension == "" {
		contextID = "" // that of a task which was asked for, or of a list whose entries are
	}
	if contextID == "" && len(c.ReferenceTaskIDs) == 0 || in.Policy.Everywhere(x.Principal, x.Agent.ID, intake.GetTask) {
		return nil
	}
	group, tasks, err := in.Ledger.Beside(x.Ctx, x.Agent.ID, contextID, c.ReferenceTaskIDs)
	if err != nil {
		return err
	}
	for i := range tasks {
		if err := in.mayName(x, &tasks[i]); err != nil {
			return err
		}
	}
	if group.Kind == 0 {
		return nil
	}
	group.Context, group.ID = group.ID, "" // a task in it, as far as it is known
	if err := in.mayName(x, &group); err != nil {
		return err
	}
	return in.checkContextSkills(x, group)
}

// checkContextSkills asks for each skill that a context may have been used for after it began, and
// for none in particular, as calls are that do not say which.
//
// The rules are asked for all skills first, without the state; the ledger is asked only about
// those they deny.
func (in *Inspector) checkContextSkills(x *exchange.Exchange, group state.Record) error {
	denied := map[string]error{}
	began := group.Skill
	var asked []string
	for _, skill := range append([]string{""}, x.View.Skills...) {
		if group.Skill = skill; skill == began {
			continue
		}
		if err := in.mayName(x, &group); err != nil {
			denied[skill] = err
			asked = append(asked, skill)
		}
	}
	used, err := in.Ledger.SkillsIn(x.Ctx, x.Agent.ID, group.Context, asked)
	if err != nil || len(used) == 0 {
		return err
	}
	return denied[used[0]]
}

// mayName asks the rules for a task that the call names and is not about.
func (in *Inspector) mayName(x *exchange.Exchange, r *state.Record) error {
	q, err := in.ReadingRequest(x, "", "", r)
	if err != nil {
		return err
	}
	return in.Policy.CheckNamed(q, intake.GetTask)
}
