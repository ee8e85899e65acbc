// Package upstream reaches agents: one set of connections per agent for every
// binding, the credentials the gateway shows there, and nothing of what is said.
//
// It owns transport settings and outgoing credentials. It does not choose
// methods, read bodies or write responses, and it never sends a call twice: a
// send may have had its effect even when no answer came. It may import
// internal/secret, authn and below.
package upstream

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Upstream is one agent's connections and credentials. It is safe for concurrent use.
type Upstream struct {
	transport   *http.Transport
	grpc        *http.Transport // the same over HTTP/2 alone
	files       *material       // of TLS
	credentials []credential
	shown       []string // what Shown returns
	end         func()   // ends the fetching of tokens
	answer      time.Duration
	calls       atomic.Int64 // in flight, streams included
	most        int64        // of them
}

// ErrBusy says that as many calls are in flight to the agent as `connections`
// permits. Nothing was sent.
var ErrBusy = errors.New("agents[].connections: as many calls are in flight as the limit permits")

// New prepares an agent's connections. Files named in c are read now, so that a
// missing one is an error of the configuration and not of a call.
func New(c Config, o Options) (*Upstream, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	files, err := newMaterial(c.TLS, o.Log)
	if err != nil {
		return nil, err
	}
	connections := c.Connections
	if connections <= 0 {
		connections = 4096
	}
	connect := orDefault(c.Connect, 5*time.Second)
	d := dialer{net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}, files}
	u := &Upstream{
		files:     files,
		answer:    orDefault(c.Answer, 5*time.Minute),
		most:      int64(connections),
		transport: d.pool(connections),
		grpc:      d.poolGRPC(connections),
	}
	u.credentials, u.end = prepare(c.Credentials, o)
	u.shown = u.ShownTo(nil)
	return u, nil
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

// Close drops idle connections; those in use end with their calls. Tokens that are being
// fetched are given up.
func (u *Upstream) Close() {
	u.transport.CloseIdleConnections()
	u.grpc.CloseIdleConnections()
	u.end()
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
