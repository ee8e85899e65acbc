package upstream

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// dialer opens connections to one agent. HTTP/1 connections are guarded; on
// HTTP/2 the framing says whose every byte is.
type dialer struct {
	net.Dialer // its Timeout is also that of the TLS handshake
	tls        *tls.Config
}

// dial connects in plaintext, over which HTTP/2 is not spoken here.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &guard{Conn: c}, nil
}

// dialTLS connects and shakes hands. net/http recognises a connection that
// speaks HTTP/2 by its being a *tls.Conn.
func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	plain, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
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
		return nil, fmt.Errorf("TLS handshake with %s: %w", address, err)
	}
	if c.ConnectionState().NegotiatedProtocol == "h2" {
		return c, nil
	}
	return &guard{Conn: c}, nil
}
