package proxy

import (
	"maps"
	"net/url"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// cardViews is what a card says to a caller: the skills that are the caller's to use, the gateway's
// addresses, the credentials it takes.
type cardViews struct {
	*extensionRules
	*frontend

	Book      *ext.Book
	GRPC      bool
	Policy    *policy.Set
	PublicURL *url.URL
	Schemes   card.Schemes
	offered   map[string]ext.Declared
	signer    *signature.Signer
}

// visible lists the skills this caller may read about.
func (cv *cardViews) visible(x *exchange) []string {
	if x.principal == nil {
		return x.agent.Shown(x.view.Skills)
	}
	return cv.Policy.SkillsWith(x.principal, x.agent.ID, x.view.Skills, x.view.Scopes)
}

// cardView says how the agent's card is rewritten for this caller.
func (cv *cardViews) cardView(x *exchange, version wire.Version) card.View {
	skills := cv.visible(x)
	base, skill := cv.base(x.agent), ""
	switch {
	case x.skill != "":
		skill, skills = x.skill, []string{x.skill}
	case x.principal != nil && len(skills) == 1 && len(x.view.Skills) > 1 && addressable(skills[0]):
		// No A2A request names a skill. A caller who may use just one of several gets
		// URLs that name it, and every unmodified client then declares it.
		skill = skills[0]
	}
	if skill != "" {
		base += skillPath(skill)
	}
	var signer *signature.Signer
	if x.agent.Card.Signed() {
		signer = cv.signer
	}
	return card.View{
		Signer:       signer,
		BaseURL:      base,
		Version:      version,
		Offer:        cv.offers(x, skill),
		Skills:       skills,
		Extensions:   cv.extensions(x, skills),
		Schemes:      cv.Schemes,
		Requirements: x.agent.Card.Requirements,
		Limits:       x.agent.Card.Limits,
		Hidden:       x.agent.Addresses(),
		Push:         cv.pushes() && x.view.Card.Push,
		Extended:     x.view.Card.Extended,
	}
}

// offers lists the ways to reach the agent through the gateway that its card is to have.
func (cv *cardViews) offers(x *exchange, skill string) []card.Offered {
	return slices.DeleteFunc(cv.ways(x, skill), func(o card.Offered) bool {
		has := func(i card.Interface) bool { return i.Binding == o.Binding }
		return !x.agent.Card.Offers(o.Binding, slices.ContainsFunc(x.agent.Offers(x.view.Card), has))
	})
}

// ways lists every way to reach the agent through the gateway: each version in
// each binding, whatever the agent itself speaks, 1.0 first, because clients take
// the first they understand.
func (cv *cardViews) ways(x *exchange, skill string) []card.Offered {
	list := []card.Offered{}
	if len(x.view.Endpoints) == 0 {
		return list
	}
	tenants := x.view.Tenants()
	authority, own := "", cv.alone(x.agent)
	// What leads a path here leads no path of gRPC here, which cannot begin with it.
	if cv.GRPC && (own || cv.PublicURL.Path == "") {
		authority = cv.authority(x.agent)
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
			Version: wire.V10, Binding: wire.GRPC, URL: authority, Tenant: tenantName(x.agent.ID, skill),
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
func (cv *cardViews) authority(a *agents.Agent) string {
	host := cv.PublicURL.Host
	if len(a.Hosts) > 0 {
		host = cv.withPort(a.Hosts[0])
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
func (cv *cardViews) extensions(x *exchange, skills []string) []ext.Declared {
	all := []ext.Declared{}
	for _, rules := range cv.Policy.Extensions(x.principal, x.agent.ID, skills) {
		q := cv.question(x, rules)
		all = merge(all, cv.Book.Effective(&q))
	}
	if own, ok := cv.offered[wire.SkillSelection]; ok && len(skills) > 1 {
		all = merge(all, []ext.Declared{own})
	}
	return all
}

// base is the URL under which clients find the agent.
func (cv *cardViews) base(a *agents.Agent) string {
	if len(a.Hosts) > 0 {
		own := cv.PublicURL.Scheme + "://" + cv.withPort(a.Hosts[0])
		if cv.alone(a) {
			return own
		}
		return own + cv.PublicURL.Path
	}
	return cv.PublicURL.String() + "/agents/" + a.ID
}

// extendedCard rewrites the agent's answer to GetExtendedAgentCard as if it were
// the card: the agent's URLs, credentials and signature do not get out, and the
// caller sees the skills that caller may use.
func (cv *cardViews) extendedCard(x *exchange, seen wire.Answer, body []byte) ([]byte, error) {
	from, to := 0, len(body)
	if x.upstream.Binding == wire.JSONRPC {
		from, to = seen.Result[0], seen.Result[1]
	}
	extended, err := card.ParseWithin(body[from:to], x.agent.Card.Limits)
	if err != nil {
		return nil, wire.Errorf(wire.BadAgentResponse, "the agent's extended card is not a card").Because(err)
	}
	v := cv.cardView(x, x.call.Version)
	v.Binding = x.call.Binding
	ids := make([]string, 0, len(extended.Skills))
	for _, s := range extended.Skills {
		if x.agent.Has(s.ID) {
			ids = append(ids, s.ID)
		}
	}
	if x.skill == "" || len(v.Skills) != 1 {
		scopes := agents.ScopesIn(extended.Skills)
		if scopes == nil {
			scopes = map[string][][]string{}
		}
		maps.Copy(scopes, x.view.Scopes) // what calls are held to counts
		v.Skills = cv.Policy.SkillsWith(x.principal, x.agent.ID, ids, scopes)
	}
	out, _, err := extended.Render(v)
	if err != nil {
		return nil, err
	}
	return splice(body, from, to, out), nil
}
