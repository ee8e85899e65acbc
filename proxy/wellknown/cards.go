package wellknown

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// cardMaxAge is how long clients may keep a public card: short enough for a
// changed rule or skill to show, long enough to save most requests.
const cardMaxAge = time.Minute

// ServeCard answers with the agent's card as this caller should see it. The
// card was fetched long before; a caller cannot make the gateway fetch anything.
//
// Its refusals: 405 for other verbs than GET and HEAD, 404 or 401 for an agent or a skill that is
// not there for the reader, 503 with Retry-After while the card has not been fetched. The form
// follows A2A-Version; without one it is the mixed form that clients of 0.3 and of 1.0 both read.
func (ds *Documents) ServeCard(x *exchange.Exchange) error {
	x.Rec.Method = "GetAgentCard"
	if !intake.Reads(x.Request.Method) {
		return exchange.NotAllowed([]string{http.MethodGet, http.MethodHead})
	}
	if x.Agent == nil || x.Agent.Card.Visibility == card.None {
		return ds.NoCard(x)
	}
	if x.Principal != nil {
		if hidden := ds.Policy.Hides(x.Principal, x.Agent.ID); hidden != nil {
			return hidden
		}
	}
	version, pure := x.Agent.Card.Form.Of(x.Request.Header, x.Request.URL.Query())
	if x.Rest == exchange.LegacyCardPath && version != wire.V10 {
		version = wire.V01 // 0.1 looks for it there, and 0.2, which can read that form
	}
	if x.View = x.Agent.Look(); x.View == nil {
		return x.Agent.NotReady()
	}
	if x.Skill != "" && !slices.Contains(ds.visible(x), x.Skill) {
		return ds.NoCard(x)
	}
	body, etag, err := x.View.Card.Render(ds.servedView(x, version, pure))
	if err != nil {
		return err
	}
	// Callers without a credential are all the same one, and so is their card.
	private := x.Principal != nil && x.Principal.Method != "anonymous"
	card.Reply{
		Body: body, ETag: etag, Private: private, MaxAge: cardMaxAge,
		Credentials: ds.Authn.CredentialHeaders(),
	}.ServeHTTP(x.Writer, x.Request)
	return nil
}

// servedView is the view for who asks for the card by HTTP, in whichever form.
func (ds *Documents) servedView(x *exchange.Exchange, version wire.Version, pure bool) card.View {
	v := ds.cardView(x, version)
	v.Pure = pure
	return v
}

// CardFor is the card of an agent as it is served to a caller: see Proxy.CardFor.
//
// It is for the admin API, which shows an operator what a caller would get.
func (ds *Documents) CardFor(who *authn.Principal, agent string, version wire.Version) ([]byte, card.Form, error) {
	a := ds.ByID[agent]
	if a == nil || !ds.lists(who, a) {
		return nil, "", nil
	}
	x := &exchange.Exchange{Destination: exchange.Destination{Agent: a, View: a.Look()}, Principal: who}
	if x.View == nil {
		return nil, "", a.NotReady()
	}
	x.Rec.Start = time.Now() // until when extensions are good
	asked := http.Header{}
	if version != "" {
		asked.Set(card.VersionHeader, string(version))
	}
	version, pure := a.Card.Form.Of(asked, nil)
	form := card.MixedForm
	if pure {
		form = card.Form(version)
	}
	body, _, err := x.View.Card.Render(ds.servedView(x, version, pure))
	return body, form, err
}

// boundHere reports whether what the caller shows is good for this agent alone.
func boundHere(x *exchange.Exchange) bool {
	return x.Principal != nil && x.Principal.Only() == x.Agent.ID
}

// merge adds what holds for calls of one skill to what holds for those of others. A
// client that activates an extension for a skill which does not need it does no harm,
// so that it is required if any of them does.
func merge(all, more []ext.Declared) []ext.Declared {
	for _, d := range more {
		if i := slices.IndexFunc(all, func(known ext.Declared) bool { return known.URI == d.URI }); i >= 0 {
			all[i].Required = all[i].Required || d.Required
			continue
		}
		all = append(all, d)
	}
	return all
}

// skillPath is the path that declares a skill, in the one spelling of it that
// requests may use.
func skillPath(skill string) string {
	return (&url.URL{Path: "/skills/" + skill}).EscapedPath()
}

// addressable reports whether a skill's id can stand in a path: it must be one
// segment, and none that is refused.
//
// A slash or backslash would make two segments, a semicolon a parameter, a percent sign a second
// decoding, and "." or ".." another path (RFC 3986 §3.3).
func addressable(skill string) bool {
	return !strings.ContainsAny(skill, `/\;%`) && strings.Trim(skill, ".") != ""
}
