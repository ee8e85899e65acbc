package credentials

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// exchanger shows a token of another system for the caller, got by token exchange (RFC 8693).
type exchanger struct {
	Exchange

	client *client
	signer signer
	actor  *clientToken // of the gateway, for Actor client
	cache  *cache
}

func newExchanger(x *Exchange, prefix string, s *servers, by signer) *exchanger {
	e := &exchanger{
		Exchange: *x, signer: by,
		client: s.client(x.TokenURL, x.ClientID, x.ClientSecret), cache: newCache(s.life, prefix),
	}
	if x.Actor == actorClient {
		e.actor = &clientToken{client: e.client, kind: "actor", form: clientForm(nil, ""), cache: newCache(s.life, "")}
	}
	return e
}

// exchange is everything about one call that the token depends on.
type exchange struct {
	of      *authn.Principal // whom the token is for
	token   string           // that says so; "" for one that the gateway signs
	subject string           // who that is in the other system
	scope   string
}

// value is the token for the caller, from the cache or the server.
func (x *exchanger) value(ctx context.Context, caller *Caller) (string, error) {
	e, err := x.of(caller)
	if err != nil {
		return "", err
	}
	return x.cache.get(ctx, e.key(), func(ctx context.Context) (grant, error) { return x.fetch(ctx, e) })
}

// of finds out for whom a call is exchanged, or that the caller is nobody there.
//
// With Subject client it is the workload beside the caller, which a second credential has named.
func (x *exchanger) of(caller *Caller) (*exchange, error) {
	e := &exchange{of: caller.Principal, token: caller.Token}
	if x.Subject == subjectClient && e.of != nil {
		e.of, e.token = e.of.Workload, caller.Workload
	}
	switch {
	case e.of == nil:
		return nil, fmt.Errorf("%w: no such credential came", ErrNobody)
	case x.Subject == subjectAssertion:
		e.token = ""
	case e.token == "" || e.of.Method != "oidc" && e.of.Method != "introspection":
		// An API key is good at the gateway and for nobody else.
		return nil, fmt.Errorf("%w: the credential is not a token", ErrNobody)
	}
	var err error
	if e.subject, err = x.Identity.subject(e.of); err != nil {
		return nil, err
	}
	e.scope, err = x.Permissions.scopeText(e.of, caller.Demanded, nil)
	return e, err
}

// key digests what the request for a token is made of, and who it is for besides.
func (e *exchange) key() cacheKey {
	p := e.of
	k := make(parts, 0, 2048).add(p.Key(), p.Client, p.Tenant, p.ACR, e.token, e.subject, e.scope).list(p.AMR)
	k = k.number(p.AuthTime.Unix()).number(int64(len(p.Actors)))
	for _, a := range p.Actors {
		k = k.add(a.Subject, a.Issuer)
	}
	if w := p.Workload; w != nil {
		k = k.add(w.Key(), w.Client)
	}
	return k.key()
}

// fetch asks for the token.
//
// A refusal of the caller becomes ErrDeclined; one of the gateway's own client stays an error of
// the moment, for an operator to see.
func (x *exchanger) fetch(ctx context.Context, e *exchange) (grant, error) {
	form, err := x.form(ctx, e)
	if err != nil {
		return grant{}, err
	}
	g, err := x.client.ask(ctx, e.of.Key(), "exchange", form)
	var r *refusal
	switch {
	case errors.As(err, &r) && r.theirs():
		return grant{}, fmt.Errorf("%w: %w", ErrDeclined, err)
	case err == nil && x.RequestedType != "" && g.kind != "" && g.kind != x.RequestedType:
		return grant{}, errors.New("the authorization server gave a token of another type than was requested")
	}
	return g, err
}

// form is the request: RFC 8693 §2.1, or RFC 7523 §2.1.
func (x *exchanger) form(ctx context.Context, e *exchange) (url.Values, error) {
	subject, kind := e.token, typeAccess
	if x.Subject == subjectAssertion {
		var err error
		if subject, err = x.signer.subject(e, x.TokenURL.Reveal()); err != nil {
			return nil, err
		}
		kind = typeJWT
	}
	form := url.Values{}
	if x.Grant == grantBearer {
		form.Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
		form.Set("assertion", subject)
	} else {
		form.Set("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
		form.Set("subject_token", subject)
		form.Set("subject_token_type", orText(x.SubjectType, kind))
		if err := x.addActor(ctx, form); err != nil {
			return nil, err
		}
	}
	for name, values := range map[string][]string{
		"audience": x.Audience, "resource": x.Resource,
		"requested_token_type": named(x.RequestedType), "scope": named(e.scope),
	} {
		if len(values) > 0 {
			form[name] = values
		}
	}
	return form, nil
}

// addActor says that the gateway acts for the subject.
func (x *exchanger) addActor(ctx context.Context, form url.Values) error {
	var token, kind string
	var err error
	switch x.Actor {
	case actorClient:
		kind = typeAccess
		token, err = x.actor.value(ctx, nil)
	case actorAssertion:
		kind = typeJWT
		token, err = x.signer.itself(x.TokenURL.Reveal())
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("actor token: %w", err)
	}
	form.Set("actor_token", token)
	form.Set("actor_token_type", kind)
	return nil
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
