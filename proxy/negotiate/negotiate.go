package negotiate

import (
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Question is what negotiation needs to know of the agent and the rules. Nothing
// is requested in it.
func (er *ExtensionRules) Question(x *exchange.Exchange, rules []policy.Extensions) ext.Question {
	return ext.Question{
		Declared: x.View.Extensions, Config: &x.Agent.Extensions, Rules: Effects(rules),
		Provided: er.Offered, Now: x.Rec.Start,
	}
}

// Effects carries what rules say about extensions from policy to ext, which do not
// know each other.
func Effects(rules []policy.Extensions) []ext.Effect {
	if len(rules) == 0 {
		return nil
	}
	list := make([]ext.Effect, 0, len(rules))
	for _, r := range rules {
		list = append(list, ext.Effect{
			Rule: r.Rule, Shadow: r.Shadow, Allow: r.Allow, Deny: r.Deny, Require: r.Require, Inject: r.Inject,
		})
	}
	return list
}
