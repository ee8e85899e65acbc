package exchange

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Negotiation is which extensions are active, and what documents are held to (negotiate).
//
// The fields are filled by the stages of a call in this order; the comments name the stage. In shadow
// mode all of them are filled and nothing is refused for them.
type Negotiation struct {
	Book      *ext.Book   // begin; the extensions that are registered
	Asked     ext.Set     // authorize; what the client asked for
	Names     ext.Names   // authorize; the header names the client used
	Terms     ext.Outcome // negotiate
	Shown     ext.Set     // negotiate; what the client asked for and gets, from whomever
	Activated ext.Set     // forward; of what was sent, what the agent says it activated
	Watched   *Watch      // forward; what the agent's documents are held to, once one is looked at
	Passes    bool        // forward; those that cannot carry anything are not looked at
}

// Shadows reports whether the agent's extensions are in shadow mode: nothing is
// refused or taken out, only recorded.
func (x *Destination) Shadows() bool { return x.Agent.Extensions.Mode == "shadow" }

// RecordActivation notes which of the extensions that were sent the agent says it activated: in
// the header, and on gRPC also in the trailer, which a2a-go's server prefers and
// which is known once the body is. An agent that never says is taken at its card's
// word where the configuration says so.
//
//	A2A-Extensions: https://example.com/ext/v1     in the response: activated
func (x *Exchange) RecordActivation(resp *http.Response) {
	sent := x.Terms.Send
	if len(sent) == 0 {
		return
	}
	if x.Agent.Extensions.Activation == "declared" {
		x.Activated = sent
		return
	}
	activated := ext.Activated(resp.Header, sent)
	if x.Upstream.Binding == wire.GRPC {
		activated = ext.Union(activated, ext.Activated(resp.Trailer, sent))
	}
	x.Activated = activated
}

// lacks lists what is required and the agent has not activated. It is for calls in
// which the agent does something: when it only shows a task, SDKs do not say what was
// active.
//
// A GetTask is not refused for it: the task may have been worked on with the extension long ago, and
// the servers of the SDKs list activated extensions only for what they do now.
func (x *Exchange) lacks() []string {
	works := x.Call.Method.Subject == wire.OfMessage || x.Call.Method.Extension != ""
	if !works || !x.Agent.Extensions.Verify {
		return nil
	}
	var missing []string
	for _, uri := range x.demanded() {
		if !x.Activated.Has(uri) {
			missing = append(missing, uri)
		}
	}
	return missing
}

// Verify refuses an answer that came about without an extension that is required.
func (x *Exchange) Verify() error {
	missing := x.lacks()
	found := make([]content.Violation, 0, len(missing))
	for _, uri := range missing {
		found = append(found, content.Violation{
			Extension: uri, Fault: content.NotActivated, Text: "required, and the agent has not activated it",
			Enforced: true,
		})
	}
	if err := x.Judge(found, true); err != nil {
		e := wire.Errorf(wire.BadAgentResponse, "the agent did not activate required extensions: %s",
			strings.Join(missing, ", "))
		e.Meta = map[string]string{"extensions": strings.Join(missing, ",")}
		return e.Because(err)
	}
	return nil
}

// demanded are the extensions of the call that are required, or would be without
// shadow mode.
//
// Required are those of the configuration (extensions.require) and those that the agent's card marks
// as required.
func (x *Exchange) demanded() ext.Set {
	if !x.Shadows() {
		return x.Terms.Required
	}
	all := slices.Clone(x.Terms.Required)
	for _, uri := range x.Terms.Send {
		required := slices.Contains(x.Agent.Extensions.Require, uri) ||
			slices.ContainsFunc(x.View.Extensions, func(d ext.Declared) bool { return d.URI == uri && d.Required })
		if required && !all.Has(uri) {
			all = append(all, uri)
		}
	}
	return all
}

// Answerable lists what the response says is active: what the caller asked for and
// the agent has activated, and what the gateway itself has acted on.
func (x *Negotiation) Answerable() ext.Set {
	return x.Asked.Only(func(uri string) bool {
		return x.Terms.Provided.Has(uri) || uri == wire.SkillSelection ||
			x.Terms.Visible.Has(uri) && x.Activated.Has(uri)
	})
}

// Form is how an agent's stream speaks, and under which extensions: who asks for others
// would get other events.
func (x *Negotiation) Form(l *UpstreamCall) string {
	sent := slices.Sorted(slices.Values(x.Terms.Send))
	return l.String() + "\n" + l.Tenant + "\n" + strings.Join(sent, " ")
}
