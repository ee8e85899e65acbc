package egress

import (
	"net/netip"
	"slices"
	"sync"
	"syscall"

	"code.dny.dev/ssrf"
)

// never are addresses that no webhook has, whatever is allowed: those by which clouds
// tell machines who they are and what they may do, and those of no single server. One of
// them is public.
var never = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"),     // link-local, and metadata of most clouds
	netip.MustParsePrefix("100.100.100.200/32"), // metadata of Alibaba Cloud
	netip.MustParsePrefix("168.63.129.16/32"),   // platform of Azure
	netip.MustParsePrefix("192.0.0.192/32"),     // metadata of Oracle Cloud
	netip.MustParsePrefix("224.0.0.0/4"),        // multicast
	netip.MustParsePrefix("240.0.0.0/4"),        // reserved, and broadcast
	netip.MustParsePrefix("::/128"),
	netip.MustParsePrefix("fe80::/10"),        // link-local
	netip.MustParsePrefix("fec0::/10"),        // site-local, of old
	netip.MustParsePrefix("ff00::/8"),         // multicast
	netip.MustParsePrefix("fd00:ec2::/32"),    // metadata of AWS
	netip.MustParsePrefix("fd20:ce::254/128"), // metadata of Google Cloud
	netip.MustParsePrefix("fd00:42::42/128"),  // metadata of Scaleway
	netip.MustParsePrefix("fd00:c1::/32"),     // metadata of Oracle Cloud
	netip.MustParsePrefix("::ffff:0:0/96"),    // IPv4 in the clothes of IPv6
	netip.MustParsePrefix("::/96"),            // the same, of old; ::1 is taken out
	netip.MustParsePrefix("::ffff:0:0:0/96"),  // the same, translated
	netip.MustParsePrefix("64:ff9b::/96"),     // NAT64: whatever IPv4 address it means
	netip.MustParsePrefix("64:ff9b:1::/48"),   // NAT64 of one's own
	netip.MustParsePrefix("2002::/16"),        // 6to4
	netip.MustParsePrefix("2001::/32"),        // Teredo
	netip.MustParsePrefix("2001:20::/28"),     // names of hosts, not addresses (ORCHIDv2)
	netip.MustParsePrefix("100::/64"),         // discarded
}

// public judges whether addresses are those of the internet. It is a kilobyte, for all.
var public = sync.OnceValue(func() *ssrf.Guardian { return ssrf.New(ssrf.WithAnyPort()) }) // Check has judged the port

// guard judges addresses.
type guard struct {
	allowPrivate bool
	public       *ssrf.Guardian
}

// newGuard is a guard that takes private addresses too, or public ones only.
func newGuard(allowPrivate bool) *guard {
	return &guard{allowPrivate, public()}
}

// permits reports whether an address may be connected to. never stands above allowPrivate: a gateway in a
// private network may call its neighbours, and not the service that hands out its credentials.
func (g *guard) permits(ip netip.Addr) bool {
	if ip.Zone() != "" {
		return false // prefixes do not contain addresses with a zone
	}
	// ::/96 has it, and would refuse it where loopback is allowed.
	if ip == netip.IPv6Loopback() {
		return g.allowPrivate
	}
	if tunnels(ip) || slices.ContainsFunc(never, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return false
	}
	return g.allowPrivate || g.public.SafeAddr(ip) == nil
}

// tunnels reports an interface identifier of ISATAP (RFC 5214 §6.1), which has an IPv4
// address at its end below any prefix.
func tunnels(ip netip.Addr) bool {
	b := ip.As16()
	return ip.Is6() && b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// control is the last word: it sees the address that the system is about to connect to.
func (g *guard) control(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" || !g.permits(to.Addr()) {
		return errAddress
	}
	return nil
}
