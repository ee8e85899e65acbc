// Package login has people sign in by OpenID Connect, and remembers for a while that they
// have: authorization code with PKCE, state and nonce, then a session of the server's own.
//
// It owns the client of the provider, what a browser keeps between leaving and coming
// back, and the sessions. It does not own who may do what, cookies or answers. It imports
// internal/secret, internal/jws, and libraries for OAuth and OpenID Connect.
//
// Signing in takes two requests of the browser to the gateway, and one visit to the
// provider between them (OpenID Connect Core 1.0, section 3.1; PKCE is RFC 7636):
//
//	| step | what happens |
//	| --- | --- |
//	| Begin | state, nonce and verifier are made and sealed into a cookie; the browser goes to the provider |
//	| provider | the person signs in; the browser comes back with a code and the state |
//	| Finish | the cookie is opened, the state compared, the code exchanged for an ID token, the token verified |
//	| Sessions.Begin | the browser gets a cookie with the id of a session |
//
// Nothing is kept in the gateway between Begin and Finish, so that nobody can fill its
// memory by beginning over and over. What protects against what: state ties the answer to
// the browser that left (a forged answer), nonce ties the ID token to this attempt (a
// replayed token), the verifier ties the code to this client (a stolen code), and iss to
// this provider (mixed-up providers).
package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is the gateway as a client of the provider, as it is registered there.
type Config struct {
	// ClientID is the gateway's client id at the provider.
	ClientID string `yaml:"clientID"`
	// ClientSecret is the client's secret. Default: none, for a public client.
	ClientSecret secret.Value `yaml:"clientSecret"`
	// Scopes that the gateway requests. Default: openid and profile. It always requests openid.
	Scopes []string `yaml:"scopes"`
	// Idle is how long a session lasts without a request; default 30m.
	Idle quantity.Duration `yaml:"idle"`
	// Life is how long a session lasts at most; default 8h.
	Life quantity.Duration `yaml:"life"`
	// Sessions is how many there may be; default 1000. With more, the gateway ends the longest idle
	// session of the user who has most.
	Sessions int `yaml:"sessions"`
}

const (
	usualIdle     = 30 * time.Minute
	usualLife     = 8 * time.Hour
	usualSessions = 1000
)

// Defaults fills in what is not written.
func (c *Config) Defaults() {
	if c.Idle == 0 {
		c.Idle = quantity.Duration(usualIdle)
	}
	if c.Life == 0 {
		c.Life = quantity.Duration(usualLife)
	}
	if c.Sessions == 0 {
		c.Sessions = usualSessions
	}
}

// Validate reports what cannot work, naming the key. A session that may be idle for longer
// than it lasts would be a mistake in either value.
func (c *Config) Validate() error {
	var errs []error
	if c.ClientID == "" {
		errs = append(errs, keypath.At(errors.New("missing"), "clientID"))
	}
	if c.Sessions < 0 {
		errs = append(errs, keypath.At(errors.New("want more than 0"), "sessions"))
	}
	if c.Idle > c.Life && c.Life != 0 {
		errs = append(errs, keypath.At(errors.New("is longer than life"), "idle"))
	}
	return errors.Join(errs...)
}

// Errors of signing in. Whoever gets one learns no more; what is behind it is for the log.
var (
	ErrUnavailable = errors.New("the identity provider cannot be reached")
	ErrRefused     = errors.New("signing in came to nothing")
)

// Provider is an OpenID provider as its client sees it. Nothing is fetched before somebody
// signs in, and what is fetched is believed for a while.
type Provider struct {
	issuer  string
	config  Config
	client  *http.Client
	seal    sealer
	skipped func(jws.Skipped)

	mu      sync.Mutex
	found   *endpoints
	foundAt time.Time
	keys    *keySet // of found
}

// rediscover is how long the provider's metadata is believed.
const rediscover = time.Hour

// endpoints is what the provider's metadata says. They are members of the metadata of
// OpenID Connect Discovery 1.0, section 3, which go-oidc does not read by itself.
type endpoints struct {
	provider *oidc.Provider
	keys     *keySet
	Keys     string   `json:"jwks_uri"`
	EndSess  string   `json:"end_session_endpoint"`
	Auth     []string `json:"token_endpoint_auth_methods_supported"`
	NamesIss bool     `json:"authorization_response_iss_parameter_supported"`
}

// New is the client of an issuer. transport may be nil. skipped is told once of each of the
// provider's keys that cannot be used.
func New(issuer string, c Config, transport http.RoundTripper, dial Dial, skipped func(jws.Skipped)) (*Provider, error) {
	seal, err := newSealer()
	return &Provider{issuer: issuer, config: c, client: newClient(issuer, transport, dial), seal: seal, skipped: skipped}, err
}

// Identity is who has signed in. Claims are those of the ID token, as JSON has them; roles
// are found in them by the console's configuration.
type Identity struct {
	Subject string
	Claims  map[string]any
	token   string // the ID token

	// Local is somebody whom no provider signed in, and whose name is Subject; Until is when
	// what they showed ends, if it does.
	Local bool
	Until time.Time
}

// departure is what is kept, sealed, in the browser that leaves for the provider.
type departure struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Redirect string    `json:"redirect"`
	To       string    `json:"to"`
	Until    time.Time `json:"until"`
}

// Away is how long somebody may take to sign in.
const Away = 10 * time.Minute

// Begin is where somebody goes to sign in, and what their browser keeps until it is back
// at redirect: to is where it goes then.
func (p *Provider) Begin(ctx context.Context, redirect, to string) (address, kept string, err error) {
	e, err := p.discover(ctx)
	if err != nil {
		return "", "", err
	}
	// Rand.Text has at least 128 bits, which nobody guesses within the ten minutes.
	d := departure{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), redirect, to, time.Now().Add(Away)}
	if kept, err = p.seal.seal(d); err != nil {
		return "", "", err
	}
	return p.oauth(e, redirect).AuthCodeURL(d.State, oidc.Nonce(d.Nonce), oauth2.S256ChallengeOption(d.Verifier)), kept, nil
}

// Finish takes what a browser brings back from the provider and what it kept. A code is
// good once: the provider sees to that. An error wraps ErrRefused or ErrUnavailable. Its
// text is for the log: it quotes at most 60 characters of what others have sent, and no
// code, token or secret.
func (p *Provider) Finish(ctx context.Context, kept string, back url.Values) (who Identity, to string, err error) {
	var d departure
	if err := p.seal.open(kept, &d); err != nil {
		return who, "", fmt.Errorf("%w: nobody has left from this browser", ErrRefused)
	}
	state := back.Get("state")
	switch {
	case time.Now().After(d.Until):
		return who, "", fmt.Errorf("%w: it took longer than %v", ErrRefused, Away)
	case subtle.ConstantTimeCompare([]byte(state), []byte(d.State)) != 1:
		return who, "", fmt.Errorf("%w: state is another", ErrRefused)
	}
	e, err := p.discover(ctx)
	if err != nil {
		return who, "", err
	}
	if iss := back["iss"]; (len(iss) > 0 || e.NamesIss) && !slices.Equal(iss, []string{p.issuer}) { // RFC 9207
		return who, "", fmt.Errorf("%w: it is the answer of another issuer", ErrRefused)
	}
	if code := back.Get("error"); code != "" {
		return who, "", fmt.Errorf("%w: the provider says %.60q", ErrRefused, code)
	}
	who, err = p.redeem(ctx, e, &d, back.Get("code"))
	return who, d.To, err
}

// redeem gets the ID token for a code, and believes it. The ID token is verified although
// it comes over TLS from the provider itself: the signature, the issuer, the audience (this
// client), the times, the nonce, the hash of the access token where there is one (at_hash),
// and azp, which has to be this client.
func (p *Provider) redeem(ctx context.Context, e *endpoints, d *departure, code string) (Identity, error) {
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.oauth(e, d.Redirect).Exchange(ctx, code, oauth2.VerifierOption(d.Verifier))
	if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) { // the rest of it may quote secrets
		return Identity{}, fmt.Errorf("%w: the token endpoint says %.60q", ErrRefused, refused.ErrorCode)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("%w: the token endpoint does not answer as one", ErrUnavailable)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return Identity{}, fmt.Errorf("%w: there is no ID token", ErrRefused)
	}
	verified, err := oidc.NewVerifier(p.issuer, e.keys, &oidc.Config{
		ClientID: p.config.ClientID, SupportedSigningAlgs: profile().Algorithms,
	}).Verify(ctx, raw)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(d.Nonce)) != 1 {
		return Identity{}, fmt.Errorf("%w: nonce is another", ErrRefused)
	}
	if verified.AccessTokenHash != "" {
		if err := verified.VerifyAccessToken(token.AccessToken); err != nil {
			return Identity{}, fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	who := Identity{Subject: verified.Subject, token: raw}
	if err := verified.Claims(&who.Claims); err != nil || who.Subject == "" {
		return Identity{}, fmt.Errorf("%w: the ID token says nothing", ErrRefused)
	}
	if azp, there := who.Claims["azp"]; there && azp != p.config.ClientID {
		return Identity{}, fmt.Errorf("%w: the ID token is another client's", ErrRefused)
	}
	return who, nil
}

// Leave is where the browser of somebody who signs out goes to be signed out at the
// provider as well, and then to back; "" where the provider has no such place. It follows
// OpenID Connect RP-Initiated Logout 1.0: the ID token says who is to be signed out. A
// provider that cannot be reached is no reason to fail: the session here has ended anyway.
func (p *Provider) Leave(ctx context.Context, who Identity, back string) string {
	e, err := p.discover(ctx)
	if err != nil || e.EndSess == "" {
		return ""
	}
	u, err := url.Parse(e.EndSess)
	if err != nil {
		return ""
	}
	q := u.Query()
	q.Set("id_token_hint", who.token)
	q.Set("client_id", p.config.ClientID)
	q.Set("post_logout_redirect_uri", back)
	u.RawQuery = q.Encode()
	return u.String()
}

// oauth is the client as the OAuth library has it, with the provider's endpoints. The
// secret goes into the Authorization header (client_secret_basic), or into the form where
// the provider does not take that.
func (p *Provider) oauth(e *endpoints, redirect string) *oauth2.Config {
	at := e.provider.Endpoint()
	// Trying both ways, as oauth2 does on its own, would spend the code on the first.
	at.AuthStyle = oauth2.AuthStyleInHeader
	if p.config.ClientSecret.IsZero() || len(e.Auth) > 0 && !slices.Contains(e.Auth, "client_secret_basic") {
		at.AuthStyle = oauth2.AuthStyleInParams
	}
	scopes := p.config.Scopes
	if len(scopes) == 0 {
		scopes = []string{"profile"}
	}
	if !slices.Contains(scopes, oidc.ScopeOpenID) {
		scopes = slices.Concat([]string{oidc.ScopeOpenID}, scopes)
	}
	return &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret.Reveal(), Endpoint: at, RedirectURL: redirect, Scopes: scopes,
	}
}

// discover reads the provider's metadata, now and then. The lock is held during the
// request, so that ten people who sign in at once cause one. Old metadata is used on where
// the provider cannot be reached for new.
func (p *Provider) discover(ctx context.Context) (*endpoints, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil && time.Since(p.foundAt) < rediscover {
		return p.found, nil
	}
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.issuer)
	e := &endpoints{provider: provider}
	if err == nil {
		err = provider.Claims(e)
	}
	if err == nil {
		err = p.permit(provider.Endpoint().AuthURL, provider.Endpoint().TokenURL, e.EndSess, e.Keys)
	}
	if err != nil && p.found != nil {
		return p.found, nil // which worked until now
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if p.keys == nil || p.keys.address != e.Keys {
		p.keys = &keySet{address: e.Keys, client: p.client, skipped: p.skipped}
	}
	e.keys = p.keys
	p.found, p.foundAt = e, time.Now()
	return e, nil
}

// permit sees to it that browsers are sent to, and codes spent at, what is an address and
// as safe as the issuer's. An issuer whose own address is http is one for tests, and its
// endpoints may be too.
func (p *Provider) permit(addresses ...string) error {
	for _, raw := range addresses {
		u, err := url.Parse(raw)
		plain := err == nil && u.Scheme == "http" && strings.HasPrefix(p.issuer, "http://")
		if raw != "" && (err != nil || u.Scheme != "https" && !plain) {
			return errors.New("the provider names an address that is not https")
		}
	}
	return nil
}
