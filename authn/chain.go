// Package authn answers one question: who is calling? It finds the credential of a
// request, verifies it, and returns a [Principal], or an error that says whether
// there was none, whether it was turned down, or whether nobody can tell right now.
//
// It owns what schemes have in common: the contract [Scheme], the [Chain] that asks them, the
// challenges, refusals and their count by client address. Each scheme is a package below
// this one, and package schemes has the configuration and puts them together. It does not
// own what a principal may do (package policy), how a refusal looks on the wire (package
// proxy), or the credentials that the gateway itself sends to agents. It writes no HTTP
// response, and imports none of its schemes.
//
// It exports more than twenty names because schemes, the request path and configurations meet
// here: the contract of a scheme (Scheme, Carrier, Connection, Usage, Security),
// the Principal, the errors that all schemes use with the faults that become labels of metrics,
// and what the request path asks a Chain. Headers and the form of tokens are named in
// authn/credential, the counts of refusals in authn/failures.
package authn

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
)

// Outcomes that are no faults, and providers that are no issuers, for Observe.
const (
	resultOK          = "ok"
	resultUnavailable = "unavailable"
	ProviderUnknown   = "unknown"
)

// Chain authenticates requests. It is immutable and safe for concurrent use.
type Chain struct {
	schemes    []Scheme
	carriers   []Carrier  // headers, in the order they are asked
	connection Connection // nil when no scheme looks at it
	headers    []string   // that may carry credentials, canonical, Authorization first
	anonymous  *Principal

	combinations []Combination     // none: exactly one credential
	prefer       []string          // schemes, of whose credentials the first that is there counts
	blame        *failures.Counter // nil: no limit
	now          func() time.Time
	observe      func(provider, result string)
	closed       atomic.Bool
}

// Setup is what a Chain is made of. Package schemes makes it of the configuration.
type Setup struct {
	Schemes      []Scheme // in the order they are asked
	Combinations []Combination
	Prefer       []string
	Anonymous    bool              // who shows no credential is let in
	Blame        *failures.Counter // nil: no limit
	Now          func() time.Time
	Observe      func(provider, result string)
}

// NewChain makes the chain of schemes that are configured and fit each other.
func NewChain(s Setup) *Chain {
	c := &Chain{schemes: s.Schemes, headers: []string{credential.Authorization, credential.KeyHeader}, combinations: slices.Clone(s.Combinations),
		prefer: slices.Clone(s.Prefer), blame: s.Blame, now: s.Now, observe: s.Observe}
	for _, scheme := range c.schemes {
		for _, carrier := range scheme.Carriers() {
			if connection, ok := carrier.(Connection); ok {
				c.connection = connection
				continue
			}
			c.carriers = append(c.carriers, carrier)
			if name := carrier.Header(); !slices.Contains(c.headers, name) {
				c.headers = append(c.headers, name)
			}
		}
	}
	if s.Anonymous {
		c.anonymous = &Principal{Subject: "anonymous", Issuer: IssuerAnonymous, Method: MethodAnonymous}
		c.anonymous.Attest(nil)
	}
	return c
}

// Scheme is the scheme of that name; nil where it is not configured, or c is nil.
func (c *Chain) Scheme(name string) Scheme {
	if c == nil {
		return nil
	}
	for _, s := range c.schemes {
		if s.Name() == name {
			return s
		}
	}
	return nil
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
	if c.anonymous != nil && len(c.schemes) == 0 {
		return c.anonymous, nil
	}
	for _, s := range c.carriers {
		p, err := s.Authenticate(r)
		if !errors.Is(err, ErrNoCredentials) {
			return p, err
		}
	}
	// A credential that nobody owns is refused even where anonymous callers are let
	// in: its sender believes to be somebody.
	refused := c.unowned(r)
	c.observe(ProviderUnknown, string(refused.Fault))
	return nil, refused
}

// silent judges a request without any credential in its header: the certificate of its
// connection, where certificates are identities, or the absence of everything.
func (c *Chain) silent(r *http.Request) (*Principal, error) {
	if c.connection != nil {
		if p, err := c.connection.Authenticate(r); !errors.Is(err, ErrNoCredentials) {
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
	names := append([]string{credential.Authorization, "Proxy-Authorization"}, c.headers[1:]...)
	return append(names, credential.ProofHeader)
}

// Warm loads what schemes fetch and have not got yet, such as the keys of issuers, so that
// the first callers do not wait and problems show early. The error joins one per issuer that
// could not be loaded; the chain works on without them and tries again by itself.
func (c *Chain) Warm(ctx context.Context) error {
	var errs []error
	for _, s := range c.schemes {
		if s, ok := s.(interface {
			Warm(ctx context.Context) error
		}); ok {
			errs = append(errs, s.Warm(ctx))
		}
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
	for _, s := range c.schemes {
		if s, ok := s.(interface{ Close() }); ok {
			s.Close()
		}
	}
}

// Outcome is the metric label of a result.
func Outcome(err error) string {
	if err == nil {
		return resultOK
	}
	var refused *Refused // made when it is needed: most results are good
	if errors.As(err, &refused) {
		return string(refused.Fault)
	}
	return resultUnavailable
}

// Failures is the counter that the chain charges, for the one that takes its place at a reload;
// nil where there is no limit, and of a nil chain.
func (c *Chain) Failures() *failures.Counter {
	if c == nil {
		return nil
	}
	return c.blame
}

// Blame counts a refused credential against the client address that presented it. It
// returns err, or a *failures.Throttled in its place when there have been too many. Other
// errors are nobody's fault or no credential's, and pass.
func (c *Chain) Blame(source string, err error) error {
	if err == nil || c.blame == nil {
		return err
	}
	var refused *Refused
	// What a question was charged for has been counted.
	if !errors.As(err, &refused) || refused.Uncounted || refused.Charged {
		return err
	}
	if wait := c.blame.Charge(failures.AddressBlock(source), c.now()); wait > 0 {
		return &failures.Throttled{After: wait, Err: err}
	}
	return err
}
