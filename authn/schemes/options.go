package schemes

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Options are what a Chain needs besides its configuration. The zero value works.
type Options struct {
	// Logger gets what an operator should know: issuers down and back, keys rotated
	// out, key files changed. Never a credential. Default: discards.
	Logger *slog.Logger
	// Previous is the chain in force before a reload. What its configuration has in
	// common with the new one is taken over: fetched key sets, verified tokens, the
	// watch on the key file. Both chains must be closed, in any order.
	Previous *authn.Chain
	// Client fetches discovery documents and key sets; redirects and cookies are
	// switched off in a copy of it. Default: a plain client that goes by Egress.
	Client *http.Client
	// Egress is the way to issuers. Default: direct.
	Egress *tunnel.Proxy
	// Observe is called once per credential that is judged, and once more about a good
	// one that is not enough (authn.combinations). provider is a configured issuer,
	// "api-keys", "mtls" or "unknown"; result is "ok", "unavailable" or the name of a
	// fault. Both are closed sets, fit to be metric labels.
	Observe func(provider, result string)
	// Refreshed is called after each fetch of an issuer's keys; result is "ok" or
	// "failed".
	Refreshed func(issuer, result string)
	// Skipped is called for each key that an issuer publishes and that cannot be used, once
	// when its set first has it; reason is one of jws.Reasons.
	Skipped func(reason string)
	// Limits is asked for the limits in force, once per token, where they may change while the
	// chain lives; it must be safe for concurrent use. Default: those of the configuration.
	Limits func() authn.Limits
	// Source is the address of the client whose request it is, as Blame has it. It is asked
	// where an issuer is to be asked about a token, so that no client takes all questions.
	// Default: clients are not told apart there.
	Source func(*http.Request) string
	// Scheme is the scheme of the URLs that clients know the gateway by, http or https,
	// which DPoP proofs are made for. Default: as the request came.
	Scheme string
	// Trusted judges the client certificate of a connection by the CAs that count now,
	// which may have changed since its handshake. Default: it was verified then.
	Trusted func(*tls.ConnectionState) error
	// Proofs remembers a DPoP proof by its id for a life, where gateways that share what
	// they know look too, and reports whether it is the first of that id. It must be safe
	// for concurrent use. With an error the proof is not taken. Default: each chain and
	// those after it remember for themselves.
	Proofs func(ctx context.Context, id string, life time.Duration) (first bool, err error)
	// Nonces is the secret that DPoP nonces are made with, the same for gateways that are
	// to take each other's. Default: one of the process.
	Nonces []byte
	// Revoked reports whether the API key of an id was revoked elsewhere than in the key
	// file. It is asked about every good key, on the path of the request: it must answer
	// from memory, and be safe for concurrent use. With an error the key is not accepted,
	// as ErrUnavailable. Default: the file alone counts.
	Revoked func(id string) (bool, error)
	// Usage is the file in which the gateway keeps when each API key was last used.
	// Default: it is not kept.
	Usage string
	// Now is the clock that tokens are judged by. Default: time.Now.
	Now func() time.Time
}

func (o *Options) defaults() {
	if o.Observe == nil {
		o.Observe = func(string, string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}
