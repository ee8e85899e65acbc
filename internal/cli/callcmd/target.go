package callcmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/findcard"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// target is an agent whose card has been read.
type target struct {
	card   *card.Card
	id     string // at a gateway; "" where it was named by a URL
	base   *url.URL
	skill  string
	path   bool             // base has the skill in it
	over   []card.Interface // that may be called, at the URLs to call
	barred []card.Interface // at other origins
	shown  credential
	show   *shown // adds it to requests
	plain  *http.Transport
}

// connectTimeout is how long a connection may take, its handshake included.
const connectTimeout = 10 * time.Second

// find reads the card of the agent.
func (p *place) find(ctx context.Context, who credential, skill string) (*target, error) {
	base, err := p.base(skill)
	if err != nil {
		return nil, verb.Usage(err)
	}
	roots, err := p.roots()
	if err != nil {
		return nil, verb.Usage(err)
	}
	way := tunnel.Config{Proxy: secret.URL(p.proxy)}
	if err := way.Validate(); err != nil {
		return nil, verb.Usage(fmt.Errorf("--%w", err)) // it begins with "proxy"
	}
	egress, err := tunnel.New(way)
	if err != nil {
		return nil, verb.Usage(err)
	}
	t := &target{base: base, skill: skill, shown: who, plain: &http.Transport{
		DialContext: egress.Dialer(connectTimeout), ForceAttemptHTTP2: true, TLSHandshakeTimeout: connectTimeout,
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}
	t.show = &shown{credential: who, origin: originOf(base), keyHeader: apiKeyHeader, next: t.plain}
	client := &http.Client{Transport: t.show}
	var at secret.URL
	if p.byID() {
		t.id, t.path = p.named, skill != ""
		at = secret.URL(base.JoinPath(".well-known", "agent-card.json").String())
		t.card, err = card.Fetch(ctx, client, at, 0)
	} else {
		var found findcard.Found
		found, err = findcard.Find(ctx, client, p.named)
		t.card, at = found.Card, found.At
	}
	if err != nil {
		if err = t.noCard(ctx, client, err); err != nil {
			return nil, err
		}
		t.card = &card.Card{} // the agent is there, and shows no card (card.visibility: none)
	}
	if t.show.keyHeader, err = keyHeaderOf(t.card); err != nil && !who.value.IsZero() && !who.token {
		return nil, verb.Failed(err)
	}
	t.interfaces(at, p.endpoints)
	return t, nil
}

// interfaces finds out where the agent is called. Behind a gateway that is where its card was
// found, as the URLs in the card are for clients that may have another way to it. Elsewhere the
// card says it, within the origin that it came from and those that the caller listed.
func (t *target) interfaces(at secret.URL, listed []string) {
	if t.id == "" {
		t.over, t.barred = t.card.Endpoints(at, listed)
		// The caller has written the path itself, at another name of the same server.
		for _, i := range t.barred {
			if u, err := url.Parse(i.URL); err == nil && i.Binding != wire.GRPC && strings.TrimSuffix(u.Path, "/") == t.base.Path {
				i.URL = t.base.String()
				t.over = append(t.over, i)
			}
		}
		return
	}
	for _, i := range t.card.Interfaces {
		t.over = append(t.over, t.atGateway(i.Version, i.Binding))
	}
}

// atGateway is the agent at its gateway in a version and binding. gRPC has no path to name the
// agent by: the tenant does.
func (t *target) atGateway(v wire.Version, b wire.Binding) card.Interface {
	i := card.Interface{URL: t.base.String(), Version: v, Binding: b}
	if b == wire.GRPC {
		if i.URL, i.Tenant = t.base.Scheme+"://"+t.base.Host, t.id; t.path {
			i.Tenant += "/skills/" + t.skill
		}
	}
	return i
}

// side is what --version and --binding say; a zero member is for the card to choose.
func (a *asked) side() (s wire.Side, err error) {
	var ok bool
	if a.version != "" {
		if s.Version, ok = wire.ParseVersion(a.version); !ok {
			return s, fmt.Errorf("--version: %q is no version of A2A: 1.0, 0.3 or 0.1", a.version)
		}
	}
	if a.binding != "" {
		if s.Binding, ok = wire.ParseBinding(a.binding); !ok {
			return s, fmt.Errorf("--binding: %q is none of A2A's: JSONRPC, HTTP+JSON or GRPC", a.binding)
		}
	}
	return s, nil
}

// pick is the interface to call: one that fits what was asked for, of the newest version, in the
// card's order. gRPC is taken where nothing else is there, as proxies on the way may not let it
// pass. A gateway answers in versions and bindings that its cards do not name.
func (t *target) pick(want wire.Side) (card.Interface, error) {
	fits := slices.DeleteFunc(slices.Clone(t.over), func(i card.Interface) bool {
		return want.Version != "" && i.Version != want.Version || want.Binding != 0 && i.Binding != want.Binding
	})
	if len(fits) > 0 {
		return slices.MinFunc(fits, func(a, b card.Interface) int {
			if a.Version != b.Version {
				return strings.Compare(string(b.Version), string(a.Version))
			}
			return int(a.Binding/wire.GRPC) - int(b.Binding/wire.GRPC)
		}), nil
	}
	if t.id != "" {
		s := wire.Side{Version: wire.V10, Binding: wire.JSONRPC}
		if want.Version != "" {
			s.Version = want.Version
		}
		if want.Binding != 0 {
			s.Binding = want.Binding
		}
		return t.atGateway(s.Version, s.Binding), nil
	}
	return card.Interface{}, t.nothingFits()
}

// nothingFits says what the card has, and why that is not called.
func (t *target) nothingFits() error {
	if len(t.over) == 0 && len(t.barred) > 0 {
		u := secret.URL(t.barred[0].URL)
		return verb.Failed(fmt.Errorf("the card sends callers to %s, another origin than its own: --endpoint %s allows that", u, u))
	}
	var has []string
	for _, i := range t.over {
		has = append(has, string(i.Version)+" "+i.Binding.String())
	}
	if len(has) == 0 {
		return verb.Failed(errors.New("the card names no interface that can be called"))
	}
	return verb.Usage(fmt.Errorf("the agent does not offer that: its card has %s", strings.Join(has, ", ")))
}

// client is a client for the interface that was picked.
func (t *target) client(want wire.Side, extensions []string) (*client, error) {
	i, err := t.pick(want)
	if err != nil {
		return nil, err
	}
	u, err := secret.URL(i.URL).Parse()
	if err != nil {
		return nil, verb.Failed(fmt.Errorf("the card's URL: %w", err))
	}
	// An origin that the caller listed may be shown the credential too; without --endpoint it is
	// the one of before.
	t.show.origin = originOf(u)
	way := t.plain
	if i.Binding == wire.GRPC && u.Scheme == "http" {
		way = way.Clone()
		way.Protocols = new(http.Protocols)
		way.Protocols.SetUnencryptedHTTP2(true)
	}
	t.show.next = way
	return &client{at: i, url: u, extensions: extensions, http: &http.Client{
		Transport:     t.show,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}
