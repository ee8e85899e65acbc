// Package jwt authenticates by access tokens: JWTs, verified with the keys that their issuers
// publish (OpenID Connect Discovery, RFC 8414, RFC 7517), and opaque ones, about which the
// issuer is asked (RFC 7662). It owns the key sets of issuers and the cache of verified
// tokens, and holds tokens to what they are bound to: proofs (package dpop) or client
// certificates (package clientcert).
//
// One call with a token in a configured header goes through these:
//
//	scheme.go     the token of a moment ago is known by its digest; others are read
//	precheck.go   form, size and header of the JWS, before anything costs
//	issuer.go     the iss claim chooses a configured issuer, whose header it has to be
//	claimcheck.go iss, kind, aud, exp, nbf and iat; then the claims become a principal
//	keyset.go     the issuer's key for the kid, fetched and refreshed in the background
//	verify.go     the signature
//	confirmation  cnf: a DPoP key or a certificate that the request has to show as well
//
// An opaque token skips all but the first and the last: introspector.go asks its issuer instead.
// Cheap checks come before dear ones, so that a stranger's token costs little, and whatever a
// stranger can choose is bounded: kids that are asked for, questions to an issuer, tokens that are
// remembered.
//
// What is known of an issuer, its keys and verified tokens outlives a reload where its
// configuration has not changed.
package jwt

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/authn/dpop"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Config is what of the configuration is about tokens.
type Config struct {
	OIDC   []Issuer
	DPoP   dpop.Config
	Actors Actors
	Limits authn.Limits
	// KeyHeader is the header of API keys, "" where there are none; Keys says that they
	// come as bearer tokens too.
	KeyHeader string
	Keys      bool
}

// Options are what tokens need besides their configuration, as in Options.
type Options struct {
	Logger    *slog.Logger
	Previous  *Scheme // of the chain before a reload; nil for none
	Client    *http.Client
	Egress    *tunnel.Proxy
	Observe   func(provider, result string)
	Refreshed func(issuer, result string)
	Skipped   func(reason string)
	Limits    func() authn.Limits
	Source    func(*http.Request) string
	Blame     *failures.Counter
	Scheme    string
	Proofs    func(ctx context.Context, id string, life time.Duration) (first bool, err error)
	Nonces    []byte
	Where     func() string // Chain.where
	Now       func() time.Time
}

// defaults stand in for what tests and verbs leave out.
func (o *Options) defaults() {
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

// Name is the name of the scheme in the configuration, where addresses of issuers may
// stand beside it.
const Name = "oidc"

// How a principal of a token was proved, in Principal.Method.
const (
	Method              = "oidc"
	methodIntrospection = "introspection"
)

// Methods are what Principal.Method may be of those who have a token.
func Methods() []string { return []string{Method, methodIntrospection} }

// origin is what a token's principal rests on.
// It is kept as the evidence of a principal, for a stream that asks again whether its token still
// stands.
type origin struct {
	issuer *issuer  // as it was configured when the token was verified
	id     [32]byte // digest of the token
	key    *jws.Key // that verified it; nil when the issuer was asked
	alg    string
	access bool // its typ said at+jwt
}

// From is the scheme of tokens in a chain; nil where those are not accepted.
func From(c *authn.Chain) *Scheme {
	b, _ := c.Scheme(Name).(*Scheme)
	return b
}

// Name implements Scheme.
func (b *Scheme) Name() string { return Name }

// Carriers implements Scheme.
func (b *Scheme) Carriers() []authn.Carrier {
	list := make([]authn.Carrier, len(b.headers))
	for i, t := range b.headers {
		list[i] = t
	}
	return list
}

// Header implements Carrier.
func (t *tokens) Header() string { return t.header }

// Only implements Scheme.
// Tokens in two headers are ambiguous whoever issued them.
func (b *Scheme) Only(r *http.Request) (*authn.Principal, error) {
	var found *tokens
	for _, t := range b.headers {
		if _, ok := t.shown(r); !ok {
			continue
		}
		if found != nil {
			return nil, authn.ErrAmbiguous
		}
		found = t
	}
	if found == nil {
		return nil, authn.ErrNoCredentials
	}
	return found.Authenticate(r)
}

// Owns implements Scheme.
func (b *Scheme) Owns(p *authn.Principal) bool {
	_, ok := p.Evidence().(*origin)
	return ok
}

// Recall implements Scheme. Tokens end while what their owners asked for goes on.
func (b *Scheme) Recall(p *authn.Principal) (*authn.Principal, error) {
	is := b.issuers[p.Issuer]
	if is == nil {
		return nil, authn.ErrNoCredentials
	}
	p.Attest(&origin{issuer: is})
	return p, nil
}

// Bearer implements Scheme.
func (b *Scheme) Bearer() bool {
	return slices.ContainsFunc(b.headers, func(t *tokens) bool { return t.header == credential.Authorization })
}

// Challenges implements Scheme. Tokens that have a header of their own are asked for as
// Bearer ones with its name.
func (b *Scheme) Challenges(d *authn.Demand) []string {
	list := make([]string, 0, len(b.headers))
	for _, t := range b.headers {
		if t.header == credential.Authorization {
			list = append(list, authn.TokenChallenge(credential.SchemeDPoP, "", d))
		} else {
			list = append(list, authn.TokenChallenge(credential.SchemeBearer, t.header, d))
		}
	}
	return list
}

// Challenger implements Scheme: a token of any issuer is asked for as a bearer token.
func (b *Scheme) Challenger(name string) (scheme, header string, ok bool) {
	is := b.issuers[name]
	if is == nil {
		return "", "", false
	}
	if is.header != credential.Authorization {
		header = is.header
	}
	return credential.SchemeBearer, header, true
}

// Ways implements Scheme.
func (b *Scheme) Ways() []string {
	var ways []string
	for _, t := range b.headers {
		if t.header != credential.Authorization {
			ways = append(ways, t.header+" with a token")
		}
	}
	return ways
}

// Nonce is the value of DPoP-Nonce, "" when none is asked for.
func (b *Scheme) Nonce() string { return b.prover.Nonce() }

// Warm loads the keys of all issuers that are not loaded yet.
func (b *Scheme) Warm(ctx context.Context) error {
	errs := make([]error, len(b.names))
	done := make(chan struct{})
	// All issuers at once: one that does not answer takes none of the others' time.
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
func (b *Scheme) Close() {
	for _, is := range b.issuers {
		is.keys.lease.Release()
	}
}

// Usage is how access tokens are taken.
func (b *Scheme) Usage() authn.Usage {
	// Bound is true only if no issuer takes a token that is its bearer's.
	u := authn.Usage{Issuers: slices.Clone(b.names), Bearer: b.Bearer(), Bound: true, Proofs: slices.Clone(authn.Signatures.Algorithms)}
	for _, is := range b.issuers {
		u.Bound = u.Bound && is.cfg.SenderConstrained
	}
	return u
}

// misread refuses what is seen to be no token; nil for what may be one.
func (t *tokens) misread(shown credential.Presented) *authn.Refused {
	var refused *authn.Refused
	switch {
	case t.header != credential.Authorization:
	case shown.Token == "":
		refused = refuse(authn.FaultMalformed, errors.New("no token is behind the scheme"))
		refused.Hint = shown.Missing() + t.where()
	case strings.HasPrefix(shown.Token, credential.KeyPrefix) && t.keyHeader != "":
		refused = refuse(authn.FaultMalformed, errors.New("an API key, which authn.apiKeys.bearer does not accept as a token"))
		refused.Hint = "API keys are not accepted as bearer tokens here: send " + t.keyHeader + " with an API key"
	}
	return refused
}
