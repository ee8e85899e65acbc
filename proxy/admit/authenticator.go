package admit

import (
	"errors"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/dpop"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Authenticator finds out who is calling, and tells callers with which credentials they may.
type Authenticator struct {
	Authn   *authn.Chain
	Server  *server.Config
	Origins agents.Origins
}

// Authenticate: who is calling?
func (au *Authenticator) Authenticate(x *exchange.Exchange) error {
	principal, err := au.Authn.Authenticate(x.Request)
	if err != nil {
		return au.Authn.Blame(x.Rec.ClientIP, err)
	}
	x.Principal = principal
	if strings.Contains(principal.Proof, "dpop") {
		x.Nonce(au.Authn.Nonce()) // for the next proof
	}
	return nil
}

// GreetCaller finds out who is calling, where strangers may be welcome.
func (au *Authenticator) GreetCaller(x *exchange.Exchange, strangers bool) error {
	principal, err := au.Authn.Authenticate(x.Request)
	if err != nil {
		err = au.Authn.Blame(x.Rec.ClientIP, err)
	}
	var refused *authn.Refused
	switch {
	case err == nil:
		x.Principal = principal
	case errors.Is(err, authn.ErrNoCredentials), errors.As(err, &refused), errors.Is(err, authn.ErrUnavailable),
		errors.Is(err, dpop.ErrTooManyProofs):
		if !strangers {
			return err
		}
	default:
		return err
	}
	return nil
}

// NoCard is what a stranger and a caller are told about an agent that is not
// there for them.
func (au *Authenticator) NoCard(x *exchange.Exchange) error {
	if x.Principal == nil {
		_, err := au.Authn.Authenticate(x.Request)
		if err != nil {
			return err
		}
	}
	return agents.ErrUnknown
}
