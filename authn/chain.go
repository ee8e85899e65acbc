// Package authn answers one question: who is calling? It finds the credential of a
// request, verifies it, and returns a [Principal], or an error that says whether
// there was none, whether it was turned down, or whether nobody can tell right now.
//
// It owns the authn section of the configuration, the key sets of issuers, the
// cache of verified tokens, and the file of API keys. It does not own what a
// principal may do (package policy), how a refusal looks on the wire (package
// proxy), or the credentials that the gateway itself sends to agents. It writes no
// HTTP response.
//
// A scheme is a file with one type and one line in New. Each follows the contract
// "not mine": without a credential of its kind in the request it returns
// [ErrNoCredentials] and the next one is asked; any other answer is final.
//
// It may import internal/secret, internal/jws, internal/durable, and libraries for OIDC, JSON, YAML and file
// events; no other package of the gateway.
package authn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// Outcomes that are no faults, and providers that are no issuers, for Observe.
const (
	resultOK          = "ok"
	resultUnavailable = "unavailable"
	providerUnknown   = "unknown"
)

// Chain authenticates requests. It is immutable and safe for concurrent use.
type Chain struct {
	schemes   []scheme      // of headers, in the order they are asked
	bearer    *bearer       // nil when no issuer is configured
	keys      *apiKeys      // nil when API keys are not configured
	certs     *certificates // nil when client certificates are no identities
	issuers   []string      // as configured
	headers   []string      // that may carry credentials, canonical, Authorization first
	anonymous *Principal

	combinations []Combination // none: exactly one credential
	prefer       []string      // methods, of whose credentials the first that is there counts
	blame        *blame        // nil: no limit
	now          func() time.Time
	observe      func(provider, result string)
	closed       atomic.Bool
}

// New builds a chain. It reads the key file, and fetches nothing: an issuer that is
// down must not keep a gateway from starting. ctx is not needed after New.
func New(ctx context.Context, cfg Config, o Options) (*Chain, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	o.defaults()
	// The usual header counts and is stripped even where API keys are not configured
	// or travel in another one: somebody's key is in it.
	c := &Chain{observe: o.Observe, now: o.Now, headers: []string{authorization, defaultHeader},
		combinations: slices.Clone(cfg.Combinations), prefer: slices.Clone(cfg.Prefer)}
	var counted *blame
	if o.Previous != nil {
		counted = o.Previous.blame
	}
	c.blame = newBlame(cfg.Failures, counted)
	if cfg.APIKeys != nil {
		file, err := takeKeyFile(cfg.APIKeys.File, &o)
		if err != nil {
			return nil, fmt.Errorf("authn.apiKeys: %w", err)
		}
		c.keys = &apiKeys{header: cfg.APIKeys.header(), bearer: cfg.APIKeys.Bearer, file: file,
			revoked: o.Revoked, now: o.Now, observe: o.Observe, where: c.where}
		c.schemes = append(c.schemes, c.keys)
		c.carry(c.keys.header)
	}
	if len(cfg.OIDC) > 0 {
		c.bearer = newBearer(ctx, &cfg, &o)
		c.bearer.blame, c.bearer.where = c.blame, c.where
		for _, t := range c.bearer.headers {
			c.schemes = append(c.schemes, t)
			c.carry(t.header)
		}
		for _, is := range cfg.OIDC {
			c.issuers = append(c.issuers, is.Issuer)
		}
	}
	if cfg.MTLS != nil {
		c.certs = newCertificates(cfg.MTLS, &o)
	}
	if cfg.Anonymous {
		c.anonymous = &Principal{Subject: "anonymous", Issuer: issuerAnonymous, Method: methodAnonymous}
		c.anonymous.key = c.anonymous.identity()
	}
	return c, nil
}

// carry notes a header that may carry credentials.
func (c *Chain) carry(header string) {
	if !slices.Contains(c.headers, header) {
		c.headers = append(c.headers, header)
	}
}

// takeKeyFile shares the previous chain's file, or opens one.
func takeKeyFile(path string, o *Options) (*keyFile, error) {
	if p := o.Previous; p != nil && p.keys != nil && p.keys.file.serves(path, o) && p.keys.file.lease.share() {
		return p.keys.file, nil
	}
	return openKeyFile(path, o)
}

// Authenticate says who is calling. The request must carry exactly one credential, or
// those of one combination, or one of a preferred method; its body is not touched. The client certificate of the
// connection is one where certificates are identities and nothing else came, or a
// combination asks for it. The error wraps ErrNoCredentials (none, and anonymous
// callers are not let in), ErrAmbiguous (several), ErrUnavailable (cannot be judged
// now), or is a *Refused.
func (c *Chain) Authenticate(r *http.Request) (*Principal, error) {
	if len(c.combinations) > 0 {
		return c.combined(r)
	}
	if p, ok, err := c.preferred(r); ok {
		return p, err
	}
	n := c.count(r.Header)
	if n > 1 {
		return nil, ErrAmbiguous
	}
	if n == 0 {
		return c.silent(r)
	}
	// Where no scheme is configured, what a caller sends in Authorization is not
	// meant for the gateway; it may be meant for the agent.
	if c.anonymous != nil && len(c.schemes) == 0 && c.certs == nil {
		return c.anonymous, nil
	}
	for _, s := range c.schemes {
		p, err := s.authenticate(r)
		if !errors.Is(err, ErrNoCredentials) {
			return p, err
		}
	}
	// A credential that nobody owns is refused even where anonymous callers are let
	// in: its sender believes to be somebody.
	refused := c.unowned(r)
	c.observe(providerUnknown, string(refused.fault))
	return nil, refused
}

// silent judges a request without any credential in its header: the certificate of its
// connection, where certificates are identities, or the absence of everything.
func (c *Chain) silent(r *http.Request) (*Principal, error) {
	if c.certs != nil {
		if p, err := c.certs.authenticate(r); !errors.Is(err, ErrNoCredentials) {
			return p, err
		}
	}
	if c.anonymous != nil {
		return c.anonymous, nil
	}
	return nil, c.nothing(r)
}

// count is how many credentials the request carries, of whatever scheme. An empty
// header counts: its sender meant something by it.
func (c *Chain) count(h http.Header) int {
	n := 0
	for _, name := range c.headers {
		n += len(h[name])
	}
	return n
}

// CredentialHeaders are the canonical names of the headers that carry credentials,
// or prove that they are the sender's, to be stripped before a request goes on to an
// agent.
func (c *Chain) CredentialHeaders() []string {
	names := append([]string{authorization, "Proxy-Authorization"}, c.headers[1:]...)
	return append(names, proofHeader)
}

// Issuers are the configured OIDC issuers in order, for RFC 9728 metadata and the
// security schemes of served cards.
func (c *Chain) Issuers() []string { return slices.Clone(c.issuers) }

// Warm loads the keys of all issuers that are not loaded yet, so that the first
// callers do not wait and problems show early. The error joins one per issuer that
// could not be loaded; the chain works on without them and tries again by itself.
func (c *Chain) Warm(ctx context.Context) error {
	if c.bearer == nil {
		return nil
	}
	errs := make([]error, len(c.issuers))
	done := make(chan struct{})
	for i, name := range c.issuers {
		go func() {
			errs[i] = c.bearer.issuers[name].keys.warm(ctx)
			done <- struct{}{}
		}()
	}
	for range c.issuers {
		<-done
	}
	return errors.Join(errs...)
}

// Close gives up the chain's shares of key sets and the key file; those that no
// other chain shares end their background work. Requests still in Authenticate
// finish. Closing twice is harmless.
func (c *Chain) Close() {
	if c.closed.Swap(true) {
		return
	}
	if c.keys != nil {
		c.keys.file.lease.release()
	}
	if c.bearer != nil {
		for _, is := range c.bearer.issuers {
			is.keys.lease.release()
		}
	}
}

// outcome is the metric label of a result.
func outcome(err error) string {
	if err == nil {
		return resultOK
	}
	var refused *Refused // made when it is needed: most results are good
	if errors.As(err, &refused) {
		return string(refused.fault)
	}
	return resultUnavailable
}
