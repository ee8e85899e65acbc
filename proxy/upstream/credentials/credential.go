// Package credentials makes the credentials that the gateway shows an agent: static secrets,
// tokens of the gateway's own by the client credentials grant (RFC 6749 §4.4), tokens for the
// caller by token exchange (RFC 8693) or JWT bearer grant (RFC 7523), signed assertions of who is
// calling, and the caller's own header passed on.
//
//	Set.Authorize(ctx, header, caller)
//	  due        is it shown in this call? on: auth-required only in the answer to a task that demands it
//	  value      static; cache.get (OAuth2, exchange); asserter.sign; passage
//	  header     "Authorization: Bearer …", or the header that is configured
//
// A token is fetched once for all calls that need the same one, renewed in the background after
// four fifths of its lifetime, and used until it expires where that fails. What was refused is
// not asked for again at once: for ten seconds after a refusal, and for one after a failure of
// the server. A token endpoint that fails has a breaker, and each caller may have a share of its
// connections.
//
// ErrNobody says that the caller is nobody in the agent's system, ErrDeclined that its
// authorization server turned the caller down: both become 403. Any other error is about the
// moment (503). None of them has a secret, a token or a URL's password in its text.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Options are what credentials need besides their configuration. The zero value works
// where none is signed.
type Options struct {
	// Sign makes a JWS of a payload with the header parameter typ (see package keys).
	// Without it credentials that are signed fail when they are needed.
	Sign func(typ string, payload []byte) (string, error)
	// Issuer is the gateway's public URL: iss of what it signs.
	Issuer string
	// Gateway is server.id, the gateway's name as an actor.
	Gateway string
	// Fetched is called after each fetch of a token; kind is oauth2, exchange or actor,
	// result ok, declined (the server said no) or failed. Nil for nobody.
	Fetched func(kind, result string)
	// Egress is the way to token endpoints; nil is direct.
	Egress *tunnel.Proxy
}

// Set is the credentials of one agent, ready to use. It is safe for concurrent use.
type Set struct {
	list  []credential
	shown []string // what Shown returns
	end   func()   // ends the fetching of tokens
}

// New makes the credentials that Validate has passed ready to use. No token is fetched before one
// is needed.
func New(configured []Credential, o Options) *Set {
	s := new(Set)
	s.list, s.end = prepare(configured, o)
	s.shown = s.ShownTo(nil)
	return s
}

// Close gives up tokens that are being fetched, and drops the connections to token endpoints.
func (s *Set) Close() { s.end() }

// Caller is one call, as far as credentials depend on it.
type Caller struct {
	Principal  *authn.Principal
	Header     http.Header // the caller's, for Passthrough
	Token      string      // the caller's own credential, without the name of its scheme
	Workload   string      // the same of Principal.Workload
	Agent      string      // configured agent id
	Target     *url.URL    // the interface that is called
	Shared     bool        // another agent is at the origin of Target
	Method     string      // 1.0 name
	Skills     []string    // that the call was allowed for
	Task       string      // the agent's id; "" for none yet
	Context    string      // likewise
	Extensions []string    // active in the call
	// Demanded is set in the gateway's own answer to a task that asks for
	// authorization: then credentials for that occasion are shown too.
	Demanded *Demand
}

// Demand is what a task that asks for authorization wants to see.
type Demand struct {
	Audiences []string // audiences and resources that it names
	Scopes    []string
}

// Errors of credentials that are about the caller and not about the moment.
var (
	// ErrNobody says that the caller is nobody in the agent's system, or may do nothing
	// there, by agents[].credentials.
	ErrNobody = errors.New("the caller has no identity or permission in the agent's system")
	// ErrDeclined says that the other system's authorization server turned the exchange
	// down.
	ErrDeclined = errors.New("the authorization server declined the exchange")
)

// source makes what a header says in one call. "" leaves the header out.
type source interface {
	// value may wait for a token, no longer than ctx. The caller is nil in the gateway's
	// own calls, which only credentials that are alone are asked for.
	value(ctx context.Context, caller *Caller) (string, error)
}

// credential is a Credential made ready to use.
type credential struct {
	source
	name      string // for records: kind and header
	header    string // canonical
	passes    bool   // the caller's own header goes on
	alone     bool   // depends on no caller
	onDemand  bool   // shown only to a task that asks for authorization
	audiences []string
}

// prepare makes credentials ready, those for demands last, and returns what ends their
// fetching of tokens.
func prepare(configured []Credential, o Options) ([]credential, func()) {
	if o.Fetched == nil {
		o.Fetched = func(string, string) {}
	}
	s := newServers(o.Fetched, o.Egress)
	out := make([]credential, 0, len(configured))
	for _, c := range configured {
		ready := credential{
			name: c.kind() + " " + c.header(), header: c.header(), onDemand: c.On == onAuthRequired,
			passes: c.Passthrough, alone: c.OAuth2 != nil || !c.Value.IsZero(),
		}
		ready.source, ready.audiences = c.source(s, o)
		out = append(out, ready)
	}
	slices.SortStableFunc(out, func(a, b credential) int { return rank(a) - rank(b) })
	return out, s.close
}

func rank(c credential) int {
	if c.onDemand {
		return 1
	}
	return 0
}

// source makes the one that a Credential configures, and the audiences that what it
// shows is good for, as far as that is known.
func (c Credential) source(s *servers, o Options) (source, []string) {
	switch {
	case c.OAuth2 != nil:
		return newClientToken(c.OAuth2, c.prefix(), s), named(c.OAuth2.Audience)
	case c.Exchange != nil:
		return newExchanger(c.Exchange, c.prefix(), s, signer{o}), slices.Concat(c.Exchange.Audience, c.Exchange.Resource)
	case c.Assertion != nil:
		return newAsserter(c.Assertion, c.prefix(), signer{o}), named(c.Assertion.Audience)
	case c.Passthrough:
		return passage{c.header(), c.Audience}, named(c.Audience)
	}
	return static(c.Value.Reveal()), nil
}

// named is a list of the one audience, if there is one.
func named(audience string) []string {
	if audience == "" {
		return nil
	}
	return []string{audience}
}

// static is a value that never changes.
type static string

func (s static) value(context.Context, *Caller) (string, error) { return string(s), nil }

// Authorize sets the gateway's credentials on an outgoing header. Without a caller
// the call is the gateway's own: only credentials that depend on nobody are set. It
// may have to wait for a token, no longer than ctx. Errors that are not about the caller
// (ErrNobody, ErrDeclined) are about the moment, or about the configuration.
func (s *Set) Authorize(ctx context.Context, out http.Header, caller *Caller) error {
	for i := range s.list {
		c := &s.list[i]
		if !c.due(caller) || s.replaced(c, caller) {
			continue
		}
		value, err := c.value(ctx, c.told(caller))
		if err != nil {
			return fmt.Errorf("agents[].credentials: %s: %w", c.name, err)
		}
		if value != "" {
			out[c.header] = []string{value}
		}
	}
	return nil
}

// told is the caller as the credential's source is to know it: what a task demands
// narrows what is shown for the demand, not what is shown in any call.
func (c *credential) told(caller *Caller) *Caller {
	if caller == nil || caller.Demanded == nil || c.onDemand {
		return caller
	}
	plain := *caller
	plain.Demanded = nil
	return &plain
}

// Asks reports whether any credential depends on the call or who makes it. Where none
// does, Authorize may be given no Caller.
func (s *Set) Asks() bool {
	return slices.ContainsFunc(s.list, func(c credential) bool { return !c.alone || c.onDemand })
}

// due reports whether the credential is one for this call.
func (c *credential) due(caller *Caller) bool {
	switch {
	case caller == nil:
		return c.alone && !c.onDemand
	case c.onDemand:
		return c.fits(caller.Demanded)
	}
	return true
}

// fits reports whether the credential is for what a task demands. What it is good for
// must be among the audiences that are named: a token for one system is not shown to an
// agent that asks for another's.
func (c *credential) fits(d *Demand) bool {
	if d == nil || !c.onDemand {
		return false
	}
	return len(d.Audiences) == 0 || slices.ContainsFunc(d.Audiences, func(a string) bool { return slices.Contains(c.audiences, a) })
}

// replaced reports whether another credential takes this one's header, for a demand.
func (s *Set) replaced(c *credential, caller *Caller) bool {
	if c.onDemand || caller == nil || caller.Demanded == nil {
		return false
	}
	return slices.ContainsFunc(s.list, func(other credential) bool {
		return other.header == c.header && other.fits(caller.Demanded)
	})
}

// Answers reports whether a credential is configured for a task that demands d.
func (s *Set) Answers(d *Demand) bool {
	return slices.ContainsFunc(s.list, func(c credential) bool { return c.fits(d) })
}

// Shown names the credentials that a call shows the agent, for the record: kind and
// header, "exchange Authorization". The list must not be changed. In the answer to a task
// that demands something, ShownTo says which they are.
func (s *Set) Shown() []string { return s.shown }

// ShownTo is Shown for the gateway's own answer to a task that demands d.
func (s *Set) ShownTo(d *Demand) []string {
	caller := &Caller{Demanded: d}
	var names []string
	for i := range s.list {
		if c := &s.list[i]; c.due(caller) && !s.replaced(c, caller) {
			names = append(names, c.name)
		}
	}
	return names
}

// Passes reports whether the caller's header of this canonical name goes on.
func (s *Set) Passes(header string) bool {
	for _, c := range s.list {
		if c.passes && c.header == header {
			return true
		}
	}
	return false
}
