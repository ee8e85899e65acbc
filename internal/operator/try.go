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
// would. The call goes through the listener, authentication, the rules and the audit log
// like any other, so that what the console shows is what a client would get. The pieces are
// in six files: try.go reads the attempt and makes the request, try_send.go sends it and
// keeps what passes, try_pieces.go has the answer's body as it comes, try_grpc.go what is
// different for gRPC, try_forms.go shows the call in the other versions and bindings of A2A,
// and try_command.go as a command line of curl.
type Trials struct {
	// Which agents there are, and the public URL.
	Current *snapshot.Current
	// Where the public listener is, and which certificates it serves.
	Server *server.Server
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

// amiss is the error of an attempt that makes no request. member is the one of the attempt
// that has to be changed, by its name in JSON, so that the page marks its field.
func amiss(member, text string, args ...any) error {
	return trials.AttemptInvalid{Member: member, Err: fmt.Errorf(text, args...)}
}

// Prepare implements trials.Trials. An error is returned only where no request can be made
// of the attempt.
func (t Trials) Prepare(ctx context.Context, a *trials.Attempt) (trials.Prepared, error) {
	c := &trial{Attempt: a}
	if err := t.settle(c); err != nil {
		return nil, err
	}
	if err := c.compose(); err != nil {
		return nil, err
	}
	r, err := c.request(ctx)
	if err != nil {
		return nil, err
	}
	return &prepared{t, c, r}, nil
}

// prepared is a request that was made of an attempt.
type prepared struct {
	trials  Trials
	call    *trial
	request *http.Request
}

// Send implements trials.Prepared. An answer that is an error, or a connection that fails,
// is a result as well.
func (p *prepared) Send(ctx context.Context, b trials.Bounds, watch func(trials.Event)) *trials.Trial {
	if watch == nil {
		watch = func(trials.Event) {}
	}
	c := p.call
	bounded, cancel := context.WithTimeout(ctx, b.Time)
	defer cancel()
	r := p.request.WithContext(bounded)
	seen := p.trials.send(c, r, b, watch)
	// The documents are the JSON of the answer: one, or one for each event of a stream.
	// Over gRPC they are in frames of protobuf messages, which are decoded for the page.
	docs := seen.pieces.docs
	if c.side.Binding == wire.GRPC {
		seen.sent, seen.received = c.describeSent(r), c.describe(&seen)
	} else {
		docs = documents(&seen)
	}
	shown := c.shown(&seen)
	shown.Command = c.clean([]byte(c.command(r)))
	shown.Forms = c.forms(docs)
	return shown
}

// settle reads what the attempt names. The snapshot is only held while it is read, and not
// while the call is made: the call takes up to admin.try.timeout, and a reload would
// otherwise wait for it.
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
	// The interfaces of the card say in which versions and bindings the agent itself could
	// be called; the page marks them.
	if card := m.Agent.Source.Current(); card != nil {
		for _, i := range m.Config.Offers(card) {
			c.offers = append(c.offers, wire.Side{Version: i.Version, Binding: i.Binding})
		}
	}
	// Paths at the listener begin with the prefix; the public URL may have another path
	// where a proxy in front of the gateway takes a part of it away.
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
	// HTTP+JSON and gRPC came with A2A 0.3
	if c.side.Version == wire.V01 && c.side.Binding != wire.JSONRPC {
		return amiss("binding", "A2A 0.1 has JSONRPC alone")
	}
	if c.side.Binding == wire.GRPC && !s.Config.Server.GRPC() {
		return amiss("binding", "the gateway serves no gRPC")
	}
	return nil
}

// compose makes the request's verb, path and body. The params that the operator has typed
// are those of JSON-RPC in the version that was chosen. For JSON-RPC they go out as they
// were typed, even where they are malformed: that the gateway refuses them is what the
// operator may want to see. For the other bindings they have to be understood, as their
// members become a path, a query or a protobuf message.
func (c *trial) compose() error {
	m, ok := wire.ByName(wire.V10, c.Method)
	if !ok {
		return amiss("method", "A2A has no %q", c.Method)
	}
	// Methods have other names in earlier versions: SendMessage of 1.0 is message/send in
	// 0.3 and tasks/send in 0.1. A method without a name does not exist there.
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

// request is what is sent. Its headers are those of an A2A client: A2A-Version, the media
// types of the binding, the extensions that were asked for, and one credential. It goes to
// the public URL, so that the gateway sees the Host that clients send; dial sees to it that
// it arrives here.
func (c *trial) request(ctx context.Context) (*http.Request, error) {
	at, host := c.prefix+"/agents/"+url.PathEscape(c.Agent), c.public.Host
	if c.Skill != "" {
		at += "/skills/" + url.PathEscape(c.Skill)
	}
	if c.path == "" {
		at += "/" // as clients are given the agent's base URL
	}
	// Paths of gRPC are those of its service (/lf.a2a.v1.A2AService/SendMessage), so that
	// the agent cannot be in them: its own host names it, or the tenant in the message.
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
	// Go's client refuses such values later, with an error that does not say which of the
	// attempt's members it was.
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

// streams reports whether the answer is to be a stream of events.
func (c *trial) streams() bool { return c.known && c.call.Streaming }

// extensions is the header that the version has for them. It is A2A-Extensions in 1.0 and
// X-A2A-Extensions before.
func (c *trial) extensions() string {
	if c.side.Version == wire.V10 {
		return ext.HeaderV10
	}
	return ext.HeaderV03
}

// clean is text without the credential. The credential is what the operator typed, and the
// answer is kept nowhere; but pages are shared as screenshots. Bytes that are no UTF-8
// become U+FFFD, as JSON can hold no others.
func (c *trial) clean(text []byte) string {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	if secret := cmp.Or(c.APIKey, c.Bearer); secret != "" {
		s = strings.ReplaceAll(s, secret, "[redacted]")
	}
	return s
}

// shown is what the operator gets to see, without the credential. Times are in milliseconds
// since the request was begun. Request is the id that the gateway gave the call, by which
// its audit record is found.
func (c *trial) shown(seen *sight) *trials.Trial {
	t := &trials.Trial{
		Sent: c.clean(seen.sent), Received: c.clean(seen.received), Status: seen.status, Request: seen.header.Get("X-Request-Id"),
		Pieces: append([]trials.Piece{}, seen.pieces.shown...), Ended: seen.ended, Took: milliseconds(seen.took),
		Asked: append([]string{}, c.Extensions...), Active: active(seen.header),
	}
	if c.side.Binding == wire.GRPC {
		t.GRPC = c.clean([]byte(seen.failed()))
	}
	if seen.err != nil {
		t.Failure = c.clean([]byte(seen.err.Error()))
	}
	return t
}

// active are the extensions that an answer says are. Agents of either version may answer
// with the header of the other one. A URI that stands in both is active once.
func active(answer http.Header) []string {
	uris := []string{}
	for _, name := range []string{ext.HeaderV10, ext.HeaderV03} {
		for _, list := range answer.Values(name) {
			for _, uri := range strings.Split(list, ",") {
				if uri = strings.TrimSpace(uri); uri != "" && !slices.Contains(uris, uri) {
					uris = append(uris, uri)
				}
			}
		}
	}
	return uris
}

// errNoTLS is the failure of a trial whose connection ended at something else than this
// gateway.
var errNoTLS = errors.New("the public listener serves another certificate than it has")
