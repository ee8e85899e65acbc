package config

import (
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// checkOffer holds what an agent's served card is to offer against what the listener takes. A card
// that offers gRPC alone, on a listener without HTTP/2 or below a path, would have no address that a
// client can call.
func (c *Config) checkOffer(public *url.URL, a *agents.Config) error {
	return a.Card.CheckOffer(c.Server.GRPC(), len(a.Hosts) > 0 && !shares(public, a.Hosts[0]), strings.Trim(public.Path, "/") != "")
}

// shares reports whether a host of an agent's is the gateway's own.
// A host with the port of the public URL and one without are the same, as browsers and clients
// leave out the default one.
func shares(public *url.URL, host string) bool {
	own, _ := hostname.Canonical(public.Host)
	its, _ := hostname.Canonical(host)
	bare, _ := hostname.Canonical(public.Hostname())
	return its == own || its == bare
}
