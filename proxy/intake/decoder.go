// Package intake makes a call of a request: it finds the agent by path, host or tenant, checks
// hops (Via), origins (CORS) and request headers, and decodes JSON-RPC, HTTP+JSON and gRPC. It
// also knows which headers of a request go on to the agent.
//
// # From a request to a call
//
//   - Routes.Serve: which handler, by host and path; the Site in the exchange.
//   - Locate, LocateRPC: one spelling of path and headers, the host, the agent or that it is named
//     later, the binding, a hint of the version. Refusals: 400, 404, 405, 415, 421, 403 for a page
//     of another origin.
//   - ReadBody: the whole body, within server.limits.body. Refusals: 413, 503,
//     MALFORMED_REQUEST.
//   - ReadCall (package inspect): method, version, ids, declared skill. Refusals: the JSON-RPC and
//     A2A errors of A2A 1.0 §5.4.
//   - NameAgent: the agent of a shared endpoint, by tenant or credential. Refusals:
//     INVALID_PARAMS.
//   - CheckHops: Via does not name this gateway, nor too many (RFC 9110 §7.6.3). Refusals:
//     LOOP_DETECTED.
//
// What is left in the exchange is Agent, Call (with the spans of ids in the body, so that single
// ids can be replaced without writing the document anew), Route, Rest and Path. The bytes of the
// body stay as they came.
//
// Outgoing makes the header of the request to the agent from nothing: the fields of an
// allow-list, those that the operator has listed for the agent, the agent's credentials, and the
// gateway's own (A2A-Version, X-Request-Id, Via, Traceparent).
//
// It exports more than twenty names because the stages behind it share its readers of media types,
// of messages and of events, and the questions that the gateway asks by itself.
package intake

import (
	"cmp"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// Decoder finds out whom a request is for and reads what it asks, in each binding and version.
type Decoder struct {
	*admit.Admissions
	*admit.Authenticator
	*negotiate.ExtensionRules
	*record.Recorder
	*Frontend

	Drain  func(end func()) (stop func() bool)
	Ledger *ledger.Ledger
	Policy *policy.Set
	Server *server.Config
	Steps  state.Steps
	System http.Handler
	Agents map[string]*agents.Agent
	Extra  *wire.Extra
	Hidden *wire.Extra
	Hosts  map[string]*agents.Agent
	Prefix Prefix
	Self   map[string]struct{}
	Sole   *agents.Agent
}

// ReadBody takes in the whole request body: nothing is forwarded that has not
// been read and checked to its end.
func (de *Decoder) ReadBody(x *exchange.Exchange) (*buffers.Buffer, error) {
	limit := int64(de.Server.Limits.Body)
	b := buffers.NewFor(min(x.Request.ContentLength, limit))
	err := de.takeIn(x, b, limit)
	if err == nil {
		return b, nil
	}
	b.Release()
	var tooLarge *http.MaxBytesError
	var over overload.Rung
	switch {
	case errors.As(err, &over):
		x.Writer.Header().Set("Connection", "close") // nobody reads the rest
		return nil, err
	case errors.Is(err, buffers.ErrTooLong), errors.As(err, &tooLarge):
		x.Writer.Header().Set("Connection", "close") // the rest of the body is not worth reading
		return nil, wire.Errorf(wire.TooLarge, "the body exceeds server.limits.body (%d bytes)", limit)
	}
	if x.Request.ProtoMajor == 1 {
		x.Writer.Header().Set("Connection", "close") // where the next request begins is not known
	}
	return nil, wire.Errorf(wire.Malformed, "the body could not be read").Because(err)
}

// takeIn reads a body into b. Of one whose length is not said no more is read than any body
// may have, until there is memory for the largest that it may turn out to be.
func (de *Decoder) takeIn(x *exchange.Exchange, b *buffers.Buffer, limit int64) error {
	length := x.Request.ContentLength
	if length > limit {
		return buffers.ErrTooLong
	}
	if large := int64(de.Server.Limits.LargeBody); length < 0 && large < limit {
		if err := b.Fill(x.Request.Body, length, large); !errors.Is(err, buffers.ErrTooLong) {
			return err
		}
		if err := de.MakeRoom(x, limit); err != nil {
			return err
		}
		return b.Fill(x.Request.Body, length, limit)
	}
	if err := de.MakeRoom(x, length); err != nil {
		return err
	}
	return b.Fill(x.Request.Body, length, limit)
}

// DecodeLimits bound what a request may hold: depth and values of its JSON document.
func (de *Decoder) DecodeLimits() wire.Limits {
	l := de.Server.Limits
	return wire.Limits{Body: int64(l.Body), Depth: l.JSONDepth, Members: l.JSONMembers, Parts: l.Parts}
}

// Judge reads what an answer or event of the agent's shows. An empty body is an
// answer too, where the method has nothing to say.
func (de *Decoder) Judge(l *exchange.UpstreamCall, doc []byte) (wire.Answer, error) {
	seen, err := wire.ReadAnswer(l.Binding, l.Version, l.Call.Method, doc, de.AnswerLimits())
	if err != nil {
		return seen, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	return seen, nil
}

// GetTask is the row of that method in the table of operations.
var GetTask = Method(wire.GetTask)

// Method finds an operation of the table by its 1.0 name.
func Method(name string) *wire.Method {
	m, ok := wire.ByName(wire.V10, name)
	if !ok {
		panic("no method " + name) //nolint:forbidigo // a name that is written wrong in this package
	}
	return m
}

// Question is a 1.0 call of the gateway's own, in the caller's behalf, about a
// task that has been found to be the caller's.
func Question(m *wire.Method, task string, history *int) *wire.Call {
	c := &wire.Call{Version: wire.V10, Binding: wire.GRPC, Method: m, Streaming: m.Streams, TaskID: task}
	params := []byte(`{"id":` + string(Quoted(task)))
	if history != nil {
		params = append(params, `,"historyLength":`...)
		params = strconv.AppendInt(params, int64(*history), 10)
	}
	c.Params = append(params, '}')
	c.Body = c.Params
	return c
}

// Quoted is an id as a JSON string.
func Quoted(id string) []byte {
	b, _ := jsontext.AppendQuote(nil, id) // ids are valid UTF-8: decoding has seen to it
	return b
}

// NoExtension is the choice of callers who ask for no extension.
//
// An extension's method is there for callers who ask for the extension in the header
// of this call, on agents that offer it to them. For everybody else it must look like a
// name that nobody has: a method that is refused in other words, or only after its
// params were looked at, could be found out, and one that is refused later than others
// could be called.
func NoExtension(string) bool { return false }

// methods are those of the extensions that a request asks for; the others are hidden
// before anything of the call is read.
//
// Which they are is known to those alone who may use them: an agent's methods differ from caller
// to caller.
func (de *Decoder) methods(h http.Header) *wire.Extra {
	all := de.Extra.Methods()
	if len(all) == 0 {
		return de.Extra
	}
	asked, _, err := ext.Requested(h, ext.Limits{})
	if err != nil || !slices.ContainsFunc(all, func(m *wire.Method) bool { return asked.Has(m.Extension) }) {
		return de.Hidden // what is wrong with the header, negotiate says
	}
	return de.Extra.Asked(asked.Has)
}

// MediaType is the media type of Content-Type in lower case, without parameters.
func MediaType(h http.Header) string {
	switch media := h.Get("Content-Type"); media {
	case "application/json", mediatype.Events, mediatype.GRPC: // as nearly all are written
		return media
	default:
		media, _, _ = mime.ParseMediaType(media)
		return media
	}
}

// Frontend is how the gateway shows itself to clients and to the agents: its hosts and paths, the
// pages that may call it from a browser, and the headers that cross it.
type Frontend struct {
	*admit.Authenticator

	Authn     *authn.Chain
	PublicURL *url.URL
	Push      push.Config
	Relay     *webhooks.Relay
	Server    *server.Config
	Agents    map[string]*agents.Agent
	Here      [2][]string
	Hosts     map[string]*agents.Agent
	Prefix    Prefix
	Relied    []string
	Self      map[string]struct{}
}

// WithPort is a host with the port of the public URL, where it has none itself.
func (fe *Frontend) WithPort(host string) string { return agents.WithPort(fe.PublicURL, host) }

// HasHostAlone reports whether an agent has its first host for itself, and not together with the
// gateway.
func (fe *Frontend) HasHostAlone(a *agents.Agent) bool {
	if len(a.Hosts) == 0 {
		return false
	}
	host, _ := hostname.Canonical(fe.WithPort(a.Hosts[0]))
	_, shared := fe.Self[host]
	return !shared
}

// AgentAt is the agent that a host belongs to, if any, and whether it does so together with the
// gateway, whose own paths go first then. An agent that is the only one has the gateway's own
// hosts in this way: there are clients that drop the path of an agent's URL.
func (de *Decoder) AgentAt(host string) (a *agents.Agent, shared bool) {
	a = de.Hosts[host]
	if _, own := de.Self[host]; own {
		return cmp.Or(a, de.Sole), true
	}
	return a, false
}

// answerMembers bounds objects and arrays of agents' answers. It is far above
// what callers may send: a data part with the rows of a table is one array, and
// the answer's size is bounded anyway.
const answerMembers = 1 << 20

// AnswerLimits bound what an answer of an agent may hold, likewise.
//
// Depth is that of requests, since the same parser reads both.
func (de *Decoder) AnswerLimits() wire.Limits {
	l := de.DecodeLimits()
	l.Body, l.Members = int64(de.Server.Limits.Answer), answerMembers
	return l
}

// Recorded is a task's record as the rules see it.
func Recorded(r *state.Record) *policy.Task {
	owner, issuer := ledger.OwnerOf(*r)
	return &policy.Task{
		ID: r.ID, ContextID: r.Context, Skill: r.Skill,
		Owner: owner, Issuer: issuer, Tenant: r.Tenant, Created: r.Created,
	}
}

// Readable is what the rules say of the tasks of a list, one by one: each entry shows what
// GetTask, called where the list was, would show, so it is there if that would be allowed.
// Nil: whatever the caller may list it may read.
func (de *Decoder) Readable(x *exchange.Exchange) func(*state.Record) bool {
	if x.Path == "" && x.Call.Skill == "" && de.Policy.Everywhere(x.Principal, x.Agent.ID, GetTask) {
		return nil
	}
	return func(r *state.Record) bool {
		q, err := de.ReadingRequest(x, x.Path, x.Call.Skill, r)
		if err == nil {
			q.Method, q.Message = GetTask, nil
			_, err = de.Policy.Check(q)
		}
		return err == nil
	}
}

// ReadingRequest is the call as the rules see it, if it were about a task: r is what is recorded
// of that. path and declared are what else says which skill is meant.
func (de *Decoder) ReadingRequest(x *exchange.Exchange, path, declared string, r *state.Record) (policy.Request, error) {
	q := x.PolicyRequest()
	q.Task = Recorded(r)
	var err error
	q.Skill, q.Agentwide, err = de.Policy.Resolve(policy.SkillSource{
		Path: path, Task: r.Skill, Declared: declared, All: x.View.Skills,
		Method: GetTask, Principal: x.Principal, Agent: x.Agent.ID,
	})
	return q, err
}

// DemandOf is what credentials need to know of a demand.
func DemandOf(d *authdemand.Demand) *credentials.Demand {
	return &credentials.Demand{Audiences: d.Audiences, Scopes: d.Scopes}
}

// Pushes reports whether callers may register webhooks.
func (fe *Frontend) Pushes() bool { return fe.Push.Passes() || fe.Relay != nil }
