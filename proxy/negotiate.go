package proxy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// negotiate: which extensions are active, and is what the call carries of them as
// it should be?
func (in *inspector) negotiate(x *exchange.Exchange) error {
	q := in.question(x, x.Decision.Extensions)
	q.Requested = x.Asked
	var err error
	if x.Terms, err = in.Book.Negotiate(&q); err != nil {
		return err
	}
	if uri := x.Call.Method.Extension; uri != "" && !x.Terms.Visible.Has(uri) {
		return in.unknownMethod(x)
	}
	x.Shown = x.Terms.Visible
	if len(x.Terms.Provided) > 0 {
		x.Shown = slices.Concat(x.Terms.Visible, x.Terms.Provided)
	}
	return in.inspect(x)
}

// question is what negotiation needs to know of the agent and the rules. Nothing
// is requested in it.
func (er *extensionRules) question(x *exchange.Exchange, rules []policy.Extensions) ext.Question {
	return ext.Question{
		Declared: x.View.Extensions, Config: &x.Agent.Extensions, Rules: Effects(rules),
		Provided: er.offered, Now: x.Rec.Start,
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
