package proxy

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// upstreamCall is one call on its way to the agent, as the interface it goes to wants it: the
// caller's call, passed through or translated, or a call of the gateway's own, such as a look
// at a task.
type upstreamCall struct {
	*agents.Endpoint
	call   *wire.Call // as the agent sees it
	verb   string
	path   string // escaped, below the interface's URL
	query  string
	body   []byte
	holder *buffers.Buffer // holds body, where that is the caller's own bytes or retold for them; else nil

	own    bool                          // the call is the gateway's, whatever the answer is passed on as
	shows  *upstream.Demand              // what a task wants to see that the call answers; nil for none
	retell *translate.Retelling          // how answers come back; nil where both sides speak alike
	wait   bool                          // the caller waits for the task's end, and the agent was not told so
	trail  *telemetry.Trail              // its spans; nil where it is not traced
	served upstream.Served               // what became of it on its way
	other  func() (*upstreamCall, error) // the second of two forms that agents disagree about, or nil
}

// prepare settles how the call goes to the agent.
func (fw *forwarder) prepare(x *exchange) error {
	if err := fw.intercept(x); err != nil {
		return err
	}
	switch {
	case x.call.Method.Name == wire.GetExtendedAgentCard && isOlder(x, "0.3"):
		return getOlderCard(x)
	case x.alike(x.endpoint.Side):
		return fw.passThrough(x)
	case x.call.Method.Since != "" && isOlder(x, x.call.Method.Since):
		return wire.Errorf(wire.Unsupported, "the agent's A2A %s has no %s", x.view.Card.Protocol, x.call.Method.Name)
	}
	c := &x.call
	if x.endpoint.Version == wire.V01 {
		named := x.call
		c = &named
		if err := fw.assignTaskID(x, c); err != nil {
			return err
		}
	}
	to := x.translationTarget(c)
	to.Room = x.lend(len(to.ID) + translate.Room(len(c.Params)))
	l, err := x.translatedAs(c, x.parameters(), &x.call, to)
	if err != nil {
		return err
	}
	l.holder = x.told
	if known := cmp.Or(c.ContextID, x.record.Context); known != "" && x.session == (translate.Alias{}) {
		x.session = translate.Alias{Agent: known, Caller: x.nameFor(known)} // 0.1's events do not say it
	}
	l.retell.Task, l.retell.Context = x.task, x.session
	x.upstream = l
	return nil
}

// assignTaskID gives a new task the id that a 0.1 agent expects its client to choose, and a
// session id. The task id is random, so that it is nobody's yet, and is reserved for the caller
// before the agent sees it.
func (ow *owners) assignTaskID(x *exchange, c *wire.Call) error {
	if c.Method.Subject != wire.OfMessage {
		return nil
	}
	if c.ContextID == "" {
		c.ContextID = x.record.Context // a task goes on in its own
	}
	if c.ContextID == "" {
		c.ContextID = uuid.NewString()
	}
	if c.TaskID != "" {
		return nil
	}
	c.TaskID = uuid.NewString()
	return ow.ledger.ReserveTask(x.ctx, x.principal, originOf(x), c.TaskID, c.ContextID)
}

// translated retells c, which is the caller's call or made like one, for the agent's
// interface, and its answers for whoever made as.
func (x *exchange) translated(c *wire.Call, query url.Values, as *wire.Call) (*upstreamCall, error) {
	to := x.translationTarget(c)
	if c.Extra == nil { // a question of the gateway's own: paths are read as the caller's are
		again := *c
		again.Extra = x.call.Extra
		c = &again
	}
	return x.translatedAs(c, query, as, to)
}

// translationTarget is the side that a call is retold for.
func (x *exchange) translationTarget(c *wire.Call) translate.To {
	to := translate.To{
		Side: x.endpoint.Side, Tenant: x.endpoint.Tenant, ID: x.idFor(c),
		Bytes: x.agent.Bytes(), CallerBytes: x.callerBytes(),
	}
	if to.Side == (wire.Side{Version: wire.V03, Binding: wire.JSONRPC}) {
		to.OutputModes = x.view.OutputModes
	}
	return to
}

func (x *exchange) translatedAs(c *wire.Call, query url.Values, as *wire.Call, to translate.To) (*upstreamCall, error) {
	out, e := translate.Request(c, query, to)
	if e != nil {
		return nil, e
	}
	call := out.Call // and not out itself, which has the body
	l := &upstreamCall{
		Endpoint: x.endpoint, call: &call,
		verb: out.Verb, path: out.Path, query: out.Query, body: out.Body, wait: out.Wait,
		retell: &translate.Retelling{
			From: x.endpoint.Side, Call: as, History: out.History,
			Bytes: to.Bytes, CallerBytes: to.CallerBytes,
		},
	}
	switch {
	case to.Binding != wire.HTTPJSON || to.Alternative:
	case out.Call.Method.Name == wire.SubscribeToTask:
		// 1.0's text says POST and its proto GET, 0.3 the other way round.
		l.other = func() (*upstreamCall, error) {
			again := *l
			again.verb, again.body, again.other = otherVerb(l.verb), nil, nil // a GET has none, and a POST needs none
			return &again, nil
		}
	case out.Call.Method.Name == wire.CreatePushConfig && to.Version == wire.V03:
		l.other = func() (*upstreamCall, error) {
			to.Alternative, to.Room = true, nil // the first may be on its way still
			return x.translatedAs(c, query, as, to)
		}
	}
	return l, nil
}

func otherVerb(verb string) string {
	if verb == http.MethodGet {
		return http.MethodPost
	}
	return http.MethodGet
}

// idFor is the JSON-RPC id toward the agent where the gateway writes the call: the caller's own
// where it has one. Null tells no call from another, and is a notification to some servers.
func (x *exchange) idFor(c *wire.Call) []byte {
	if c.Binding == wire.JSONRPC && c.ID != nil && !wire.NullID(c.ID) {
		return c.ID
	}
	return []byte(`"` + x.rec.RequestID + `"`)
}

// parameters are the request's query.
func (x *exchange) parameters() url.Values {
	if x.call.Binding != wire.HTTPJSON || x.r.URL.RawQuery == "" {
		return nil
	}
	return x.r.URL.Query()
}

// blank is what the requests of all upstream calls are copies of.
var blank = &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}

// outbound is a request with its body, in one piece of memory.
type outbound struct {
	http.Request
	body buffers.Reader
}

// request is the HTTP request of an upstream call.
func (fw *forwarder) request(ctx context.Context, x *exchange, l *upstreamCall) (*http.Request, error) {
	target, err := l.target()
	if err != nil {
		return nil, err
	}
	header, err := fw.outgoing(ctx, x, l)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if errors.Is(err, upstream.ErrNobody) || errors.Is(err, upstream.ErrDeclined) {
			return nil, wire.Errorf(wire.Denied, "permission denied in the agent's own system").Because(err)
		}
		return nil, retryLater("5", "the agent's credentials are not available at the moment").Because(err)
	}
	fw.Telemetry.Carry(ctx, &x.rec, header)
	out := &outbound{Request: *blank.WithContext(ctx)}
	out.Method, out.URL, out.Host, out.Header = l.verb, target, target.Host, header
	if len(l.body) > 0 {
		out.body.Reset(l.body, l.holder)
		out.Body, out.ContentLength = &out.body, int64(len(l.body))
	}
	return &out.Request, nil
}

// target is the URL of an upstream call: the interface's for JSON-RPC, below it for
// HTTP+JSON, and the RPC's path at its host for gRPC.
func (l *upstreamCall) target() (*url.URL, error) {
	path := l.path
	switch l.Binding {
	case wire.JSONRPC:
		if l.Methods {
			return agents.MethodURL(l.URL, l.call.Method), nil
		}
		return l.URL, nil
	case wire.HTTPJSON:
		path = strings.TrimSuffix(l.URL.EscapedPath(), "/") + path
	}
	u, err := l.URL.Parse(path)
	if err != nil {
		return nil, wire.Errorf(wire.Malformed, "the path cannot be forwarded").Because(err)
	}
	u.RawQuery = l.query
	return u, nil
}

// about is what spans say of an upstream call.
func (x *destination) about(l *upstreamCall) telemetry.Ask {
	return telemetry.Ask{
		Agent: x.agent.ID, Method: l.call.Method.Name, Version: string(l.Version), Binding: l.Binding,
		Task: l.call.TaskID, Endpoint: l.Address, Own: l.own,
	}
}

// send sends an upstream call, once. Where agents disagree about a form and this one refuses the
// usual, the other is sent: a refusal of the form comes before any effect. The caller ends the
// trail when the answer has been read.
func (fw *forwarder) send(ctx context.Context, x *exchange, l *upstreamCall) (*upstreamCall, *http.Response, error) {
	req, err := fw.request(ctx, x, l)
	if err != nil {
		return l, nil, err
	}
	h := instanceHint(x, l)
	if l.trail = fw.Telemetry.Trail(ctx, x.about(l)); l.trail != nil {
		h.Trail = l.trail
	}
	resp, served, err := x.agent.Upstream.RoundTrip(req, h)
	l.served = served
	if err != nil {
		l.trail.End(0, err)
		return l, resp, err
	}
	if l.other == nil || !refusesForm(resp.StatusCode) {
		return l, resp, nil
	}
	l.trail.End(resp.StatusCode, nil)
	_ = resp.Body.Close() // what it says of the form does not matter
	again, err := l.other()
	if err != nil {
		return l, nil, err
	}
	return fw.send(ctx, x, again)
}

// refusesForm tells the statuses of a form that a server does not take. 404 may
// also be an unknown task; then the other form says so again.
func refusesForm(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound ||
		status == http.StatusMethodNotAllowed || status == http.StatusUnprocessableEntity
}
