package wellknown

import (
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// SkillsOver are the skills of an agent that a caller may send messages to over a binding, of those
// that its card shows the caller; none where there is no card for them.
func (ds *Documents) SkillsOver(b wire.Binding, who *authn.Principal, agent string) []string {
	a := ds.ByID[agent]
	if a == nil || who == nil || !ds.lists(who, a) {
		return nil
	}
	v := a.Look()
	if v == nil {
		return nil
	}
	return ds.Policy.SkillsOver(b, who, agent, v.Skills, v.Scopes)
}
