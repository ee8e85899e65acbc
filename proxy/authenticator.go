package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// authenticator finds out who is calling, and tells callers with which credentials they may.
type authenticator struct {
	authn   *authn.Chain
	server  *server.Config
	origins agents.Origins
}
