package initfile

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// elsewhere finds out where an agent is whose card names only other origins than the one that the
// card came from: in a container an agent often names itself as nobody outside can reach it. The
// gateway sends nothing to another origin unless the operator vouches for it (agents[].endpoints),
// as a card could otherwise have it send credentials anywhere. Three guesses are tried, in this
// order:
//
//   - where the card says: then endpoints is written, with a note
//   - the paths of the card at the origin that it came from
//   - the ports of the card at the host that it came from
//
// One of the last two that answers is written under interfaces. Where none does, endpoints has
// what the card says, and the file is Doubtful: the operator has to look at it.
func (b *beginning) elsewhere(ctx context.Context, c *card.Card, refused []card.Interface, up *upstream.Upstream) error {
	from, err := secret.URL(b.CardURL).Parse()
	if err != nil {
		return verb.Failed(err)
	}
	named := origins(refused)
	// As the gateway would use them if endpoints named their origins.
	there, _ := c.Endpoints(secret.URL(b.CardURL), named)
	at := tried(ctx, there, up)
	b.Found = at.texts
	sends, came := verb.Cell(strings.Join(named, ", ")), from.Scheme+"://"+from.Host
	if at.answers {
		b.Origins, b.Old = named, there[at.first].Version != wire.V10
		b.Notes = append(b.Notes, fmt.Sprintf("the card came from %s and sends callers to %s, where an agent answers: that is written under endpoints, since only you can vouch for it", came, sends))
		return nil
	}
	// The same origin first: a proxy in front of the agent is where its other paths are, too.
	for _, here := range [][]card.Interface{sameOrigin(refused, from), samePort(refused, from)} {
		at := tried(ctx, here, up)
		if at.answers {
			b.Interfaces, b.Old = here, here[at.first].Version != wire.V10
			b.Found = append(b.Found, at.texts...)
			b.Notes = append(b.Notes, fmt.Sprintf("the card sends callers to %s, where no agent answers from here; one answers at %s, on the host that the card came from: "+
				"that is written under interfaces", sends, secret.URL(here[at.first].URL)))
			return nil
		}
	}
	b.Origins, b.Doubtful = named, true
	b.Old = len(there) > 0 && there[0].Version != wire.V10
	b.Notes = append(b.Notes, fmt.Sprintf("the card sends callers to %s, where no agent answers from here, and none answers at %s, which the card came from: "+
		"correct endpoints, or write interfaces in its place, with the address that the agent has", sends, came))
	return nil
}

// sameOrigin are interfaces at their own paths of the origin that the card came from.
func sameOrigin(of []card.Interface, from *url.URL) (list []card.Interface) {
	for _, i := range of {
		u, err := url.Parse(spelled(i.URL))
		if err != nil {
			continue
		}
		list = moved(list, i, &url.URL{Scheme: from.Scheme, Host: from.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery})
	}
	return list
}

// samePort are interfaces at their own ports of the host that the card came from, for an agent
// that names itself by a container's name but with the port that is published.
func samePort(of []card.Interface, from *url.URL) (list []card.Interface) {
	for _, i := range of {
		u, err := url.Parse(spelled(i.URL))
		if err != nil || u.Port() == "" || u.Port() == from.Port() {
			continue
		}
		if u.Scheme = strings.Replace(u.Scheme, "grpc", "http", 1); u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		u.Host = net.JoinHostPort(from.Hostname(), u.Port())
		list = moved(list, i, &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery})
	}
	return list
}

// moved adds an interface at another address, once. One of gRPC has no path.
func moved(list []card.Interface, i card.Interface, to *url.URL) []card.Interface {
	if i.Binding == wire.GRPC {
		to.Path, to.RawPath, to.RawQuery = "", "", ""
	}
	if i.URL = to.String(); slices.Contains(list, i) {
		return list
	}
	return append(list, i)
}

// spelled is an interface's URL with a scheme. One of gRPC may be host:port alone, which A2A
// allows; TLS is assumed for it.
func spelled(raw string) string {
	if strings.Contains(raw, "://") || strings.HasPrefix(raw, "/") {
		return raw
	}
	return "grpcs://" + raw
}
