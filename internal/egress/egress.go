// Package egress is the one way out to addresses that callers, agents or cards name.
//
// Whoever may name an address for the gateway to call would reach with it whatever the gateway
// reaches (server-side request forgery, SSRF). So an address is checked twice. Check reads it when
// it is named: strictly, one spelling each, without asking DNS. Send reads it again, resolves it
// once, and judges the very addresses that it dials, so that a name that means something else by
// then gains nothing. A proxy of the operator's in between is told those addresses to connect to.
// Redirects are answers, not orders; no proxy of the environment stands between; of an answer's
// body 64 KiB are read.
//
//	https://hooks.example.com/x      a webhook's address, named by a caller
//	  Check                          scheme, port, host; no DNS: ErrRefused at once
//	  … later, an event …
//	  Send: Check again              the rules may have changed
//	  resolve                        203.0.113.9, once
//	  guard                          public, and none of a cloud's metadata addresses
//	  dial 203.0.113.9               the guard's Control sees the very address once more
//
// Between Check and dial the name may be made to mean 169.254.169.254 (DNS rebinding), which is
// why the check that counts is that of the address, at the moment of the connection.
//
// URIs judges what is only passed on, for others to fetch, by the same reading of what is
// written.
//
// Errors are of a closed set and name the host at most: paths and queries of webhooks are
// often secrets. The package imports nothing of ours.
package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Limits of one exchange. They are not configured: a webhook that needs more of any is
// not one that should be waited for.
const (
	maxURL     = 2 << 10
	maxAnswer  = 64 << 10
	maxHeader  = 64 << 10
	dnsTimeout = 3 * time.Second
	tcpTimeout = 5 * time.Second
	tlsTimeout = 5 * time.Second
	idleTime   = 30 * time.Second
	maxIdle    = 256
)

// Options say what is allowed. The zero value allows https on port 443 of every host
// that has a public address.
type Options struct {
	// AllowPrivate allows addresses that are not public, loopback included, but still
	// none by which clouds tell machines their secrets, and none that no server has.
	AllowPrivate bool
	// AllowHosts are the hosts that are allowed, as "hooks.example.com" or
	// "*.example.com", which is every name below example.com; none for all. What is
	// allowed here still needs a public address.
	AllowHosts []string
	// Ports that are allowed. None is 443, with Plaintext 80 as well, and with
	// AllowPrivate every port.
	Ports []uint16
	// Plaintext allows http.
	Plaintext bool
	// CA is a file with certificates that are trusted beside those of the system.
	CA string
	// Timeout of one exchange, from the name to the end of the answer; default 15s.
	Timeout time.Duration
	// PerHost is how many connections one host and port is sent; default 16.
	PerHost int
	// Resolver answers for names; nil for the system's.
	Resolver *net.Resolver
	// Proxy is on the way to some addresses; nil for none. It is asked to connect to addresses
	// that were judged, never to names.
	Proxy Proxy
}

// Proxy opens connections in our place. It must be safe for concurrent use.
type Proxy interface {
	// Serves reports whether host:port is reached through it.
	Serves(address string) bool
	// Connect connects to an address, host:port, through it.
	Connect(ctx context.Context, d net.Dialer, address string) (net.Conn, error)
}

// Client checks addresses and calls them. It is safe for concurrent use.
type Client struct {
	options   Options
	guard     *guard
	transport *http.Transport
}

// New makes a client. It reads the CA file.
func New(o Options) (*Client, error) {
	for i, host := range o.AllowHosts {
		if err := validPattern(host); err != nil {
			return nil, keypath.At(keypath.Point(err, i), "allow")
		}
	}
	if o.Timeout <= 0 {
		o.Timeout = 15 * time.Second
	}
	if o.PerHost <= 0 {
		o.PerHost = 16
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	roots, err := readRoots(o.CA)
	if err != nil {
		return nil, keypath.At(err, "ca")
	}
	c := &Client{options: o, guard: newGuard(o.AllowPrivate)}
	c.transport = &http.Transport{
		Proxy:                  nil, // it would resolve in our place, unchecked: see dial
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    tlsTimeout,
		ResponseHeaderTimeout:  o.Timeout,
		MaxResponseHeaderBytes: maxHeader,
		MaxConnsPerHost:        o.PerHost,
		MaxIdleConnsPerHost:    2,
		MaxIdleConns:           maxIdle,
		IdleConnTimeout:        idleTime,
		DisableCompression:     true, // what is thrown away need not be unpacked
	}
	return c, nil
}

// readRoots is nil for those of the system.
func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(path) //nolint:gosec // the operator's path
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a machine without any trusts what the file says
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificates in " + path)
	}
	return roots, nil
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // the first 64 KiB, or less where the answer broke off
}

// Send calls a target that was checked when it was named, and checks it again. Every
// status is an answer, redirects included. header is not changed. An error is an *Error.
func (c *Client) Send(ctx context.Context, method, target string, header http.Header, body []byte) (*Answer, error) {
	u, err := c.Check(target)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		for _, value := range values {
			if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
				return nil, refused(u.Hostname(), whyHeader)
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	answer, err := c.exchange(ctx, method, u, header, body)
	if err != nil {
		return nil, c.explain(ctx, u.Hostname(), err)
	}
	return answer, nil
}

// exchange goes below http.Client, which follows redirects and keeps cookies.
func (c *Client) exchange(ctx context.Context, method string, u *url.URL, header http.Header, body []byte) (*Answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	w, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Body.Close() }()
	// The status has arrived and stands, however the body ends.
	read, _ := io.ReadAll(io.LimitReader(w.Body, maxAnswer))
	return &Answer{Status: w.StatusCode, Header: w.Header, Body: read}, nil
}

// Close ends the connections that nobody uses.
func (c *Client) Close() { c.transport.CloseIdleConnections() }
