package credentials

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Lifetimes of what the gateway signs.
const (
	defaultLifetime = time.Minute
	maxLifetime     = 5 * time.Minute
)

// maxActors bounds the act claim; authentication has its own, lower one.
const maxActors = 32

// claims are those of a JWT that the gateway signs, in the order in which they are written.
//
// Claims beyond those of RFC 7519 are there only where they say something.
type claims struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Audience  string   `json:"aud"`
	IssuedAt  int64    `json:"iat"`
	NotBefore int64    `json:"nbf"`
	Expires   int64    `json:"exp"`
	ID        string   `json:"jti"`
	Client    string   `json:"client_id,omitzero"` // RFC 8693 §4.3
	Scope     string   `json:"scope,omitzero"`     // RFC 8693 §4.2
	Groups    []string `json:"groups,omitempty"`
	Tenant    string   `json:"tenant,omitzero"`
	ACR       string   `json:"acr,omitzero"`
	AMR       []string `json:"amr,omitempty"`
	AuthTime  int64    `json:"auth_time,omitzero"`
	Actor     *actor   `json:"act,omitzero"`    // RFC 8693 §4.1
	SubjectID *subject `json:"sub_id,omitzero"` // RFC 9493
	Call      *called  `json:"a2a,omitzero"`
}

// actor is one who acts, and for whom that one acts in turn.
type actor struct {
	Subject string `json:"sub"`
	Issuer  string `json:"iss,omitzero"`
	Before  *actor `json:"act,omitzero"`
}

// subject is who the caller is to the gateway, whatever sub says.
type subject struct {
	Format  string `json:"format"`
	Issuer  string `json:"iss"`
	Subject string `json:"sub"`
}

// called is what the caller was allowed to call.
type called struct {
	Agent      string   `json:"agent"`
	Method     string   `json:"method"`
	Skills     []string `json:"skills,omitempty"`
	Task       string   `json:"task,omitzero"`
	Context    string   `json:"context,omitzero"`
	Extensions []string `json:"extensions,omitempty"`
}

// signer makes JWTs in the gateway's name.
type signer struct{ Options }

// name is the gateway's own as an actor.
func (s signer) name() string { return orText(s.Gateway, s.Issuer) }

var errNoKey = errors.New("the gateway has no key to sign with (keys)")

// sign completes and signs claims that are good from now on.
func (s signer) sign(c *claims, lifetime time.Duration) (string, error) {
	if s.Sign == nil {
		return "", errNoKey
	}
	now := time.Now()
	c.Issuer, c.ID = s.Issuer, rand.Text()
	c.IssuedAt, c.NotBefore, c.Expires = now.Unix(), now.Unix(), now.Add(lifetime).Unix()
	payload, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("write assertion: %w", err)
	}
	return s.Sign("JWT", payload)
}

// about is what a JWT says of a principal, under the subject it goes by.
func about(p *authn.Principal, name, audience string) *claims {
	c := &claims{
		Subject: name, Audience: audience, Client: p.Client, Tenant: p.Tenant, ACR: p.ACR, AMR: p.AMR,
		SubjectID: &subject{"iss_sub", p.Issuer, p.Subject},
	}
	if !p.AuthTime.IsZero() {
		c.AuthTime = p.AuthTime.Unix()
	}
	return c
}

// subject is the subject token of an exchange. The gateway is no actor in it: that is
// for the server to say, which knows it as its client or by the actor token.
func (s signer) subject(e *exchange, audience string) (string, error) {
	c := about(e.of, e.subject, audience)
	var err error
	if c.Actor, err = chain(nil, e.of); err != nil {
		return "", err
	}
	return s.sign(c, defaultLifetime)
}

// itself is the actor token of an exchange.
func (s signer) itself(audience string) (string, error) {
	return s.sign(&claims{Subject: s.name(), Audience: audience}, defaultLifetime)
}

// chain is who acts for p: first, if it is somebody, then the workload that made the
// call, and then those who acted before it, as the credential says.
func chain(first *actor, p *authn.Principal) (*actor, error) {
	if len(p.Actors) > maxActors {
		return nil, fmt.Errorf("%w: more than %d actors", ErrNobody, maxActors)
	}
	var c *actor
	for i := len(p.Actors) - 1; i >= 0; i-- {
		c = &actor{p.Actors[i].Subject, p.Actors[i].Issuer, c}
	}
	if w := p.Workload; w != nil {
		c = &actor{w.Subject, w.Issuer, c}
	}
	if first == nil {
		return c, nil
	}
	first.Before = c
	return first, nil
}

// asserter shows a JWT that says who calls and for what. Each is made for one call: it
// names the call.
type asserter struct {
	Assertion

	prefix string
	signer signer
}

// newAsserter prepares to sign by the gateway's keys; prefix stands before the token.
func newAsserter(a *Assertion, prefix string, by signer) *asserter {
	return &asserter{*a, prefix, by}
}

// value is an assertion about the caller, or ErrNobody for one whom Identity does not know.
// The assertion is made anew for each call, which costs a signature and no request: it names the
// method, the task and the skills of the call.
func (a *asserter) value(_ context.Context, caller *Caller) (string, error) {
	p := caller.Principal
	if p == nil {
		return "", fmt.Errorf("%w: no such credential came", ErrNobody)
	}
	name, err := a.Identity.subject(p)
	if err != nil {
		return "", err
	}
	c := about(p, name, orText(a.Audience, caller.audience()))
	if c.Audience == "" {
		return "", errors.New("an assertion needs an audience: no interface is called")
	}
	if c.Scope, err = a.Permissions.scopeText(p, caller.Demanded, p.Scopes); err != nil {
		return "", err
	}
	if c.Actor, err = chain(&actor{Subject: a.signer.name(), Issuer: a.signer.Issuer}, p); err != nil {
		return "", err
	}
	c.Groups = p.Groups
	c.Call = &called{caller.Agent, caller.Method, caller.Skills, caller.Task, caller.Context, caller.Extensions}
	token, err := a.signer.sign(c, orDefault(a.Lifetime, defaultLifetime))
	if err != nil {
		return "", err
	}
	return a.prefix + token, nil
}

// audience is the agent as an audience that nobody has named: the origin of the interface that
// is called, where no other agent is at that, else the interface itself (RFC 8707 §2). What one
// of several agents behind a server is given would be good at the others.
func (c *Caller) audience() string {
	o := Origin(c.Target)
	if o == "" || !c.Shared {
		return o
	}
	return o + c.Target.EscapedPath()
}

// Origin is scheme and authority of an address (RFC 6454 §6.2), without what a port says
// that is the scheme's own; "" of none.
func Origin(u *url.URL) string {
	if u == nil || u.Host == "" {
		return ""
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return scheme + "://" + host
}
