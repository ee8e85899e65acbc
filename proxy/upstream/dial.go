package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/a2a-gateway/a2a-gateway/internal/tcpio"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// dialer opens connections to one agent. HTTP/1 connections for net/http are guarded;
// http1 looks for itself, and on HTTP/2 the framing says whose every byte is.
type dialer struct {
	net.Dialer // its Timeout is also that of the TLS handshake
	tls        *material
	egress     *tunnel.Proxy
	instance   string // that is dialled in the place of any address; "" for none
}

// connect opens a connection.
//
// Its errors are wrapped as unreached, by which it is known that nothing was sent.
func (d *dialer) connect(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.egress.Dial(ctx, d.Dialer, network, d.dialAt(address))
	if err != nil {
		return nil, unreached{err}
	}
	return tcpio.Of(c), nil
}

// dial connects in plaintext, over which only gRPC speaks HTTP/2.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &guard{Conn: c}, nil
}

// dialTLS connects and shakes hands. net/http recognises a connection that
// speaks HTTP/2 by its being a *tls.Conn.
func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.handshake(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if c.ConnectionState().NegotiatedProtocol == "h2" {
		return c, nil
	}
	return &guard{Conn: c}, nil
}

// errNotHTTP2 is about the agent's TLS settings, or about a load balancer in
// front of it that ends TLS and knows HTTP/1.1 only.
var errNotHTTP2 = errors.New("the agent's TLS does not agree on HTTP/2, which gRPC needs")

// dialHTTP2 is dialTLS for gRPC. HTTP/1.1 is offered all the same: an agent that
// has nothing else then says so, instead of ending the handshake with an alert.
func (d *dialer) dialHTTP2(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.handshake(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if c.ConnectionState().NegotiatedProtocol != "h2" {
		_ = c.Close()
		return nil, unreached{fmt.Errorf("connect to %s: %w", address, errNotHTTP2)}
	}
	return c, nil
}

// handshake connects and agrees on keys, certificates and a protocol. The certificate
// has to be for the URL's host, whichever instance shows it.
func (d *dialer) handshake(ctx context.Context, network, address string) (*tls.Conn, error) {
	plain, err := d.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.current().Clone()
	config.NextProtos = []string{"h2", "http/1.1"}
	if config.ServerName == "" {
		if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
			_ = plain.Close()
			return nil, err
		}
	}
	c := tls.Client(plain, config)
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	if err := c.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, unreached{fmt.Errorf("TLS handshake with %s: %w", address, err)}
	}
	return c, nil
}
