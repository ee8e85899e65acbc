package agents

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// ClaimHosts notes in taken, by host, the id of the agent that has it, each as it is written
// and, where it is written without a port, also with public's, under which clients get it.
// What another agent has already is an error. A host of the gateway's own may be claimed:
// what is not the gateway's there is then the agent's.
func (c Config) ClaimHosts(public *url.URL, taken map[string]string) error {
	for i, host := range c.Hosts {
		for _, h := range []string{host, WithPort(public, host)} {
			canonical, ok := hostname.Canonical(h)
			if !ok {
				return keypath.At(keypath.Point(fmt.Errorf("%q is not a host name", h), i), "hosts")
			}
			if by, known := taken[canonical]; known && by != c.ID {
				return keypath.At(keypath.Point(fmt.Errorf("%q is used twice", h), i), "hosts")
			}
			taken[canonical] = c.ID
		}
	}
	return nil
}

// WithPort adds public's port to a host that has none.
func WithPort(public *url.URL, host string) string {
	if port := public.Port(); port != "" && (&url.URL{Host: host}).Port() == "" {
		return strings.TrimSuffix(host, ":") + ":" + port
	}
	return host
}
