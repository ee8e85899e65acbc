// Package clientip finds the client's address of an HTTP request behind reverse proxies, from
// X-Forwarded-For as far as its writers are trusted.
//
// X-Forwarded-For is a list to which each proxy appends the address that it was called from:
//
//	client 203.0.113.7 → proxy 10.0.0.2 → proxy 10.0.0.1 → gateway
//	X-Forwarded-For: 198.51.100.1, 203.0.113.7, 10.0.0.2
//
// Its left end is the client's to write, as 198.51.100.1 is here. With 10.0.0.0/8 trusted
// (server.trustedProxies) the address is the last one outside of that: 203.0.113.7. It goes into
// records and log lines, and is what limits of callers without a name are counted by.
package clientip

import (
	"net/http"
	"net/netip"
	"strings"
)

// maxHops bounds how much of X-Forwarded-For is read. Nobody has more proxies
// of their own in a row.
const maxHops = 32

// Of is the address that a request is attributed to: the peer of the
// connection, or, when that is a trusted proxy, the right-most address in
// X-Forwarded-For that is not one (L4). Everything further left was written by
// somebody the gateway has no reason to believe. An entry that is no address
// ends the search at the proxy that passed it on. IPv4 in IPv6 form is IPv4;
// zones are dropped. It is the zero Addr where the connection has no IP address.
//
// Forwarded, X-Real-IP and their like are not read.
func Of(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	client := plain(peer.Addr())
	lines := r.Header["X-Forwarded-For"]
	for hops := 0; len(lines) > 0; lines = lines[:len(lines)-1] {
		list := lines[len(lines)-1]
		for more := true; more; hops++ {
			if hops == maxHops || !Contains(trusted, client) {
				return client
			}
			var entry string
			list, entry, more = cutLast(list)
			next, ok := parseHop(entry)
			if !ok {
				return client
			}
			client = next
		}
	}
	return client
}

// Text is addr as text: a part of remote, an address with a port, where that has it in
// the same form, as it nearly always does.
func Text(addr netip.Addr, remote string) string {
	var room [64]byte
	text := addr.AppendTo(room[:0])
	host := strings.Trim(remote[:max(strings.LastIndexByte(remote, ':'), 0)], "[]")
	if host == string(text) && host != "" {
		return host
	}
	if len(text) == 0 {
		return addr.String() // which says that it is none
	}
	return string(text)
}

// Proxied reports whether the peer of the connection is one of the trusted proxies.
func Proxied(r *http.Request, trusted []netip.Prefix) bool {
	if len(trusted) == 0 {
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && Contains(trusted, plain(peer.Addr()))
}

// cutLast splits a list at its last comma.
func cutLast(list string) (before, last string, more bool) {
	if i := strings.LastIndexByte(list, ','); i >= 0 {
		return list[:i], list[i+1:], true
	}
	return "", list, false
}

// parseHop reads an address as proxies write it: bare, or with a port, in which
// case IPv6 has brackets.
func parseHop(s string) (netip.Addr, bool) {
	s = strings.Trim(s, " \t")
	if addr, err := netip.ParseAddr(s); err == nil {
		return plain(addr), true
	}
	if pair, err := netip.ParseAddrPort(s); err == nil {
		return plain(pair.Addr()), true
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			addr, err := netip.ParseAddr(inner)
			return plain(addr), err == nil && addr.Is6()
		}
	}
	return netip.Addr{}, false
}

// plain is the one form in which addresses are compared and logged.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// Contains reports whether an address lies in one of some networks.
func Contains(networks []netip.Prefix, addr netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}
