// Package tunnel opens connections through the HTTP proxy that the operator names.
//
// Everything goes by CONNECT, whatever is spoken then: TLS, HTTP/2, plain HTTP. So what a
// connection may be used for does not depend on there being a proxy, and a proxy sees
// nothing of what is encrypted. No environment variable has a say.
//
// A connection to agent.example:443 by way of proxy.example:3128 begins with (RFC 9110 §9.3.6)
//
//	CONNECT agent.example:443 HTTP/1.1
//	Host: agent.example:443
//	User-Agent: a2a-gateway
//	Proxy-Authorization: Basic …            where the proxy's URL has a user
//
//	HTTP/1.1 200 OK
//
// after which the bytes are the agent's. The name goes to the proxy unresolved, which may know
// names that this machine does not. noProxy is judged by host and port, before anything is sent.
// It may import internal/secret.
package tunnel

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Proxy is how connections leave: through an HTTP proxy, or directly, as with the nil one. What
// has one may be told of another by Take. It is safe for concurrent use.
type Proxy struct{ server atomic.Pointer[server] }

// server is an HTTP proxy.
type server struct {
	url        *url.URL                         // as configured, credentials included
	address    string                           // host:port
	tls        *tls.Config                      // toward the proxy itself; nil for http://
	credential string                           // of Proxy-Authorization; "" for none
	which      func(*url.URL) (*url.URL, error) // nil where noProxy has the address
}

// New makes a Proxy ready to use. It reads the CA file.
func New(c Config) (*Proxy, error) {
	p := new(Proxy)
	if c.off() {
		return p, nil
	}
	u, err := c.url()
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	s := &server{url: u, address: addressOf(u)}
	if u.Scheme == "https" {
		roots, err := readRoots(c.CA)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		s.tls = &tls.Config{RootCAs: roots, ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		s.credential = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	// Scheme and user are of no interest to it: it judges addresses.
	rules := httpproxy.Config{HTTPSProxy: "http://" + s.address, NoProxy: strings.Join(c.NoProxy, ",")}
	s.which = rules.ProxyFunc()
	p.server.Store(s)
	return p, nil
}

// Take has new connections made as another Proxy makes them.
func (p *Proxy) Take(other *Proxy) { p.server.Store(other.current()) }

// current is nil where there is no proxy.
func (p *Proxy) current() *server {
	if p == nil {
		return nil
	}
	return p.server.Load()
}

// addressOf is host and port of a proxy.
func addressOf(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Serves reports whether an address, host:port, is reached through the proxy.
func (p *Proxy) Serves(address string) bool { return p.current().serves(address) }

// serves asks the rules of noProxy. The scheme is always the same, as all schemes go through one proxy.
func (s *server) serves(address string) bool {
	if s == nil {
		return false
	}
	via, err := s.which(&url.URL{Scheme: "https", Host: address})
	return err == nil && via != nil
}

// For is the proxy of a request for libraries that open connections themselves, nil for
// none, as http.Transport has it.
func (p *Proxy) For(r *http.Request) (*url.URL, error) {
	s, port := p.current(), r.URL.Port()
	switch {
	case port != "":
	case r.URL.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	if !s.serves(net.JoinHostPort(r.URL.Hostname(), port)) {
		return nil, nil //nolint:nilnil // as http.Transport has it
	}
	return s.url, nil
}

// Dialer opens connections as a net.Dialer does, through the proxy where that serves the
// address. A connection takes timeout at most, the proxy's answer included.
func (p *Proxy) Dialer(timeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return p.Dial(ctx, d, network, address)
	}
}

// Dial is what Dialer returns, for one address by a dialer of the caller's. The dialer's
// Timeout bounds both together, the connection to the proxy and its answer.
func (p *Proxy) Dial(ctx context.Context, d net.Dialer, network, address string) (net.Conn, error) {
	if s := p.current(); s.serves(address) {
		return s.connect(ctx, d, address)
	}
	return d.DialContext(ctx, network, address)
}

// Connect opens a connection to an address, host:port, through the proxy, whether NoProxy
// has the address or not, as long as there is one. An error is an *Error, or why the context
// was cancelled.
func (p *Proxy) Connect(ctx context.Context, d net.Dialer, address string) (net.Conn, error) {
	if s := p.current(); s != nil {
		return s.connect(ctx, d, address)
	}
	return d.DialContext(ctx, "tcp", address)
}
