// Package wellknown serves the documents that clients read before they call: agent cards, the
// catalog of agents, the metadata of the protected resource (RFC 9728) and the gateway's keys
// (RFC 7517).
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

// Documents serves what agents and the gateway are found by: cards, catalogs, RFC 9728 metadata and keys.
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
