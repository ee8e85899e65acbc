package gateway

import (
	"context"
	"net"
	"net/url"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// reachTimeout ends the attempt to connect to one address.
const reachTimeout = 2 * time.Second

// checkReachable finds out whether calls have somewhere to go, right after the card was
// fetched: with its origin there is a connection then, and with others one is tried, over
// which nothing is sent. It is asked for the status of the agent only: calls are made
// whatever it says. Names of several origins in a card are alternatives, so that one which
// can be reached is enough.
func checkReachable(a *agents.Config, c *card.Card, up *upstream.Upstream) {
	usable, _ := a.Usable(c)
	if len(usable) == 0 || len(a.Load.Instances) > 0 { // whose instances are checked
		return
	}
	own := hostPort(a.Card.URL)
	for _, i := range usable {
		at := hostPort(secret.URL(i.URL))
		if at == own || connects(up, at) {
			up.Looked(true)
			return
		}
	}
	up.Looked(false)
}

// connects reports whether a connection to an address comes about within reachTimeout.
func connects(up *upstream.Upstream, address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), reachTimeout)
	defer cancel()
	return up.Connects(ctx, address)
}

// hostPort is what is connected to. It is "" where the URL cannot be parsed, which is no
// address that could be reached.
func hostPort(at secret.URL) string {
	u, err := at.Parse()
	if err != nil {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), port(u))
}

// port is the port of a URL: its own, or the default of its scheme (443 for https, else
// 80).
func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
