package exchange

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// CallMessage is the message of a call, read when the first rule, authorizer or limit asks for
// it. Calls of which nobody asks cost nothing; err is what was wrong with it for all who ask.
type CallMessage struct {
	Read    bool
	Message *wire.Message
	Err     error
}

// PolicyRequest is the call as the rules see it.
func (x *Exchange) PolicyRequest() policy.Request {
	q := policy.Request{
		Principal: x.Principal, Agent: x.Agent.ID, Method: x.Call.Method,
		Skill: x.Skill, Skills: x.View.Skills, Agentwide: x.Agentwide, Now: x.Rec.Start,
		SkillScopes: x.View.Scopes, Message: x.CallMessage.Message,
		Binding: x.Binding(), Version: x.Call.Version, Extensions: x.Asked, Source: x.Source(),
		Task: x.Known,
	}
	return q
}
