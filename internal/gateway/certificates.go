package gateway

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/server/acme"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// certificatePurpose is what accounts, certificates and their keys are sealed for.
const certificatePurpose = "acme"

// certificates are what server.tls.acme asks for.
type certificates struct {
	keeper *acme.Keeper
	http   *http.Server // answers http-01; nil where it is not configured
}

// openCertificates begins to have certificates. The public listener is open by now: the
// first order's check may come before this returns.
func (g *Gateway) openCertificates(cfg *config.Config) error {
	wanted := section(cfg)
	if wanted == nil {
		return nil
	}
	o := acme.Options{
		Values:  state.Sealed(g.store, sealing{g.keys, certificatePurpose}),
		Provide: g.server.Provide, Ordered: g.ordered, Proxy: g.egress.For, Log: g.telemetry.Log,
	}
	o.Host, o.Port = g.server.Bound()
	c := &certificates{}
	var socket net.Listener
	if wanted.Answers(server.ChallengeHTTP) {
		var err error
		if socket, err = g.sockets.Listen(server.ChallengeSocket, wanted.HTTPListen); err != nil {
			return fmt.Errorf("server.tls.acme.httpListen: %w", err)
		}
		if addr, ok := socket.Addr().(*net.TCPAddr); ok {
			o.HTTPPort = addr.Port
		}
	}
	var err error
	if c.keeper, err = acme.Open(*wanted, o); err != nil {
		if socket != nil {
			_ = socket.Close()
		}
		return err
	}
	g.server.Answer(c.keeper.Answer)
	if socket != nil {
		c.serve(g, socket)
	}
	g.certificates = c
	return nil
}

// section is server.tls.acme, nil for none.
func section(cfg *config.Config) *server.ACME {
	if cfg.Server.TLS == nil {
		return nil
	}
	return cfg.Server.TLS.ACME
}

// serve answers http-01. A check is one small request, and needs no more.
func (c *certificates) serve(g *Gateway, socket net.Listener) {
	c.http = &http.Server{
		Handler: c.keeper, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second, MaxHeaderBytes: 4 << 10,
	}
	c.http.SetKeepAlivesEnabled(false)
	go func() {
		if err := c.http.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
			g.telemetry.Log.Error("listener of server.tls.acme.httpListen", "error", err)
		}
	}()
}

// configure goes over to another configuration. The server has refused one that adds or
// removes the section.
func (c *certificates) configure(cfg *config.Config) error {
	if c == nil {
		return nil
	}
	return c.keeper.Configure(*section(cfg))
}

func (c *certificates) close() {
	if c == nil {
		return
	}
	if c.http != nil {
		_ = c.http.Close()
	}
	c.keeper.Close()
}

// status is how the names are doing.
func (c *certificates) status() []acme.Status {
	if c == nil {
		return nil
	}
	return c.keeper.Status()
}

// details has a line a name for /readyz?verbose.
func (c *certificates) details() []string {
	var lines []string
	for _, s := range c.status() {
		why := "not there yet"
		if s.Err != nil {
			why = strings.ReplaceAll(s.Err.Error(), "\n", "; ")
		}
		if !s.NotAfter.IsZero() {
			why = "renewal: " + why + "; the one that is served ends at " + s.NotAfter.UTC().Format(time.RFC3339)
		}
		lines = append(lines, line("certificate "+s.Domain, s.Err != nil || s.NotAfter.IsZero(), why))
	}
	return lines
}

// domains is the same for metrics.
func (c *certificates) domains() []telemetry.Domain {
	var list []telemetry.Domain
	for _, s := range c.status() {
		list = append(list, telemetry.Domain{Name: s.Domain, End: s.NotAfter, Failing: s.Err != nil})
	}
	return list
}

// ordered counts an order, and has what was issued on record.
func (g *Gateway) ordered(domain string, leaf *x509.Certificate, err error) {
	g.telemetry.Metrics.Ordered(domain, err)
	if err != nil {
		return
	}
	attrs := map[string]string{
		"domain": domain, "issuer": leaf.Issuer.CommonName, "serial": leaf.SerialNumber.Text(16),
		"not_after": leaf.NotAfter.UTC().Format(time.RFC3339),
	}
	if err := g.audit.Event("certificate.issued", attrs); err != nil {
		g.telemetry.Log.Error("write audit event", "error", err)
	}
}
