package server

import (
	"net/http"
	"net/netip"
	"strings"
)

// addressed reports whether a request names the host that its connection was opened
// for (RFC 9110 §7.4, L24): whoever looked at the handshake alone, a firewall or
// the owner of the certificate, was told of that one. A client that uses one connection
// for several hosts, as HTTP/2 lets it, repeats the call on another (§15.5.20).
//
// Nothing is compared where the handshake or the request names no host: without SNI,
// or with an address. Neither are requests of trusted proxies: they name themselves
// in the handshake what they call this gateway, and speak for many clients at once.
func (s *Server) addressed(r *http.Request) bool {
	if r.TLS == nil || r.TLS.ServerName == "" {
		return true
	}
	host, _, ok := splitHost(r.Host)
	if !ok || strings.EqualFold(host, r.TLS.ServerName) {
		return true // a Host that cannot be one is refused by Screen, in its words
	}
	return isAddress(host) || isAddress(r.TLS.ServerName) || s.proxied(r)
}

// proxied reports whether the peer of the connection is a trusted proxy.
func (s *Server) proxied(r *http.Request) bool { return Proxied(r, s.live.Load().trusted) }

// isAddress reports whether a host, brackets included, is an address or none at all.
func isAddress(host string) bool {
	if host == "" || host[0] == '[' {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}
