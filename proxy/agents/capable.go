package agents

import (
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Incapable is the refusal of calls that an agent has no capability for, or the gateway:
// those about push notification configs, and subscriptions (A2A 1.0 §3.3.4). c is the agent's
// card; pushes says whether there are webhooks at this gateway. Nil: the call may be made.
// It does not depend on any task, and is asked before one is looked for: whoever asks for a
// task of somebody else's must not hear anything else than its owner.
//
// SendStreamingMessage is left to the agent: a card that is wrong about it hurts nobody.
func Incapable(m *wire.Method, c *card.Card, pushes bool) *wire.Error {
	switch {
	case m.Push && m.Extension == "" && (!pushes || !c.Push):
		return wire.Errorf(wire.PushUnsupported, "")
	case m.Name == wire.SubscribeToTask && !c.Streaming:
		return wire.Errorf(wire.Unsupported, "the agent does not stream")
	}
	return nil
}
