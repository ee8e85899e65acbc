package egress

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Check reads an address that somebody names, such as a webhook: it is where SSRF (CWE-918) is refused by
// the address alone, and dial.go where it is by what DNS says. It refuses what is not allowed, and every
// spelling that two readers could understand in two ways: the host is plain ASCII without
// a dot at its end, an IPv4 address has four decimal numbers, an IPv6 address no zone and
// no IPv4 inside. It asks no DNS. An error is an *Error.
func (c *Client) Check(target string) (*url.URL, error) {
	if len(target) > maxURL {
		return nil, refused("", whyLength)
	}
	// Before url.Parse, which takes spaces and backslashes in places where others end the host.
	if strings.IndexFunc(target, notInURL) >= 0 {
		return nil, refused("", whyMalformed)
	}
	u, err := url.Parse(target)
	if err != nil || u.Opaque != "" || u.Host == "" {
		return nil, refused("", whyMalformed)
	}
	host := u.Hostname()
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !c.options.Plaintext):
		return nil, refused(host, whyScheme)
	case u.User != nil:
		return nil, refused(host, whyUser)
	case strings.Contains(target, "#"):
		return nil, refused(host, whyFragment)
	}
	if !c.allowsPort(u) {
		return nil, refused(host, whyPort)
	}
	if why := c.judgeHost(u); why != "" {
		return nil, refused(host, why)
	}
	return u, nil
}

// notInURL is about everything that RFC 3986 has no place for: white space and control
// characters, backslashes, quotes, and what is not ASCII.
func notInURL(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("-._~:/?#[]@!$&'()*+,;=%", r)
}

// allowsPort also refuses an empty port and one with zeros in front.
func (c *Client) allowsPort(u *url.URL) bool {
	text := u.Port()
	if text == "" {
		if strings.HasSuffix(u.Host, ":") {
			return false
		}
		text = "443"
		if u.Scheme == "http" {
			text = "80"
		}
	}
	port, err := strconv.ParseUint(text, 10, 16)
	// "0443" is 443 to some and an error to others.
	if err != nil || port == 0 || strconv.FormatUint(port, 10) != text {
		return false
	}
	o := &c.options
	if len(o.Ports) == 0 {
		return o.AllowPrivate || port == 443 || port == 80 && o.Plaintext
	}
	return slices.Contains(o.Ports, uint16(port))
}

// judgeHost says why a host is not allowed; "" if it is.
func (c *Client) judgeHost(u *url.URL) Why {
	host := strings.ToLower(u.Hostname())
	if strings.HasPrefix(u.Host, "[") {
		ip, err := netip.ParseAddr(host)
		if err != nil || ip.Zone() != "" || ip.Is4() {
			return whyMalformed
		}
		return c.judgeAddress(host, ip)
	}
	if endsInNumber(host) {
		ip, err := netip.ParseAddr(host) // four decimal numbers without zeros in front
		if err != nil {
			return whyMalformed
		}
		return c.judgeAddress(host, ip)
	}
	if !isName(host) {
		return whyMalformed
	}
	if !c.listed(host) {
		return whyHost
	}
	if !c.options.AllowPrivate && isLocal(host) {
		return whyAddress
	}
	return ""
}

// judgeAddress says why a host that is an address is not allowed.
func (c *Client) judgeAddress(host string, ip netip.Addr) Why {
	if !c.listed(host) {
		return whyHost
	}
	if !c.guard.permits(ip) {
		return whyAddress
	}
	return ""
}

// endsInNumber reports what some resolvers take for an IPv4 address: a host whose last
// part is a number, in decimal, octal or hexadecimal.
func endsInNumber(host string) bool {
	// inet_aton takes 2130706433, 0x7f.1 and 017700000001 for 127.0.0.1.
	host = strings.TrimRight(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if digits, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// isName reports a name of DNS in lower case, also one with the underscores that some
// have: 253 bytes in labels of 1 to 63.
func isName(host string) bool {
	if len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// local are the names that are somebody's own network: those that are reserved for it
// (RFC 6761, 6762, 8375, 9476; .internal by ICANN), and those that are in use for it.
var local = []string{
	"localhost", "localdomain", "localdomain6", "local", "internal", "intranet", "private", "corp", "home", "lan",
	"home.arpa", "default", "svc", "consul", "test", "invalid", "onion", "alt", "arpa",
}

// isLocal is true of names without a dot as well, which search lists complete.
func isLocal(host string) bool {
	return !strings.Contains(host, ".") || slices.ContainsFunc(local, func(zone string) bool {
		return strings.HasSuffix(host, "."+zone)
	})
}

// listed reports whether egress hosts are restricted and this one is among them, or are not.
func (c *Client) listed(host string) bool {
	return len(c.options.AllowHosts) == 0 || slices.ContainsFunc(c.options.AllowHosts, func(pattern string) bool {
		pattern = strings.ToLower(pattern)
		if below, ok := strings.CutPrefix(pattern, "*"); ok {
			return strings.HasSuffix(host, below) && len(host) > len(below)
		}
		return host == pattern
	})
}

// validPattern accepts what listed compares: a name, "*." and a name, or an address.
func validPattern(pattern string) error {
	host := strings.ToLower(pattern)
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	if name := strings.TrimPrefix(host, "*."); !isName(name) || endsInNumber(name) {
		return fmt.Errorf("%q is neither a host nor one of its names as in *.example.com", pattern)
	}
	return nil
}
