package wellknown

import (
	"maps"
	"net/url"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
)

// CardViews is what a card says to a caller: the skills that are the caller's to use, the gateway's
// addresses, the credentials it takes.
type CardViews struct {
	*negotiate.ExtensionRules
	*intake.Frontend

	Book      *ext.Book
	GRPC      bool
	Policy    *policy.Set
	PublicURL *url.URL
	Schemes   card.Schemes
	Offered   map[string]ext.Declared
	Signer    *signature.Signer
}

// visible lists the skills this caller may read about.
func (cv *CardViews) visible(x *exchange.Exchange) []string {
	if x.Principal == nil {
		return x.Agent.Shown(x.View.Skills)
	}
	return cv.Policy.SkillsWith(x.Principal, x.Agent.ID, x.View.Skills, x.View.Scopes)
}

// cardView says how the agent's card is rewritten for this caller.
//
// Everything in it depends on the reader, so that it is made for each request; card.Render keeps
// the bytes of the views it has rendered.
func (cv *CardViews) cardView(x *exchange.Exchange, version wire.Version) card.View {
	skills := cv.visible(x)
	base, skill := cv.Base(x.Agent), ""
	switch {
	case x.Skill != "":
		skill, skills = x.Skill, []string{x.Skill}
	case x.Principal != nil && len(skills) == 1 && len(x.View.Skills) > 1 && addressable(skills[0]):
		// No A2A request names a skill. A caller who may use just one of several gets
		// URLs that name it, and every unmodified client then declares it.
		skill = skills[0]
	}
	if skill != "" {
		base += skillPath(skill)
	}
	var signer *signature.Signer
	if x.Agent.Card.Signed() {
		signer = cv.Signer
	}
	return card.View{
		Signer:       signer,
		BaseURL:      base,
		Version:      version,
		Offer:        cv.offers(x, skill),
		Skills:       skills,
		Extensions:   cv.extensions(x, skills),
		Schemes:      cv.Schemes,
		Requirements: x.Agent.Card.Requirements,
		Limits:       x.Agent.Card.Limits,
		Hidden:       x.Agent.Addresses(),
		Push:         cv.Pushes() && x.View.Card.Push,
		Extended:     x.View.Card.Extended,
	}
}

// offers lists the ways to reach the agent through the gateway that its card is to have.
func (cv *CardViews) offers(x *exchange.Exchange, skill string) []card.Offered {
	return slices.DeleteFunc(cv.ways(x, skill), func(o card.Offered) bool {
		has := func(i card.Interface) bool { return i.Binding == o.Binding }
		return !x.Agent.Card.Offers(o.Binding, slices.ContainsFunc(x.Agent.Offers(x.View.Card), has))
	})
}

// ways lists every way to reach the agent through the gateway: each version in
// each binding, whatever the agent itself speaks, 1.0 first, because clients take
// the first they understand.
//
// JSON-RPC and HTTP+JSON have the agent's base URL. gRPC has no path of its own:
// on a host that several agents share, the tenant says which one is meant, and 0.3, whose
// messages have no tenant, is offered only where the host or the credential says it.
func (cv *CardViews) ways(x *exchange.Exchange, skill string) []card.Offered {
	list := []card.Offered{}
	if len(x.View.Endpoints) == 0 {
		return list
	}
	tenants := x.View.Tenants()
	authority, own := "", cv.HasHostAlone(x.Agent)
	// What leads a path here leads no path of gRPC here, which cannot begin with it.
	if cv.GRPC && (own || cv.PublicURL.Path == "") {
		authority = cv.authority(x.Agent)
	}
	for _, tenant := range tenants {
		list = append(list,
			card.Offered{Version: wire.V10, Binding: wire.JSONRPC, Tenant: tenant},
			card.Offered{Version: wire.V10, Binding: wire.HTTPJSON, Tenant: tenant})
		if authority != "" && own && skill == "" {
			list = append(list, card.Offered{Version: wire.V10, Binding: wire.GRPC, URL: authority, Tenant: tenant})
		}
	}
	if authority != "" && !own {
		// gRPC's paths are A2A's: on a host that agents share, the tenant names them.
		list = append(list, card.Offered{
			Version: wire.V10, Binding: wire.GRPC, URL: authority, Tenant: tenantName(x.Agent.ID, skill),
		})
	}
	list = append(list,
		card.Offered{Version: wire.V03, Binding: wire.JSONRPC},
		card.Offered{Version: wire.V03, Binding: wire.HTTPJSON})
	// 0.3 has no tenant: only a host or a credential can say which agent is meant.
	if authority != "" && skill == "" && (own || boundHere(x)) {
		list = append(list, card.Offered{Version: wire.V03, Binding: wire.GRPC, URL: authority})
	}
	return list
}

// authority is where gRPC clients of the agent connect: host:port, which is what
// every SDK dials.
func (cv *CardViews) authority(a *agents.Agent) string {
	host := cv.PublicURL.Host
	if len(a.Hosts) > 0 {
		host = cv.WithPort(a.Hosts[0])
	}
	if (&url.URL{Host: host}).Port() != "" {
		return host
	}
	if cv.PublicURL.Scheme == "https" {
		return host + ":443"
	}
	return host + ":80"
}

// extensions is what the card says about extensions: the agent's as far as they
// are permitted, the operator's, and the gateway's own where it has a use.
//
// The extensions of all skills are merged, because a card has one list for the whole agent.
// skill-selection is added where there is a choice to make.
func (cv *CardViews) extensions(x *exchange.Exchange, skills []string) []ext.Declared {
	all := []ext.Declared{}
	for _, rules := range cv.Policy.Extensions(x.Principal, x.Agent.ID, skills) {
		q := cv.Question(x, rules)
		all = merge(all, cv.Book.Effective(&q))
	}
	if own, ok := cv.Offered[wire.SkillSelection]; ok && len(skills) > 1 {
		all = merge(all, []ext.Declared{own})
	}
	return all
}

// Base is the URL under which clients find the agent.
//
// It is made of server.publicURL or of the agent's host, and never of the request's Host header,
// which whoever asks can choose.
func (cv *CardViews) Base(a *agents.Agent) string {
	if len(a.Hosts) > 0 {
		own := cv.PublicURL.Scheme + "://" + cv.WithPort(a.Hosts[0])
		if cv.HasHostAlone(a) {
			return own
		}
		return own + cv.PublicURL.Path
	}
	return cv.PublicURL.String() + "/agents/" + a.ID
}

// ExtendedCard rewrites the agent's answer to GetExtendedAgentCard as if it were
// the card: the agent's URLs, credentials and signature do not get out, and the
// caller sees the skills that caller may use.
//
// In JSON-RPC the card is the member result, whose place the scan has found; the envelope around
// it stays as it came, with the agent's id, which is matched elsewhere. Skills that the
// operator's list does not have are left out like those that the caller may not use.
func (cv *CardViews) ExtendedCard(x *exchange.Exchange, seen wire.Answer, body []byte) ([]byte, error) {
	from, to := 0, len(body)
	if x.Upstream.Binding == wire.JSONRPC {
		from, to = seen.Result[0], seen.Result[1]
	}
	extended, err := card.ParseWithin(body[from:to], x.Agent.Card.Limits)
	if err != nil {
		return nil, wire.Errorf(wire.BadAgentResponse, "the agent's extended card is not a card").Because(err)
	}
	v := cv.cardView(x, x.Call.Version)
	v.Binding = x.Call.Binding
	ids := make([]string, 0, len(extended.Skills))
	for _, s := range extended.Skills {
		if x.Agent.Has(s.ID) {
			ids = append(ids, s.ID)
		}
	}
	if x.Skill == "" || len(v.Skills) != 1 {
		scopes := agents.ScopesIn(extended.Skills)
		if scopes == nil {
			scopes = map[string][][]string{}
		}
		maps.Copy(scopes, x.View.Scopes) // what calls are held to counts
		v.Skills = cv.Policy.SkillsWith(x.Principal, x.Agent.ID, ids, scopes)
	}
	out, _, err := extended.Render(v)
	if err != nil {
		return nil, err
	}
	return jsonscan.Replaced(body, from, to, out), nil
}
