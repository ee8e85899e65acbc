package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// maxNamed bounds a URI that is passed on: those that are signed for a while are longer
// than addresses of webhooks.
const maxNamed = 8 << 10

// hosted are schemes whose authority is a host of the network, so that a name without a
// dot is one of the reader's own. What stands there in others (a bucket, an account) is
// theirs to make sense of.
var hosted = []string{"http", "https", "ws", "wss", "ftp", "ftps", "sftp"}

// metadata are names by which clouds tell machines their secrets, and which no server has
// that is meant for others.
var metadata = []string{"metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.azure.internal", "metadata.tencentyun.com"}

// spelt are zones of the public DNS in which every name is an address that the name spells,
// or this machine. They are some of the known ones: others can be made at any time.
var spelt = []string{"nip.io", "sslip.io", "xip.io", "traefik.me", "localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "local.gd"}

// URIs judges addresses that the gateway passes on, and that others will fetch. It goes
// by what is written alone: nobody here resolves the name, and what it resolves to where it is
// fetched may be something else. It is safe for concurrent use.
type URIs struct {
	schemes []string
	hosts   []string
	private bool
	guard   *guard
}

// NewURIs makes one. Without hosts there is no list; a host that a pattern other than "*"
// lists is allowed whatever it is, since somebody wrote it down.
func NewURIs(schemes, hosts []string, private bool) (*URIs, error) {
	u := &URIs{private: private, guard: newGuard(private)}
	var errs []error
	for i, s := range schemes {
		if !isScheme(s) {
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("%q is none, such as https", s), i), "schemes"))
		}
		u.schemes = append(u.schemes, strings.ToLower(s))
	}
	for i, h := range hosts {
		if h != "*" {
			if err := validPattern(h); err != nil {
				errs = append(errs, keypath.At(keypath.Point(err, i), "hosts"))
			}
		}
		u.hosts = append(u.hosts, canonical(strings.ToLower(h)))
	}
	return u, errors.Join(errs...)
}

// Judge says why a URI may not be passed on; "" if it may. host is what it leads to as far
// as that can be read.
func (u *URIs) Judge(uri string) (host string, why Why) {
	if len(uri) > maxNamed {
		return "", whyLength
	}
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || !isScheme(scheme) || strings.ContainsFunc(uri, isControl) {
		return "", whyMalformed
	}
	scheme = strings.ToLower(scheme)
	if !slices.Contains(u.schemes, scheme) {
		return "", whyScheme
	}
	rest, ok = strings.CutPrefix(rest, "//")
	if !ok || authorityOf(rest) == "" {
		return "", u.local(scheme)
	}
	authority := authorityOf(rest)
	// Readers of old take what follows a host without a path for a user's name too.
	if after := rest[len(authority):]; strings.Contains(authority, "@") || !strings.HasPrefix(after, "/") && strings.Contains(after, "@") {
		return "", whyUser
	}
	host, ok = withoutPort(authority)
	if !ok {
		return "", whyMalformed
	}
	return host, u.judge(scheme, host, strings.HasPrefix(authority, "["))
}

// local judges a URI without an authority: http has no such, and among those that others
// have none is on a list.
func (u *URIs) local(scheme string) Why {
	switch {
	case slices.Contains(hosted, scheme):
		return whyMalformed
	case len(u.hosts) > 0 && !slices.Contains(u.hosts, "*"):
		return whyHost
	}
	return ""
}

// judge judges a host in lower case.
func (u *URIs) judge(scheme, host string, six bool) Why {
	ip, err := netip.ParseAddr(host) // four decimal numbers without zeros in front, or IPv6
	address := err == nil && ip.Zone() == "" && ip.Is6() == six
	switch {
	case !address && (six || endsInNumber(host) || !isName(host)):
		return whyMalformed
	case u.lists(canonical(host)):
		return ""
	case len(u.hosts) > 0 && !slices.Contains(u.hosts, "*"):
		return whyHost
	case address && !u.guard.permits(ip):
		return whyAddress
	case !address && slices.Contains(metadata, host):
		return whyAddress
	case address || u.private:
		return ""
	case under(spelt, host):
		return whyAddress
	case !strings.Contains(host, ".") && host != "localhost" && !slices.Contains(hosted, scheme):
		return ""
	case isLocal(host):
		return whyAddress
	}
	return ""
}

// lists reports whether somebody wrote the host down.
func (u *URIs) lists(host string) bool {
	return slices.ContainsFunc(u.hosts, func(pattern string) bool {
		below, wild := strings.CutPrefix(pattern, "*")
		return !wild && host == pattern || wild && below != "" && strings.HasSuffix(host, below) && len(host) > len(below)
	})
}

// canonical is the one spelling of an address, and a name as it is.
func canonical(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.String()
	}
	return host
}

// under reports whether a host is one of the zones, or in one.
func under(zones []string, host string) bool {
	return slices.ContainsFunc(zones, func(zone string) bool {
		return host == zone || strings.HasSuffix(host, "."+zone)
	})
}

// isScheme is RFC 3986 §3.1.
func isScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		other := '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return s != ""
}

// isControl is about what some readers leave out, and then read another URI.
func isControl(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 }

// authorityOf is what stands before the path, the query or the fragment. Browsers end it
// at a backslash too; here that is in it, where no host has one.
func authorityOf(rest string) string {
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		return rest[:end]
	}
	return rest
}

// withoutPort is the host of an authority in lower case, without brackets. What is not
// ASCII is refused before it is lower-cased, which makes a k of the Kelvin sign; an empty
// port and one with zeros in front are none.
func withoutPort(authority string) (host string, ok bool) {
	if strings.ContainsFunc(authority, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", false
	}
	host = authority
	if end := strings.LastIndexByte(authority, ':'); end > strings.LastIndexByte(authority, ']') {
		port := authority[end+1:]
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return "", false
		}
		host = authority[:end]
	}
	if inner, six := strings.CutPrefix(host, "["); six {
		inner, closed := strings.CutSuffix(inner, "]")
		return strings.ToLower(inner), closed
	}
	return strings.ToLower(host), host != ""
}
