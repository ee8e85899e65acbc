package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// owners keeps whose tasks and contexts are, and under which ids both sides know them: of calls before
// they are sent, and of all that agents answer.
type owners struct {
	*authenticator
	*webhooks
	*frontend
	*decoder

	Hub          *stream.Hub
	Shown        *Shown
	StreamConfig stream.Config
	Telemetry    *telemetry.Telemetry
	ledger       *ledger.Ledger
	salt         []byte
}

// Sharing carries what rules say of tasks that are shared to the ledger, which does not
// know them: it is for ledger.Config.Share, where the configuration shares any.
func Sharing(rules *policy.Set) func(*authn.Principal, string, *wire.Method, state.Record) bool {
	return func(p *authn.Principal, agent string, m *wire.Method, r state.Record) bool {
		if !rules.MayShare(p, agent, m) {
			return false
		}
		t := recorded(&r)
		// A list shows what GetTask would, so both have to be shared.
		return rules.Shares(p, agent, m, &t) != "" &&
			(m.Name != wire.ListTasks || rules.Shares(p, agent, getTask, &t) != "")
	}
}

// recorded is a task's record as the rules see it.
func recorded(r *state.Record) policy.Task {
	owner, issuer := ledger.OwnerOf(*r)
	return policy.Task{
		ID: r.ID, ContextID: r.Context, Skill: r.Skill,
		Owner: owner, Issuer: issuer, Tenant: r.Tenant, Created: r.Created,
	}
}
