package proxy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// negotiate: which extensions are active, and is what the call carries of them as
// it should be?
func (in *inspector) negotiate(x *exchange) error {
	q := in.question(x, x.decision.Extensions)
	q.Requested = x.asked
	var err error
	if x.terms, err = in.Book.Negotiate(&q); err != nil {
		return err
	}
	if uri := x.call.Method.Extension; uri != "" && !x.terms.Visible.Has(uri) {
		return in.unknownMethod(x)
	}
	x.shown = x.terms.Visible
	if len(x.terms.Provided) > 0 {
		x.shown = slices.Concat(x.terms.Visible, x.terms.Provided)
	}
	return in.inspect(x)
}

// question is what negotiation needs to know of the agent and the rules. Nothing
// is requested in it.
func (er *extensionRules) question(x *exchange, rules []policy.Extensions) ext.Question {
	return ext.Question{
		Declared: x.view.Extensions, Config: &x.agent.Extensions, Rules: Effects(rules),
		Provided: er.offered, Now: x.rec.Start,
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

// shadows reports whether the agent's extensions are in shadow mode: nothing is
// refused or taken out, only recorded.
func (x *destination) shadows() bool { return x.agent.Extensions.Mode == "shadow" }
