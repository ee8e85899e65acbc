package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Trials makes calls at the gateway's own public listener, as somebody who is elsewhere
// would.
type Trials struct {
	Current *snapshot.Current
	Server  *server.Server
}

// trialID is the JSON-RPC id of such calls.
const trialID = `"try"`

// trial is a call that is to be made.
type trial struct {
	*trials.Attempt
	side   wire.Side
	offers []wire.Side // of the agent's card
	keys   string      // header for API keys
	public *url.URL
	prefix string // of paths at the public listener
	host   string // of the agent's own

	call  wire.Call // as JSON-RPC of its version has it
	known bool      // call could be read
	verb  string
	path  string // escaped, with its query
	body  []byte

	message []byte // of gRPC, in JSON
}

func amiss(member, text string, args ...any) error {
	return trials.AttemptInvalid{Member: member, Err: fmt.Errorf(text, args...)}
}

// Try implements trials.Trials.
func (t Trials) Try(ctx context.Context, a *trials.Attempt, most int64) (*trials.Trial, error) {
	c := trial{Attempt: a}
	if err := t.settle(&c); err != nil {
		return nil, err
	}
	if err := c.compose(); err != nil {
		return nil, err
	}
	r, err := c.request(ctx)
	if err != nil {
		return nil, err
	}
	seen := t.send(&c, r, most)
	var docs [][]byte
	if c.side.Binding == wire.GRPC {
		seen.describe(r, c.body)
		docs = seen.unframe(&c)
	} else {
		docs = documents(&seen)
	}
	shown := c.shown(&seen)
	shown.Command = c.clean([]byte(c.command(r)))
	shown.Forms = c.forms(docs)
	return shown, nil
}

// settle reads what the attempt names.
func (t Trials) settle(c *trial) error {
	s := t.Current.Acquire()
	if s == nil {
		return snapshot.ErrClosed
	}
	defer s.Release()
	m := s.Agents[c.Agent]
	if m == nil {
		return amiss("agent", "there is no agent %q", c.Agent)
	}
	if card := m.Agent.Source.Current(); card != nil {
		for _, i := range m.Config.Offers(card) {
			c.offers = append(c.offers, wire.Side{Version: i.Version, Binding: i.Binding})
		}
	}
	c.public, c.prefix, c.keys = s.Public, s.Config.Server.PathPrefix(), s.Config.Authn.APIKeys.HeaderName()
	c.host = c.hostOf(m.Config.Hosts)
	if c.APIKey != "" && c.keys == "" {
		return amiss("apiKey", "the gateway takes none (authn.apiKeys)")
	}
	var ok bool
	if c.side.Version, ok = wire.ParseVersion(c.Version); !ok || c.Version == "" {
		return amiss("version", "want 1.0, 0.3 or 0.1")
	}
	if c.side.Binding, ok = wire.ParseBinding(c.Binding); !ok || c.Binding == "" {
		return amiss("binding", "want JSONRPC, HTTP+JSON or GRPC")
	}
	if c.side.Version == wire.V01 && c.side.Binding != wire.JSONRPC {
		return amiss("binding", "A2A 0.1 has JSONRPC alone")
	}
	if c.side.Binding == wire.GRPC && !s.Config.Server.GRPC() {
		return amiss("binding", "the gateway serves no gRPC")
	}
	return nil
}

// compose makes the request's verb, path and body.
func (c *trial) compose() error {
	m, ok := wire.ByName(wire.V10, c.Method)
	if !ok {
		return amiss("method", "A2A has no %q", c.Method)
	}
	name := map[wire.Version]string{wire.V10: m.Name, wire.V03: m.V03, wire.V01: m.V01}[c.side.Version]
	if name == "" {
		return amiss("method", "A2A %s has no %s", c.side.Version, m.Name)
	}
	params := c.Params
	if len(params) == 0 {
		params = jsontext.Value("{}")
	}
	c.body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, trialID, name, params)
	c.verb = http.MethodPost
	wrong := c.call.DecodeJSONRPC(c.body, c.side.Version, wire.Limits{})
	c.known = wrong == nil
	if c.side.Binding == wire.JSONRPC {
		return nil // what is wrong with it is for the public listener to say
	}
	if !c.known {
		return amiss("params", "they make no request: %s", wrong.Message)
	}
	if c.side.Binding == wire.GRPC {
		return c.composeGRPC()
	}
	out, wrong := c.retold(c.side)
	if wrong != nil {
		return amiss("params", "they make no request: %s", wrong.Message)
	}
	c.verb, c.path, c.body = out.Verb, below(&out), out.Body
	return nil
}

// request is what is sent.
func (c *trial) request(ctx context.Context) (*http.Request, error) {
	at, host := c.prefix+"/agents/"+url.PathEscape(c.Agent), c.public.Host
	if c.Skill != "" {
		at += "/skills/" + url.PathEscape(c.Skill)
	}
	if c.path == "" {
		at += "/" // as clients are given the agent's base URL
	}
	if c.side.Binding == wire.GRPC {
		at, host = "", cmp.Or(c.host, host)
	}
	r, err := http.NewRequestWithContext(ctx, c.verb, c.public.Scheme+"://"+host+at+c.path, strings.NewReader(string(c.body)))
	if err != nil {
		return nil, amiss("agent", "it makes no URL")
	}
	h := r.Header
	h.Set("A2A-Version", string(c.side.Version))
	h.Set("User-Agent", "a2a-gateway-console")
	if len(c.body) > 0 {
		h.Set("Content-Type", "application/json")
	}
	switch {
	case c.side.Binding == wire.GRPC:
		h.Set("Content-Type", "application/grpc")
		h.Set("Te", "trailers")
	case c.streams():
		h.Set("Accept", "text/event-stream")
	default:
		h.Set("Accept", "application/json")
	}
	if len(c.Extensions) > 0 {
		h.Set(c.extensions(), strings.Join(c.Extensions, ", "))
	}
	switch {
	case c.APIKey != "":
		h.Set(c.keys, c.APIKey)
	case c.Bearer != "":
		h.Set("Authorization", "Bearer "+c.Bearer)
	}
	for name, values := range h {
		if slices.ContainsFunc(values, func(v string) bool { return strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) }) {
			return nil, amiss(memberOf(name), "want printable ASCII")
		}
	}
	return r, nil
}

// memberOf is the member of an attempt that a header comes of.
func memberOf(header string) string {
	switch header {
	case "Authorization":
		return "bearer"
	case ext.HeaderV10, ext.HeaderV03:
		return "extensions"
	}
	return "apiKey"
}

func (c *trial) streams() bool { return c.known && c.call.Streaming }

// extensions is the header that the version has for them.
func (c *trial) extensions() string {
	if c.side.Version == wire.V10 {
		return ext.HeaderV10
	}
	return ext.HeaderV03
}

// clean is text without the credential.
func (c *trial) clean(text []byte) string {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	if secret := cmp.Or(c.APIKey, c.Bearer); secret != "" {
		s = strings.ReplaceAll(s, secret, "[redacted]")
	}
	return s
}

// shown is what the operator gets to see, without the credential.
func (c *trial) shown(seen *sight) *trials.Trial {
	t := &trials.Trial{
		Sent: c.clean(seen.sent), Received: c.clean(seen.received), Status: seen.status, Request: seen.header.Get("X-Request-Id"),
		Pieces: []trials.Piece{}, Ended: seen.ended, Took: milliseconds(seen.took),
		Asked: append([]string{}, c.Extensions...), Active: []string{},
	}
	if c.side.Binding == wire.GRPC {
		t.GRPC = c.clean([]byte(seen.failed()))
	}
	if seen.err != nil {
		t.Failure = c.clean([]byte(seen.err.Error()))
	}
	for _, p := range seen.pieces {
		t.Pieces = append(t.Pieces, trials.Piece{At: milliseconds(p.at), Text: c.clean(p.text)})
	}
	for _, name := range []string{ext.HeaderV10, ext.HeaderV03} {
		for _, list := range seen.header.Values(name) {
			for _, uri := range strings.Split(list, ",") {
				if uri = strings.TrimSpace(uri); uri != "" && !slices.Contains(t.Active, uri) {
					t.Active = append(t.Active, uri)
				}
			}
		}
	}
	return t
}

var errNoTLS = errors.New("the public listener serves another certificate than it has")
