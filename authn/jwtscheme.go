package authn

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// tokenConfig is what of the configuration is about tokens.
type tokenConfig struct {
	OIDC   []Issuer
	DPoP   DPoP
	Actors Actors
	Limits Limits
	// KeyHeader is the header of API keys, "" where there are none; Keys says that they
	// come as bearer tokens too.
	KeyHeader string
	Keys      bool
}

// tokenOptions are what tokens need besides their configuration, as in Options.
type tokenOptions struct {
	Logger    *slog.Logger
	Previous  *bearer // of the chain before a reload; nil for none
	Client    *http.Client
	Egress    *tunnel.Proxy
	Observe   func(provider, result string)
	Refreshed func(issuer, result string)
	Skipped   func(reason string)
	Limits    func() Limits
	Source    func(*http.Request) string
	Blame     *blame
	Scheme    string
	Proofs    func(ctx context.Context, id string, life time.Duration) (first bool, err error)
	Nonces    []byte
	Where     func() string // Chain.where
	Now       func() time.Time
}

func (o *tokenOptions) defaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(string, string) {}
	}
	if o.Refreshed == nil {
		o.Refreshed = func(string, string) {}
	}
	if o.Skipped == nil {
		o.Skipped = func(string) {}
	}
	if o.Source == nil {
		o.Source = func(*http.Request) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// How a principal of a token was proved, in Principal.Method.
const (
	methodOIDC          = "oidc"
	methodIntrospection = "introspection"
)

// origin is what a token's principal rests on.
type origin struct {
	issuer *issuer  // as it was configured when the token was verified
	id     [32]byte // digest of the token
	key    *jws.Key // that verified it; nil when the issuer was asked
	alg    string
	access bool // its typ said at+jwt
}

// TokensOf is the scheme of tokens in a chain; nil where those are not accepted.
func TokensOf(c *Chain) *bearer {
	b, _ := c.Scheme(namedOIDC).(*bearer)
	return b
}

// Name implements Scheme.
func (b *bearer) Name() string { return namedOIDC }

// Carriers implements Scheme.
func (b *bearer) Carriers() []Carrier {
	list := make([]Carrier, len(b.headers))
	for i, t := range b.headers {
		list[i] = t
	}
	return list
}

// Header implements Carrier.
func (t *tokens) Header() string { return t.header }

// Only implements Scheme.
func (b *bearer) Only(r *http.Request) (*Principal, error) {
	var found *tokens
	for _, t := range b.headers {
		if _, ok := t.shown(r); !ok {
			continue
		}
		if found != nil {
			return nil, ErrAmbiguous
		}
		found = t
	}
	if found == nil {
		return nil, ErrNoCredentials
	}
	return found.Authenticate(r)
}

// Owns implements Scheme.
func (b *bearer) Owns(p *Principal) bool {
	_, ok := p.Evidence().(*origin)
	return ok
}

// Recall implements Scheme. Tokens end while what their owners asked for goes on.
func (b *bearer) Recall(p *Principal) (*Principal, error) {
	is := b.issuers[p.Issuer]
	if is == nil {
		return nil, ErrNoCredentials
	}
	p.attest(&origin{issuer: is})
	return p, nil
}

// Bearer implements Scheme.
func (b *bearer) Bearer() bool {
	return slices.ContainsFunc(b.headers, func(t *tokens) bool { return t.header == authorization })
}

// Challenges implements Scheme. Tokens that have a header of their own are asked for as
// Bearer ones with its name.
func (b *bearer) Challenges(d *Demand) []string {
	list := make([]string, 0, len(b.headers))
	for _, t := range b.headers {
		if t.header == authorization {
			list = append(list, tokenChallenge(schemeDPoP, "", d))
		} else {
			list = append(list, tokenChallenge(schemeBearer, t.header, d))
		}
	}
	return list
}

// Challenger implements Scheme: a token of any issuer is asked for as a bearer token.
func (b *bearer) Challenger(name string) (scheme, header string, ok bool) {
	is := b.issuers[name]
	if is == nil {
		return "", "", false
	}
	if is.header != authorization {
		header = is.header
	}
	return schemeBearer, header, true
}

// Ways implements Scheme.
func (b *bearer) Ways() []string {
	var ways []string
	for _, t := range b.headers {
		if t.header != authorization {
			ways = append(ways, t.header+" with a token")
		}
	}
	return ways
}

// Nonce is the value of DPoP-Nonce, "" when none is asked for.
func (b *bearer) Nonce() string { return b.prover.nonce() }

// Warm loads the keys of all issuers that are not loaded yet.
func (b *bearer) Warm(ctx context.Context) error {
	errs := make([]error, len(b.names))
	done := make(chan struct{})
	for i, name := range b.names {
		go func() {
			errs[i] = b.issuers[name].keys.warm(ctx)
			done <- struct{}{}
		}()
	}
	for range b.names {
		<-done
	}
	return errors.Join(errs...)
}

// Close gives up the shares of key sets.
func (b *bearer) Close() {
	for _, is := range b.issuers {
		is.keys.lease.release()
	}
}

// Usage is how access tokens are taken.
func (b *bearer) Usage() Usage {
	u := Usage{Issuers: slices.Clone(b.names), Bearer: b.Bearer(), Bound: true, Proofs: slices.Clone(profile.Algorithms)}
	for _, is := range b.issuers {
		u.Bound = u.Bound && is.cfg.SenderConstrained
	}
	return u
}

// misread refuses what is seen to be no token; nil for what may be one.
func (t *tokens) misread(shown presented) *Refused {
	var refused *Refused
	switch {
	case t.header != authorization:
	case shown.token == "":
		refused = refuse(faultMalformed, errors.New("no token is behind the scheme"))
		refused.open = shown.missing() + t.where()
	case strings.HasPrefix(shown.token, keyPrefix) && t.keyHeader != "":
		refused = refuse(faultMalformed, errors.New("an API key, which authn.apiKeys.bearer does not accept as a token"))
		refused.open = "API keys are not accepted as bearer tokens here: send " + t.keyHeader + " with an API key"
	}
	return refused
}
