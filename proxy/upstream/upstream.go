// Package upstream reaches agents: one set of connections per agent for every
// binding, the credentials the gateway shows there, and nothing of what is said.
//
// It owns transport settings and outgoing credentials. It does not choose
// methods, read bodies or write responses, and it never sends a call twice: a
// send may have had its effect even when no answer came. It may import
// internal/secret, authn and below.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Upstream is one agent's connections and credentials. It is safe for concurrent use.
type Upstream struct {
	transport   *http.Transport
	grpc        *http.Transport // the same over HTTP/2 alone
	credentials []credential
	answer      time.Duration
	calls       atomic.Int64 // in flight, streams included
	most        int64        // of them
}

// ErrBusy says that as many calls are in flight to the agent as `connections`
// permits. Nothing was sent.
var ErrBusy = errors.New("agents[].connections: as many calls are in flight as the limit permits")

// credential is a Credential made ready to use.
type credential struct {
	header      string
	value       string
	tokens      *tokens // nil unless OAuth2
	passthrough bool
}

// Options are what credentials need besides their configuration. The zero value works
// where none is signed.
type Options struct {
	// Sign makes a JWS of a payload with the header parameter typ (see package keys).
	Sign func(typ string, payload []byte) (string, error)
	// Issuer is the gateway's public URL: iss of what it signs.
	Issuer string
	// Gateway is server.id, the gateway's name as an actor.
	Gateway string
	// Fetched is called after each fetch of a token; kind is oauth2, exchange or actor,
	// result ok, declined (the server said no) or failed.
	Fetched func(kind, result string)
}

// Caller is one call, as far as credentials depend on it.
type Caller struct {
	Principal  *authn.Principal
	Header     http.Header // the caller's, for Passthrough
	Token      string      // the caller's own credential, without the name of its scheme
	Workload   string      // the same of Principal.Workload
	Agent      string      // configured agent id
	Target     *url.URL    // the interface that is called
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

// Answers reports whether a credential is configured for a task that demands d.
func (u *Upstream) Answers(d *Demand) bool {
	_ = d
	return false
}

// Shown names the credentials that a call shows the agent, for the record: kind and
// header, "exchange Authorization".
func (u *Upstream) Shown() []string { return nil }

// New prepares an agent's connections. Files named in c are read now, so that a
// missing one is an error of the configuration and not of a call.
func New(c Config, _ Options) (*Upstream, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	tlsConfig, err := c.TLS.client()
	if err != nil {
		return nil, err
	}
	connections := c.Connections
	if connections <= 0 {
		connections = 4096
	}
	connect := orDefault(c.Connect, 5*time.Second)
	d := dialer{net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}, tlsConfig}
	u := &Upstream{
		answer:    orDefault(c.Answer, 5*time.Minute),
		most:      int64(connections),
		transport: d.pool(connections),
		grpc:      d.poolGRPC(connections),
	}
	for _, cred := range c.Credentials {
		u.credentials = append(u.credentials, prepare(cred))
	}
	return u, nil
}

func prepare(c Credential) credential {
	out := credential{header: c.header(), value: c.Value.Reveal(), passthrough: c.Passthrough}
	if c.OAuth2 != nil {
		out.tokens = newTokens(c.OAuth2)
	}
	return out
}

// Authorize sets the gateway's credentials on an outgoing header. Without a caller
// the call is the gateway's own: only credentials that depend on nobody are set. It
// may have to wait for a token, no longer than ctx.
func (u *Upstream) Authorize(ctx context.Context, out http.Header, caller *Caller) error {
	var in http.Header
	if caller != nil {
		in = caller.Header
	}
	for _, c := range u.credentials {
		switch {
		case c.passthrough:
			if v := in[c.header]; len(v) > 0 {
				out[c.header] = v[:1]
			}
		case c.tokens != nil:
			token, err := c.tokens.get(ctx)
			if err != nil {
				return fmt.Errorf("fetch upstream token: %w", err)
			}
			out.Set(c.header, "Bearer "+token)
		default:
			out.Set(c.header, c.value)
		}
	}
	return nil
}

// Passes reports whether the caller's header of this canonical name goes on.
func (u *Upstream) Passes(header string) bool {
	for _, c := range u.credentials {
		if c.passthrough && c.header == header {
			return true
		}
	}
	return false
}

// Timeout is how long an answer may take.
func (u *Upstream) Timeout() time.Duration { return u.answer }

// RoundTrip sends one request, once. Redirects are answers like any other. The
// one thing that net/http repeats by itself, on a new connection, is a request
// that an idle connection turned out not to take: a GET, which changes nothing,
// or anything else of which no byte was written. r must not have a GetBody: with
// one it would repeat more.
//
// A request whose Content-Type is gRPC's goes over HTTP/2 or fails. net/http does
// not know gRPC: the caller sets "Te: trailers", frames the messages, and reads
// the status from the answer's Trailer once its body has ended, or from the
// header where the agent had nothing but a status to say.
//
// A call beyond the limit is ErrBusy at once: a queue would make every caller
// wait for the slowest answers. The caller must close the answer's body.
func (u *Upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	if u.calls.Add(1) > u.most {
		u.calls.Add(-1)
		return nil, ErrBusy
	}
	transport := u.transport
	if isGRPC(r.Header) {
		transport = u.grpc
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		u.calls.Add(-1)
		return nil, err
	}
	resp.Body = &counted{ReadCloser: resp.Body, calls: &u.calls}
	return resp, nil
}

// counted is an answer's body that counts as a call in flight until it is closed.
type counted struct {
	io.ReadCloser
	calls  *atomic.Int64
	closed atomic.Bool
}

// Close may be called more than once: a relay closes bodies to stop reading.
func (c *counted) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.calls.Add(-1)
	}
	return c.ReadCloser.Close()
}

// Close drops idle connections; those in use end with their calls.
func (u *Upstream) Close() {
	u.transport.CloseIdleConnections()
	u.grpc.CloseIdleConnections()
	for _, c := range u.credentials {
		if c.tokens != nil {
			c.tokens.close()
		}
	}
}

// Client fetches documents from the agent (its card) over the same connections
// and with the gateway's own credentials. It follows redirects only within the
// origin that was asked.
func (u *Upstream) Client() *http.Client {
	return &http.Client{
		Transport: authorized{u},
		Timeout:   30 * time.Second,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if first := via[0].URL; r.URL.Scheme != first.Scheme || r.URL.Host != first.Host {
				return fmt.Errorf("redirect to another origin, %s", r.URL.Host)
			}
			if len(via) > 5 {
				return fmt.Errorf("more than %d redirects", len(via)-1)
			}
			return nil
		},
	}
}

// authorized adds the gateway's credentials to requests of its own.
type authorized struct{ u *Upstream }

// RoundTrip implements http.RoundTripper.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if err := a.u.Authorize(r.Context(), r.Header, nil); err != nil {
		return nil, err
	}
	return a.u.transport.RoundTrip(r)
}
