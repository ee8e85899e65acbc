package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// CardFor is the card of an agent as it is served to a caller, nil for one who shows no
// credential, whose request names the version, or none if that is "", and the form that it
// is in. It is nil without an error where there is none for this caller: the agent is not
// there for them. The error is that there is no card to serve.
func (p *Proxy) CardFor(who *authn.Principal, agent string, version wire.Version) ([]byte, card.Form, error) {
	return p.documents.CardFor(who, agent, version)
}
