package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"
)

// Options says how a pool gets its connections and how many it keeps.
type Options struct {
	// Dial connects in plaintext, and DialTLS for https, where the handshake offers
	// "h2" and "http/1.1".
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	DialTLS func(ctx context.Context, network, address string) (*tls.Conn, error)

	// Other has every request that is not for this package. New makes its DialTLSContext
	// take over connections on which HTTP/2 was agreed. Its MaxIdleConnsPerHost,
	// IdleConnTimeout and MaxResponseHeaderBytes, which must be set, hold here too.
	Other *http.Transport
}

// Pool is an http.RoundTripper. It is safe for concurrent use.
//
// The lock is held for a few instructions for each request; nothing waits, reads or closes under
// it, but for the peek of sweepIdle. Connections in use are not known to the pool.
type Pool struct {
	Options

	mu    sync.Mutex
	hosts map[origin]*host
	shut  bool        // no connection is kept, until the next request
	sweep *time.Timer // nil while nothing is idle
}

// origin is where requests go, as their URLs say it.
type origin struct{ scheme, host string }

// host is what is known of an origin.
type host struct {
	idle   []*conn     // the longest idle first
	http2  bool        // TLS agreed on it
	handed []*tls.Conn // on which it did, and which Other has not taken yet
}

// New makes a pool.
//
// o.Other is changed: its DialTLSContext asks the pool first for a connection on which HTTP/2 was
// agreed, which would be lost otherwise.
func New(o Options) *Pool {
	p := &Pool{Options: o, hosts: map[origin]*host{}}
	dial := o.Other.DialTLSContext
	o.Other.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if c := p.take(address); c != nil {
			return c, nil
		}
		return dial(ctx, network, address)
	}
	return p
}

// ErrNotSent is about a request of which no byte has reached a connection. Errors of
// Options.Dial and DialTLS, after which that is so too, are returned as they are.
var ErrNotSent = errors.New("nothing of the request was sent")

// errHTTP2 says that a connection is not for this package.
var errHTTP2 = errors.New("the agent speaks HTTP/2")

// RoundTrip implements http.RoundTripper. The request's body is read before anything is
// written if it is short, by another goroutine while the answer is waited for if it is
// not, and closed in any case.
//
// A request is tried twice at most, the second time on a new connection. The request's body was
// read into the message by then, so that nothing is asked of its owner again.
func (p *Pool) RoundTrip(r *http.Request) (*http.Response, error) {
	if !usual(r) {
		return p.Other.RoundTrip(r)
	}
	ctx, at := r.Context(), origin{r.URL.Scheme, r.URL.Host}
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.GetConn != nil {
		trace.GetConn(at.host)
	}
	var m *message
	handed := false // to net/http, which closes the body itself, maybe later
	defer func() {
		if !handed {
			m.done(r)
		}
	}()
	for again := false; ; again = true {
		c, err := p.connect(ctx, at, again)
		if err == nil && m == nil {
			if m, err = compose(r); err != nil {
				p.keep(c)
			}
		}
		switch {
		case errors.Is(err, errHTTP2) && m == nil:
			handed = true
			return p.secondVersion(r, at)
		case errors.Is(err, errHTTP2): // since the last attempt, and the body has been read
			return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
		case err != nil:
			return nil, err
		}
		if trace != nil && trace.GotConn != nil {
			trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn, Reused: c.used, WasIdle: c.used})
		}
		a := &answer{pool: p, conn: c, ctx: ctx, trace: trace}
		resp, err := a.exchange(r, m)
		if err == nil || again || !a.mayRepeat(r, err) {
			return resp, err
		}
	}
}

// connect returns an idle connection, or a new one. After one that has failed it does not
// try its luck with another that has been idle as well.
//
// Its error is errHTTP2 where TLS has agreed on HTTP/2, the cause where the request has ended,
// and else what dialling came to, which is returned unwrapped so that proxy/upstream can tell
// from it that nothing was sent.
func (p *Pool) connect(ctx context.Context, at origin, fresh bool) (*conn, error) {
	for !fresh {
		c, http2 := p.idle(at)
		switch {
		case http2:
			return nil, errHTTP2
		case c == nil:
			fresh = true
		case c.quiet():
			c.used = true
			return c, nil
		default:
			c.close()
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if at.scheme == "http" {
		nc, err := p.Dial(ctx, "tcp", address(at))
		if err != nil {
			return nil, dialled(ctx, err)
		}
		return newConn(nc, at), nil
	}
	tc, err := p.DialTLS(ctx, "tcp", address(at))
	if err != nil {
		return nil, dialled(ctx, err)
	}
	if tc.ConnectionState().NegotiatedProtocol == "h2" {
		p.hand(at, tc)
		return nil, errHTTP2
	}
	return newConn(tc, at), nil
}

// dialled is why there is no connection, for which the end of the request comes first.
func dialled(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// address is host and port of an origin.
func address(at origin) string {
	u := url.URL{Host: at.host}
	port := u.Port()
	switch {
	case port != "":
	case at.scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// idle takes the connection that was used last, or says that HTTP/2 is spoken there.
//
// Last in, first out: with few calls the rest ages until it is swept, instead of all being kept
// half alive.
func (p *Pool) idle(at origin) (_ *conn, http2 bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = false
	h := p.hosts[at]
	if h == nil {
		return nil, false
	}
	n := len(h.idle) - 1
	if n < 0 {
		return nil, h.http2
	}
	c := h.idle[n]
	h.idle[n], h.idle = nil, h.idle[:n]
	return c, false
}

// keep has a connection wait for its next request.
//
// It closes the connection where there are MaxIdleConnsPerHost already, or the pool was shut.
func (p *Pool) keep(c *conn) {
	c.idleSince = time.Now()
	p.mu.Lock()
	h := p.at(c.origin)
	full := p.shut || len(h.idle) >= p.Other.MaxIdleConnsPerHost
	if !full {
		h.idle = append(h.idle, c)
		if p.sweep == nil {
			p.sweep = time.AfterFunc(p.interval(), p.sweepIdle)
		}
	}
	p.mu.Unlock()
	if full {
		c.close()
	}
}

// at is what is known of an origin. The lock is held.
func (p *Pool) at(o origin) *host {
	h := p.hosts[o]
	if h == nil {
		h = new(host)
		p.hosts[o] = h
	}
	return h
}

// CloseIdleConnections closes what nobody uses. What is in use is closed when it is done
// with, unless requests come before that.
func (p *Pool) CloseIdleConnections() {
	p.mu.Lock()
	p.shut = true
	all := p.hosts
	p.hosts = map[origin]*host{}
	if p.sweep != nil {
		p.sweep.Stop()
		p.sweep = nil
	}
	p.mu.Unlock()
	for _, h := range all {
		for _, c := range h.idle {
			c.close()
		}
		for _, c := range h.handed {
			_ = c.Close() // nobody has written to it
		}
	}
	p.Other.CloseIdleConnections()
}
