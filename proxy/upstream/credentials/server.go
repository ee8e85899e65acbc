package credentials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/a2a-gateway/a2a-gateway/internal/breaker"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/share"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Bounds of one request for a token.
const (
	tokenTimeout = 10 * time.Second // for the whole of it
	maxAnswer    = 64 << 10         // bytes of the server's answer
	maxAsking    = 64               // connections to one server
)

// servers are the authorization servers that one agent's credentials are fetched from,
// by token endpoint, and the life of what is fetched.
type servers struct {
	life    context.Context
	end     context.CancelFunc
	http    *http.Client
	byURL   map[secret.URL]*tokenEndpoint
	fetched func(kind, result string)
}

// newServers begins with none; they are made as credentials name them, so that two credentials at
// one token endpoint share its breaker and turns.
func newServers(fetched func(kind, result string), egress *tunnel.Proxy) *servers {
	s := &servers{byURL: map[secret.URL]*tokenEndpoint{}, fetched: fetched}
	s.life, s.end = context.WithCancel(context.Background())
	s.http = &http.Client{
		// Its own connections, without the agent's client certificate, and like those
		// to the agent not subject to the proxy variables of the environment.
		Transport: strict{&http.Transport{
			DialContext:            egress.Dialer(5 * time.Second),
			TLSHandshakeTimeout:    5 * time.Second,
			ForceAttemptHTTP2:      true,
			IdleConnTimeout:        30 * time.Second,
			MaxConnsPerHost:        maxAsking,
			MaxIdleConnsPerHost:    8,
			MaxResponseHeaderBytes: maxAnswer,
		}},
		// A secret goes to the address that was configured and no further.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// close ends what is being fetched.
func (s *servers) close() {
	s.end()
	s.http.CloseIdleConnections()
}

// client makes the gateway's registration at a server ready to use.
func (s *servers) client(tokenURL secret.URL, id string, password secret.Value) *client {
	at := s.byURL[tokenURL]
	if at == nil {
		at = &tokenEndpoint{turns: share.NewTurns(maxAsking / 2)}
		s.byURL[tokenURL] = at
	}
	return &client{servers: s, tokenEndpoint: at, url: tokenURL, id: id, password: password.Reveal()}
}

// tokenEndpoint is what is known of one token endpoint, and who asks it.
type tokenEndpoint struct {
	breaker breaker.Breaker
	turns   *share.Turns
}

// client is the gateway at one token endpoint.
type client struct {
	*servers
	*tokenEndpoint
	url          secret.URL
	id, password string
	inForm       atomic.Bool // the server wants id and secret there
}

// errServer says whose the errors of a breaker are.
var errServer = errors.New("the authorization server")

// refusal is an answer that holds no token.
type refusal struct {
	status int
	code   string // "error" (RFC 6749 §5.2); "" when the answer has none
}

func (r *refusal) Error() string {
	return strings.TrimSpace("the authorization server answered " + strconv.Itoa(r.status) + " " + r.code)
}

// final reports whether the server has decided, and would decide the same again.
func (r *refusal) final() bool {
	switch r.code {
	case "", "server_error", "temporarily_unavailable", "slow_down":
		return false
	}
	return r.status >= 400 && r.status < 500 && r.status != http.StatusTooManyRequests
}

// theirs reports whether it is the caller who was turned down, and not the gateway.
func (r *refusal) theirs() bool {
	switch r.code {
	case "invalid_client", "unauthorized_client", "unsupported_grant_type":
		return false
	}
	return r.final()
}

// ask sends a request for a token for somebody, "" for the gateway, and counts it under
// kind. Errors hold nothing of the form, and of the answer the status and the error code
// only.
func (c *client) ask(ctx context.Context, who, kind string, form url.Values) (grant, error) {
	if err := c.breaker.Enter(time.Now(), who); err != nil {
		return grant{}, fmt.Errorf("%w: %w", errServer, err)
	}
	if err := c.turns.Enter(ctx, who); err != nil {
		c.breaker.Leave(time.Now(), who, breaker.Unknown)
		return grant{}, fmt.Errorf("%w: this caller's requests before it take too long: %w", errServer, err)
	}
	defer c.turns.Leave(who)
	inForm := c.inForm.Load() || c.password == ""
	g, err := c.send(ctx, form, inForm)
	var r *refusal
	if !inForm && errors.As(err, &r) && (r.status == http.StatusUnauthorized || r.code == "invalid_client") {
		// Some servers know only the form that RFC 6749 §2.3.1 advises against. The library
		// would find that out by itself, but by asking twice after any failure.
		if again, errAgain := c.send(ctx, form, true); errAgain == nil {
			c.inForm.Store(true)
			g, err = again, nil
		}
	}
	result, shown := "ok", breaker.Alive
	switch {
	case errors.As(err, &r) && r.final():
		result = "declined"
	case breaker.Unreached(err):
		result, shown = "failed", breaker.Away
	case err != nil:
		result, shown = "failed", breaker.Failed
	}
	c.breaker.Leave(time.Now(), who, shown)
	c.fetched(kind, result)
	return g, err
}

// send asks once. The form has the parameters of whichever grant it is, its grant_type
// among them, which the library lets stand in the place of client_credentials.
func (c *client) send(ctx context.Context, form url.Values, inForm bool) (grant, error) {
	request := clientcredentials.Config{
		ClientID: c.id, ClientSecret: c.password, TokenURL: c.url.Reveal(),
		EndpointParams: form, AuthStyle: oauth2.AuthStyleInHeader,
	}
	if inForm {
		request.AuthStyle = oauth2.AuthStyleInParams
	}
	token, err := request.Token(context.WithValue(ctx, oauth2.HTTPClient, c.http))
	if err != nil {
		var address *url.Error // says the whole URL
		if errors.As(err, &address) {
			err = address.Err
		}
		return grant{}, c.url.Hide(err)
	}
	kind, _ := token.Extra("issued_token_type").(string)
	seconds, _ := token.Extra("expires_in").(float64)
	return grant{token.AccessToken, kind, time.Duration(seconds) * time.Second}, nil
}

// strict is the way to a token endpoint on which the library sees nothing but tokens. By
// itself it would take a megabyte, JSON in which a member stands twice or in another case,
// a form in the place of JSON, any status from 200 to 299 and any type of token, and its
// errors quote what the server said.
type strict struct{ *http.Transport }

// RoundTrip implements http.RoundTripper. An answer that holds no token is an error.
func (s strict) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "a2a-gateway")
	resp, err := s.Transport.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("ask %s for a token: %w", r.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", r.URL.Host, err)
	}
	g, err := readGrant(resp.StatusCode, body)
	if err != nil {
		return nil, err
	}
	if body, err = g.rewritten(); err != nil {
		return nil, err
	}
	resp.Header = http.Header{"Content-Type": {"application/json"}}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// rewritten is a token endpoint's answer that says what was read, and no more.
func (g grant) rewritten() ([]byte, error) {
	return json.Marshal(struct {
		Token   string `json:"access_token"`
		Kind    string `json:"issued_token_type,omitzero"`
		Seconds int64  `json:"expires_in"`
	}{g.token, g.kind, int64(g.lifetime / time.Second)})
}

// Lifetimes of tokens: that of one that names none, and the longest that is believed.
const (
	lifetimeUnsaid = 5 * time.Minute
	lifetimeMost   = 24 * time.Hour
)

// readGrant reads the answer of a token endpoint (RFC 6749 §5, RFC 8693 §2.2). The type
// must be Bearer, N_A or left out: with any other the token alone is worth nothing.
func readGrant(status int, body []byte) (grant, error) {
	var a struct {
		Token  string         `json:"access_token"`
		Type   string         `json:"token_type"`
		Issued string         `json:"issued_token_type"`
		Expiry jsontext.Value `json:"expires_in"`
		Error  string         `json:"error"`
	}
	wellFormed := len(body) <= maxAnswer && json.Unmarshal(body, &a) == nil
	switch {
	case status != http.StatusOK || wellFormed && a.Error != "":
		return grant{}, &refusal{status, errorCode(a.Error)}
	case !wellFormed:
		return grant{}, errors.New("the authorization server's answer is not a JSON object of bounded size")
	case a.Token == "" || strings.ContainsFunc(a.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return grant{}, errors.New("the authorization server's answer has no token that can stand in a header")
	case a.Type != "" && !strings.EqualFold(a.Type, "Bearer") && !strings.EqualFold(a.Type, "N_A"):
		return grant{}, errors.New("the authorization server's token is neither of type Bearer nor N_A")
	case a.Issued == typeRefresh:
		return grant{}, errors.New("the authorization server gave a refresh token, which is not for agents")
	}
	lifetime, err := lifetime(a.Expiry)
	return grant{a.Token, a.Issued, lifetime}, err
}

// lifetime reads expires_in: seconds, which some servers put in quotes.
func lifetime(v jsontext.Value) (time.Duration, error) {
	text := strings.Trim(string(v), `"`)
	if text == "" || text == "null" {
		return lifetimeUnsaid, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0) {
		return 0, errors.New("the authorization server's expires_in is no number of seconds")
	}
	return time.Duration(min(seconds, lifetimeMost.Seconds()) * float64(time.Second)), nil
}

// errorCode is an error code as it may be shown: "" for one that is none.
func errorCode(code string) string {
	const known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	if len(code) > 64 || strings.Trim(code, known) != "" {
		return ""
	}
	return code
}
