package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
func (u *Upstream) Authorize(ctx context.Context, out http.Header, caller *Caller) error {
	for i := range u.credentials {
		c := &u.credentials[i]
		if !c.due(caller) || u.replaced(c, caller) {
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
func (u *Upstream) Asks() bool {
	return slices.ContainsFunc(u.credentials, func(c credential) bool { return !c.alone || c.onDemand })
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
func (u *Upstream) replaced(c *credential, caller *Caller) bool {
	if c.onDemand || caller == nil || caller.Demanded == nil {
		return false
	}
	return slices.ContainsFunc(u.credentials, func(other credential) bool {
		return other.header == c.header && other.fits(caller.Demanded)
	})
}

// Answers reports whether a credential is configured for a task that demands d.
func (u *Upstream) Answers(d *Demand) bool {
	return slices.ContainsFunc(u.credentials, func(c credential) bool { return c.fits(d) })
}

// Shown names the credentials that a call shows the agent, for the record: kind and
// header, "exchange Authorization". The list must not be changed. In the answer to a task
// that demands something, ShownTo says which they are.
func (u *Upstream) Shown() []string { return u.shown }

// ShownTo is Shown for the gateway's own answer to a task that demands d.
func (u *Upstream) ShownTo(d *Demand) []string {
	caller := &Caller{Demanded: d}
	var names []string
	for i := range u.credentials {
		if c := &u.credentials[i]; c.due(caller) && !u.replaced(c, caller) {
			names = append(names, c.name)
		}
	}
	return names
}

// Passes reports whether the caller's header of this canonical name goes on.
func (u *Upstream) Passes(header string) bool {
	for _, c := range u.credentials {
		if c.passes && c.header == header {
			return true
		}
	}
	return false
}
