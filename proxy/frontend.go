package proxy

import (
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// frontend is how the gateway shows itself to clients and to the agents: its hosts and paths, the pages
// that may call it from a browser, and the headers that cross it.
type frontend struct {
	*admit.Authenticator

	Authn     *authn.Chain
	PublicURL *url.URL
	Push      push.Config
	Relay     *webhooks.Relay
	Server    *server.Config
	agents    map[string]*agents.Agent
	here      [2][]string
	hosts     map[string]*agents.Agent
	prefix    prefix
	relied    []string
	self      map[string]struct{}
}
