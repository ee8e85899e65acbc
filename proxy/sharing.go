package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// Sharing carries what rules say of tasks that are shared to the ledger, which does not
// know them: it is for ledger.Config.Share, where the configuration shares any.
//
// It returns a function that the ledger asks for each task of somebody else's: whether this
// caller may use it by this method.
func Sharing(rules *policy.Set) func(*authn.Principal, string, *wire.Method, state.Record) bool {
	return func(p *authn.Principal, agent string, m *wire.Method, r state.Record) bool {
		if !rules.MayShare(p, agent, m) {
			return false
		}
		t := intake.Recorded(&r)
		// A list shows what GetTask would, so both have to be shared.
		return rules.Shares(p, agent, m, t) != "" &&
			(m.Name != wire.ListTasks || rules.Shares(p, agent, intake.GetTask, t) != "")
	}
}
