package egress

import (
	"context"
	"net"
	"net/netip"
	"strconv"
)

// maxAddresses bounds how many addresses of a name are tried.
const maxAddresses = 4

// dial resolves a host once and connects to one of its addresses. A name that has any
// address that is not allowed is refused whole: it is either an attack, or two networks
// under one name, of which chance would pick.
func (c *Client) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, err
	}
	addresses, err := c.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, ip := range addresses {
		if !c.guard.permits(ip) {
			return nil, errAddress
		}
	}
	d := net.Dialer{Timeout: tcpTimeout, Control: c.guard.control}
	// Half for the first, so that there is time for another.
	if len(addresses) > 1 {
		d.Timeout /= 2
	}
	var conn net.Conn
	for _, ip := range addresses[:min(len(addresses), maxAddresses)] {
		conn, err = c.dialTo(ctx, d, address, netip.AddrPortFrom(ip, uint16(port)).String())
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return conn, err
}

// dialTo connects to one address of a host that was judged, through the proxy unless that is
// not for the host, or not for the address. The proxy itself is the operator's, and may be
// anywhere.
func (c *Client) dialTo(ctx context.Context, d net.Dialer, host, address string) (net.Conn, error) {
	if p := c.options.Proxy; p != nil && p.Serves(host) && p.Serves(address) {
		d.Control = nil
		return p.Connect(ctx, d, address)
	}
	return d.DialContext(ctx, "tcp", address)
}

// resolve asks for the addresses of a host, the one to try first in front. What is
// IPv4 is said as IPv4.
func (c *Client) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
	defer cancel()
	addresses, err := c.options.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, &unresolved{err}
	}
	if len(addresses) == 0 {
		return nil, &unresolved{net.UnknownNetworkError("none")}
	}
	for i, ip := range addresses {
		addresses[i] = ip.Unmap() // resolvers put IPv4 so; literals of the kind Check has refused
	}
	return addresses, nil
}
