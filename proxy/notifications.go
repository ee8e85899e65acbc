package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// StillFor reports whether the owner of a webhook may still hear of its task, under the
// configuration and the keys of now: the agent is there, the owner would be let in, and
// may read the task, register a webhook for it, or send to its skill. That is as much as
// can be asked without a call: conditions on a message count as met. An error that wraps
// push.ErrForbidden says no, any other that it cannot be told.
func (p *Proxy) StillFor(h *push.Webhook) error { return p.notifications.StillFor(h) }
