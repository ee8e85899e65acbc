package proxy

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

// documents serves what agents and the gateway are found by: cards, catalogs, RFC 9728 metadata and keys.
type documents struct {
	*admit.Authenticator
	*record.Recorder
	*intake.Frontend
	*intake.Decoder
	*cardViews

	Agents    []*agents.Agent
	Authn     *authn.Chain
	Catalog   catalog.Config
	JWKS      func() []byte
	Policy    *policy.Set
	PublicURL *url.URL
	agents    map[string]*agents.Agent
	browse    *browse
}
