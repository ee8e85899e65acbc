package proxy

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
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

// recordActivation notes which of the extensions that were sent the agent says it activated: in
// the header, and on gRPC also in the trailer, which a2a-go's server prefers and
// which is known once the body is. An agent that never says is taken at its card's
// word where the configuration says so.
func (x *exchange) recordActivation(resp *http.Response) {
	sent := x.terms.Send
	if len(sent) == 0 {
		return
	}
	if x.agent.Extensions.Activation == "declared" {
		x.activated = sent
		return
	}
	activated := ext.Activated(resp.Header, sent)
	if x.upstream.Binding == wire.GRPC {
		activated = union(activated, ext.Activated(resp.Trailer, sent))
	}
	x.activated = activated
}

// lacks lists what is required and the agent has not activated. It is for calls in
// which the agent does something: when it only shows a task, SDKs do not say what was
// active.
func (x *exchange) lacks() []string {
	works := x.call.Method.Subject == wire.OfMessage || x.call.Method.Extension != ""
	if !works || !x.agent.Extensions.Verify {
		return nil
	}
	var missing []string
	for _, uri := range x.demanded() {
		if !x.activated.Has(uri) {
			missing = append(missing, uri)
		}
	}
	return missing
}

// verify refuses an answer that came about without an extension that is required.
func (x *exchange) verify() error {
	missing := x.lacks()
	found := make([]content.Violation, 0, len(missing))
	for _, uri := range missing {
		found = append(found, content.Violation{
			Extension: uri, Fault: content.NotActivated, Text: "required, and the agent has not activated it",
			Enforced: true,
		})
	}
	if err := x.judge(found, true); err != nil {
		e := wire.Errorf(wire.BadAgentResponse, "the agent did not activate required extensions: %s",
			strings.Join(missing, ", "))
		e.Meta = map[string]string{"extensions": strings.Join(missing, ",")}
		return e.Because(err)
	}
	return nil
}

// demanded are the extensions of the call that are required, or would be without
// shadow mode.
func (x *exchange) demanded() ext.Set {
	if !x.shadows() {
		return x.terms.Required
	}
	all := slices.Clone(x.terms.Required)
	for _, uri := range x.terms.Send {
		required := slices.Contains(x.agent.Extensions.Require, uri) ||
			slices.ContainsFunc(x.view.Extensions, func(d ext.Declared) bool { return d.URI == uri && d.Required })
		if required && !all.Has(uri) {
			all = append(all, uri)
		}
	}
	return all
}

// answerable lists what the response says is active: what the caller asked for and
// the agent has activated, and what the gateway itself has acted on.
func (x *negotiation) answerable() ext.Set {
	return x.asked.Only(func(uri string) bool {
		return x.terms.Provided.Has(uri) || uri == wire.SkillSelection ||
			x.terms.Visible.Has(uri) && x.activated.Has(uri)
	})
}

// union has the members of both, in memory that is not to be written to.
func union(a, b ext.Set) ext.Set {
	switch {
	case len(a) == 0:
		return slices.Clip(b)
	case len(b) == 0:
		return slices.Clip(a)
	}
	out := slices.Clip(a) // so that what is added makes a copy
	for _, uri := range b {
		if !out.Has(uri) {
			out = append(out, uri)
		}
	}
	return out
}
