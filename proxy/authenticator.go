package proxy

import (
	"errors"
	"strings"

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

// authenticate: who is calling?
func (au *authenticator) authenticate(x *exchange) error {
	principal, err := au.authn.Authenticate(x.r)
	if err != nil {
		return au.authn.Blame(x.rec.ClientIP, err)
	}
	x.principal = principal
	if strings.Contains(principal.Proof, "dpop") {
		x.nonce(au.authn.Nonce()) // for the next proof
	}
	return nil
}

// nonce gives the caller a value for DPoP proofs to hold (RFC 9449 §8).
func (x *fromClient) nonce(value string) {
	if value != "" {
		x.w.Header().Set("DPoP-Nonce", value)
	}
}

// greet finds out who is calling, where strangers may be welcome.
func (au *authenticator) greet(x *exchange, strangers bool) error {
	principal, err := au.authn.Authenticate(x.r)
	if err != nil {
		err = au.authn.Blame(x.rec.ClientIP, err)
	}
	var refused *authn.Refused
	switch {
	case err == nil:
		x.principal = principal
	case errors.Is(err, authn.ErrNoCredentials), errors.As(err, &refused), errors.Is(err, authn.ErrUnavailable),
		errors.Is(err, authn.ErrTooManyProofs):
		if !strangers {
			return err
		}
	default:
		return err
	}
	return nil
}
