package server

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/server/clientip"
)

// addressed reports whether a request names the host that its connection was opened
// for, by SNI; another is a misdirected request, 421 (RFC 9110 §7.4, L24): whoever looked at the handshake alone, a firewall or
// the owner of the certificate, was told of that one. A client that uses one connection
// for several hosts, as HTTP/2 lets it, repeats the call on another (§15.5.20).
//
// An address is a host like any other: a client that connects to one and says no name, as
// RFC 6066 §3 has it, is heard, and one that has said a name is not heard about an address.
// Nothing is compared without SNI: then nobody was told of another host. Neither are requests
// of trusted proxies: they name themselves in the handshake what they call this gateway, and
// speak for many clients at once.
func (s *Server) addressed(r *http.Request) bool {
	if r.TLS == nil || r.TLS.ServerName == "" {
		return true
	}
	host, _, ok := hostname.Split(r.Host)
	if !ok || host == "" || strings.EqualFold(host, r.TLS.ServerName) {
		return true // a Host that cannot be one is refused by package screen, in its words
	}
	return sameAddress(host, r.TLS.ServerName) || s.proxied(r)
}

// proxied reports whether the peer of the connection is a trusted proxy.
func (s *Server) proxied(r *http.Request) bool { return clientip.Proxied(r, s.live.Load().trusted) }

// sameAddress reports whether a host is the address that a client has said in its handshake,
// where only names belong, however the two are written.
func sameAddress(host, said string) bool {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return false
	}
	b, err := netip.ParseAddr(strings.Trim(said, "[]"))
	return err == nil && a == b
}
