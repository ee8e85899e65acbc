package record

import (
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// Stands asks again what was asked when a stream began, of the rules as they are now and
// at this time of day. How long ago the user authenticated counted then.
func (rc *Recorder) Stands(q policy.Request, shared bool) error {
	q.Begun, q.Now = q.Now, time.Now()
	if err := rc.Authn.Stands(q.Principal); err != nil {
		return err
	}
	agent := rc.Agents[q.Agent]
	if agent == nil {
		return agents.ErrUnknown
	}
	if v := agent.Look(); v != nil {
		q.SkillScopes = v.Scopes // what the card asks for now
	}
	if q.Method.Extension != "" {
		// The registry of each configuration has methods of its own.
		all := rc.Extra.Methods()
		i := slices.IndexFunc(all, func(m *wire.Method) bool { return m.Name == q.Method.Name })
		if i < 0 {
			return wire.Errorf(wire.MethodNotFound, "")
		}
		q.Method = all[i]
	}
	if shared && rc.Policy.Shares(q.Principal, q.Agent, q.Method, q.Task) == "" {
		return ledger.ErrAbsent
	}
	_, err := rc.Policy.Check(q)
	return err
}
