package upstream

import (
	"log/slog"
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Options are what an Upstream needs besides its configuration: what its credentials are signed and
// fetched with, and who hears of what. The zero value works where no credential is signed.
type Options struct {
	// Sign makes a JWS of a payload with the header parameter typ (see package keys).
	// Without it credentials that are signed fail when they are needed.
	Sign func(typ string, payload []byte) (string, error)
	// Issuer is the gateway's public URL: iss of what it signs.
	Issuer string
	// Gateway is server.id, the gateway's name as an actor.
	Gateway string
	// Fetched is called after each fetch of a token; kind is oauth2, exchange or actor,
	// result ok, declined (the server said no) or failed.
	Fetched func(kind, result string)
	// Card is the URL of the agent's card, by which its instances are checked. Without it
	// they are not.
	Card *url.URL
	// Retried is called when a call is sent to a further instance; may be nil.
	Retried func()
	// Ejected is called with the address of an instance that is left alone because it
	// fails calls; may be nil.
	Ejected func(instance string)
	// Egress is the way out, where Config has none of its own. Tokens are fetched by it in any
	// case. nil is direct.
	Egress *tunnel.Proxy
	// Log says, where it is set, that changed files of agents[].tls are no good, and how
	// instances come and go.
	Log *slog.Logger
}
