package card

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// readInterfaces collects the ways to reach the agent from both generations of
// members, since a mixed card may have either half.
func readInterfaces(top object) []Interface {
	var list []Interface
	for _, v := range elements(top.find("supportedInterfaces")) {
		list = add(list, newInterface(members(v), top))
	}
	if len(list) == 0 || isMixed(top) {
		list = addLegacy(list, top)
	}
	return list
}

// Predates reports whether the card states a protocol version ("0.2.6" or "0.3")
// older than version, for what wire.Version does not tell apart. It is false
// where the card states none.
func (c *Card) Predates(version string) bool {
	return c.Protocol != "" && slices.Compare(numbers(c.Protocol), numbers(version)) < 0
}

// numbers reads up to three dot-separated numbers, absent ones as 0.
func numbers(version string) []int {
	out := make([]int, 3)
	for n, part := range strings.SplitN(version, ".", len(out)) {
		out[n], _ = strconv.Atoi(part) // a part that is no number is left 0
	}
	return out
}

// newInterface reads an entry of supportedInterfaces. An entry without a version
// takes the card's, where pre-release agents of 1.0 kept it, else 1.0, the
// version that brought the list.
func newInterface(entry, top object) Interface {
	binding := entry.text("protocolBinding")
	if binding == "" {
		binding = entry.text("transport") // 0.3's word, seen in mixed cards
	}
	i := Interface{URL: entry.text("url"), Tenant: entry.text("tenant")}
	i.Binding, _ = wire.ParseBinding(binding)
	version := entry.text("protocolVersion")
	if version == "" {
		version = top.text("protocolVersion")
	}
	if version == "" {
		version = string(wire.V10)
	}
	i.Version, _ = wire.ParseVersion(version)
	return i
}

// isMixed reports whether a card with supportedInterfaces also speaks 0.3 at the
// top level. A left-over url alone does not count.
func isMixed(top object) bool {
	v, ok := wire.ParseVersion(top.text("protocolVersion"))
	return ok && v == wire.V03 && top.text("protocolVersion") != ""
}

// addLegacy reads url, preferredTransport and additionalInterfaces.
func addLegacy(list []Interface, top object) []Interface {
	version := legacyVersion(top)
	preferred := top.text("preferredTransport")
	if preferred == "" {
		preferred = wire.JSONRPC.String() // A2A 0.3 §5.5
	}
	main := Interface{URL: top.text("url"), Version: version}
	main.Binding, _ = wire.ParseBinding(preferred)
	list = add(list, main)
	for _, v := range elements(top.find("additionalInterfaces")) {
		entry := members(v)
		i := Interface{URL: entry.text("url"), Version: version}
		i.Binding, _ = wire.ParseBinding(entry.text("transport"))
		list = add(list, i)
	}
	return list
}

// legacyVersion settles the version of a card without supportedInterfaces. A
// card that has 0.1's authentication and nothing that came later is 0.1; the
// messages of 0.2 are those of 0.3.
func legacyVersion(top object) wire.Version {
	if s := top.text("protocolVersion"); s != "" {
		v, _ := wire.ParseVersion(s)
		return v
	}
	for _, later := range [...]string{
		"preferredTransport", "additionalInterfaces", "supportsAuthenticatedExtendedCard",
		"securitySchemes", "security",
	} {
		if top.find(later) != nil {
			return wire.V03
		}
	}
	if top.find("authentication") != nil {
		return wire.V01
	}
	return wire.V03
}

// add appends i unless it is a repeat or something nobody here can speak: a
// custom binding, an unreleased version, 0.1 over anything but JSON-RPC, no URL.
func add(list []Interface, i Interface) []Interface {
	if i.URL == "" || i.Binding == 0 || i.Version == "" || slices.Contains(list, i) ||
		i.Version == wire.V01 && i.Binding != wire.JSONRPC {
		return list
	}
	return append(list, i)
}

// Endpoints says which of the card's interfaces may be called: those with the
// origin (scheme, host and port) of cardURL, or of one of the URLs that the
// operator listed, where grpc and grpcs are http and https. The others are
// refused, because a card could otherwise send the gateway, with its
// credentials, to any address it likes. An interface that is not plain http or
// https, or carries userinfo or a fragment, is refused too.
//
// A GRPC interface may be written host:port, and is usable under the scheme that
// is trusted there, https before http. In usable its URL is that origin; a path
// is refused, since the paths of gRPC are its own.
func (c *Card) Endpoints(cardURL secret.URL, listed []string) (usable, refused []Interface) {
	trusted := make([]string, 0, 1+len(listed))
	for _, u := range append([]string{cardURL.Reveal()}, listed...) {
		if o := origin(plainScheme(u)); o != "" {
			trusted = append(trusted, o)
		}
	}
	for _, i := range c.Interfaces {
		where, ok := trustedURL(i, trusted)
		if !ok {
			refused = append(refused, i)
			continue
		}
		i.URL = where
		usable = add(usable, i) // two spellings of one address are one interface
	}
	return usable, refused
}

// trustedURL is where i is called, if that may be.
func trustedURL(i Interface, trusted []string) (string, bool) {
	if i.Binding != wire.GRPC {
		o := origin(i.URL)
		return i.URL, o != "" && isBare(i.URL) && slices.Contains(trusted, o)
	}
	spellings := []string{plainScheme(i.URL)}
	if !strings.Contains(i.URL, "//") {
		spellings = []string{"https://" + i.URL, "http://" + i.URL}
	}
	for _, raw := range spellings {
		o := origin(raw)
		if o == "" || !isBare(raw) || !slices.Contains(trusted, o) {
			continue
		}
		u, err := url.Parse(raw)
		if err == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" {
			return o, true
		}
	}
	return "", false
}

// isBare reports whether a URL has neither userinfo nor a fragment.
func isBare(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && u.Fragment == ""
}

// plainScheme writes gRPC's unofficial schemes as the ones they stand for.
func plainScheme(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	switch {
	case ok && strings.EqualFold(scheme, "grpc"):
		return "http://" + rest
	case ok && strings.EqualFold(scheme, "grpcs"):
		return "https://" + rest
	}
	return raw
}

// origin reduces an http(s) URL to scheme://host:port in lower case with the
// port always present, or to "" when it is no such URL.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	switch {
	case scheme != "http" && scheme != "https":
		return ""
	case port == "" && scheme == "http":
		port = "80"
	case port == "":
		port = "443"
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return scheme + "://" + net.JoinHostPort(host, port)
}
