// Package certificates has the gateway's certificates issued by a CA, by ACME (RFC 8555), as
// server.tls.acme asks for: it answers the CA's checks, hands what is issued to the public
// listener, and puts it on record.
//
// It ties parts together and decides nothing by itself: internal/server/acme orders and renews,
// internal/server shows what is issued in handshakes and answers tls-alpn-01 there, and a small
// plaintext listener of this package answers http-01 (RFC 8555 §8.3) where that is configured.
// Certificates and the account's key lie in the state, sealed, for all replicas. Without
// server.tls.acme every method does nothing.
package certificates

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/server/acme"
	"github.com/a2a-gateway/a2a-gateway/internal/server/sockets"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/status"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// Options are what certificates depend on.
type Options struct {
	Values    state.Values // sealed: accounts and private keys are among them
	Server    *server.Server
	Sockets   *sockets.Set
	Egress    *tunnel.Proxy
	Telemetry *telemetry.Telemetry
	Audit     *audit.Log
}

// Certificates are what server.tls.acme asks for; none without it.
type Certificates struct {
	Options

	keeper *acme.Keeper // nil without server.tls.acme
	http   *http.Server // answers http-01; nil where it is not configured
}

// New makes the part; Open begins to have certificates.
func New(o Options) *Certificates { return &Certificates{Options: o} }

// Open begins to have certificates. The public listener is open by now: the
// first order's check may come before this returns.
func (c *Certificates) Open(cfg *server.Config) error {
	wanted := Section(cfg)
	if wanted == nil {
		return nil
	}
	o := acme.Options{
		Values: c.Values, Provide: c.Server.Provide, Ordered: c.ordered, Proxy: c.Egress.For, Log: c.Telemetry.Log,
	}
	// Where the CA's handshakes arrive: the orders are told, as that need not be port 443, which
	// something in front may pass on.
	o.Host, o.Port = c.Server.Bound()
	var socket net.Listener
	if wanted.Answers(server.ChallengeHTTP) {
		var err error
		if socket, err = c.Sockets.Listen(sockets.Challenge, wanted.HTTPListen); err != nil {
			return fmt.Errorf("server.tls.acme.httpListen: %w", err)
		}
		if addr, ok := socket.Addr().(*net.TCPAddr); ok {
			o.HTTPPort = addr.Port
		}
	}
	// Certificates that the state has are with the server when this returns.
	keeper, err := acme.Open(*wanted, o)
	if err != nil {
		// Nobody would answer on it.
		if socket != nil {
			_ = socket.Close()
		}
		return err
	}
	c.keeper = keeper
	c.Server.Answer(keeper.Answer)
	if socket != nil {
		c.serve(socket)
	}
	return nil
}

// Section is server.tls.acme, nil for none.
func Section(cfg *server.Config) *server.ACME {
	if cfg.TLS == nil {
		return nil
	}
	return cfg.TLS.ACME
}

// serve answers http-01. A check is one small request, and needs no more.
func (c *Certificates) serve(socket net.Listener) {
	c.http = &http.Server{
		Handler: c.keeper, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second, MaxHeaderBytes: 4 << 10,
	}
	// A CA asks once; idle connections of others would take descriptors.
	c.http.SetKeepAlivesEnabled(false)
	go func() {
		if err := c.http.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
			c.Telemetry.Log.Error("listener of server.tls.acme.httpListen", "error", err)
		}
	}()
}

// Configure goes over to another configuration. The server has refused one that adds or
// removes the section.
func (c *Certificates) Configure(cfg *server.Config) error {
	if c.keeper == nil {
		return nil
	}
	return c.keeper.Configure(*Section(cfg))
}

// Close ends what Open began.
func (c *Certificates) Close() {
	if c.keeper == nil {
		return
	}
	if c.http != nil {
		_ = c.http.Close()
	}
	c.keeper.Close()
}

// Status is how the names are doing.
func (c *Certificates) Status() []acme.Status {
	if c.keeper == nil {
		return nil
	}
	return c.keeper.Status()
}

// Details has a line a name for /readyz?verbose.
func (c *Certificates) Details() []string {
	var lines []string
	for _, s := range c.Status() {
		why := "not there yet"
		if s.Err != nil {
			// A line a name: what a CA has said may have several.
			why = strings.ReplaceAll(s.Err.Error(), "\n", "; ")
		}
		if !s.NotAfter.IsZero() {
			why = "renewal: " + why + "; the one that is served ends at " + s.NotAfter.UTC().Format(time.RFC3339)
		}
		lines = append(lines, status.Line("certificate "+s.Domain, s.Err != nil || s.NotAfter.IsZero(), why))
	}
	return lines
}

// Domains is the same for metrics.
func (c *Certificates) Domains() []metrics.Domain {
	var list []metrics.Domain
	for _, s := range c.Status() {
		list = append(list, metrics.Domain{Name: s.Domain, End: s.NotAfter, Failing: s.Err != nil})
	}
	return list
}

// ordered counts an order, and has what was issued on record.
func (c *Certificates) ordered(domain string, leaf *x509.Certificate, err error) {
	c.Telemetry.Metrics.Gateway.Ordered(domain, err)
	if err != nil {
		return
	}
	attrs := map[string]string{
		"domain": domain, "issuer": leaf.Issuer.CommonName, "serial": leaf.SerialNumber.Text(16),
		"not_after": leaf.NotAfter.UTC().Format(time.RFC3339),
	}
	// The order has succeeded all the same, and is not undone for a record.
	if err := c.Audit.Event("certificate.issued", attrs); err != nil {
		c.Telemetry.Log.Error("write audit event", "error", err)
	}
}
