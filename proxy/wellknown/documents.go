// Package wellknown serves the documents that clients read before they call: agent cards, the
// catalog of agents, the metadata of the protected resource (RFC 9728) and the gateway's keys
// (RFC 7517).
//
// # The documents, and who may read them
//
//   - …/.well-known/agent-card.json, …/agent.json, GET on an agent's base: the agent's card (A2A
//     1.0 §8). Readers: card.visibility: anybody, callers, nobody.
//   - /agents, /.well-known/api-catalog, /.well-known/ai-catalog.json: the agents that a reader
//     may know of. Readers: catalog.access.
//   - /.well-known/oauth-protected-resource…: RFC 9728 metadata, one per agent. Readers: anybody.
//   - /.well-known/jwks.json: the public keys that the gateway signs with. Readers: anybody.
//
// A card request runs the stages Locate, Identify and ServeCard; the catalog runs Enter, Admit,
// Visit and ServeCatalog. None of them contacts an agent: cards are fetched out of band, so that
// a reader can neither make the gateway fetch anything nor wait for an agent.
//
// What a served card says is the agent's, with five things replaced: URLs are the gateway's,
// security schemes are those that the gateway takes, skills are those that this reader may use,
// extensions are those that the gateway lets through or adds, and the signature is the gateway's
// own or none, since a changed document cannot keep another's.
//
// An agent that is not there for a reader is told like one that does not exist, by UnknownAgent
// and 404, or by 401 to a reader without a credential. Answers to readers with a credential are
// private and are never stored by shared caches; those to strangers may be kept for a minute, and
// carry an ETag.
package wellknown

import (
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// Documents serves what agents and the gateway are found by: cards, catalogs, RFC 9728 metadata
// and keys.
type Documents struct {
	*admit.Authenticator
	*record.Recorder
	*intake.Frontend
	*intake.Decoder
	*CardViews

	Agents    []*agents.Agent
	Authn     *authn.Chain
	Catalog   catalog.Config
	JWKS      func() []byte
	Policy    *policy.Set
	PublicURL *url.URL
	ByID      map[string]*agents.Agent
	Browse    *Browse
}

// tenantName is the tenant by which an agent, or one skill of it, is addressed
// where no path can.
func tenantName(agent, skill string) string {
	if skill == "" {
		return agent
	}
	return agent + "/skills/" + skill
}
