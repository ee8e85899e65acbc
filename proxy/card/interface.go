package card

import (
	"net"
	"net/url"
	"slices"
	"strings"

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
// custom binding, an unreleased version, no URL.
func add(list []Interface, i Interface) []Interface {
	if i.URL == "" || i.Binding == 0 || i.Version == "" || slices.Contains(list, i) {
		return list
	}
	return append(list, i)
}

// Endpoints says which of the card's interfaces may be called: those with the
// origin (scheme, host and port) of cardURL, or of one of the URLs that the
// operator listed. The others are refused, because a card could otherwise send
// the gateway, with its credentials, to any address it likes. An interface that
// is not plain http or https, or carries userinfo or a fragment, is refused too;
// a GRPC one may be written host:port.
func (c *Card) Endpoints(cardURL string, listed []string) (usable, refused []Interface) {
	trusted := make([]string, 0, 1+len(listed))
	for _, u := range append([]string{cardURL}, listed...) {
		if o := origin(u); o != "" {
			trusted = append(trusted, o)
		}
	}
	for _, i := range c.Interfaces {
		if isTrusted(i, trusted) {
			usable = append(usable, i)
		} else {
			refused = append(refused, i)
		}
	}
	return usable, refused
}

func isTrusted(i Interface, trusted []string) bool {
	u, err := url.Parse(i.URL)
	if err == nil && (u.User != nil || u.Fragment != "") {
		return false
	}
	if o := origin(i.URL); o != "" {
		return slices.Contains(trusted, o)
	}
	if i.Binding != wire.GRPC || strings.ContainsAny(i.URL, "/@#?") {
		return false
	}
	return slices.ContainsFunc(trusted, func(o string) bool {
		_, host, _ := strings.Cut(o, "://")
		return host == strings.ToLower(i.URL)
	})
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
