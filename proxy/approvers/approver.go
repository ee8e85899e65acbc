// Package approvers asks agents of the fleet about calls that wait for approval, and reads what they say.
//
// An agent is asked as it is called by anybody: over an interface of its card, in the version and binding
// that this has, with the credentials of its entry that depend on no caller, through its connections. A
// question is one SendMessage, whose message has the same id however often it is sent; an agent that
// answers with a task is asked for it with GetTask, and with CancelTask to end it where nobody waits any more.
//
// What counts of an answer is one data part (docs/extensions/approval.md). What an agent says in words is
// never read: the message that it was shown may have put it into its mouth.
//
// The package keeps nothing, and decides nothing; internal/consent does.
package approvers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents/interfaces"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

var (
	// asking is the side in which a question is written, and the one that is preferred.
	asking = wire.Side{Version: wire.V10, Binding: wire.JSONRPC}
	// plain is the side in which answers are read: without an envelope.
	plain = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
)

// Approver is an agent that is asked.
type Approver struct {
	*agents.Agent
	Limit   int64  // of its answers (server.limits.answer)
	Gateway string // server.id: a question that leads back to this gateway goes in circles
}

// errAgain is wrapped by errors that another try may not have.
var errAgain = errors.New("the agent cannot be asked at the moment")

// again says why a question may be asked once more.
func again(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errAgain, fmt.Sprintf(format, args...))
}

// Ask asks the agent about a call, or, where it works on the answer already, for the task. The error is that
// another try is worth it; whatever else keeps the agent from answering has it abstain.
func (a Approver) Ask(ctx context.Context, c *approvals.Call, t *approvals.Turn) (*approvals.Reply, error) {
	if t.Task != "" {
		return a.ask(ctx, c, t, wire.GetTask, fmt.Appendf(nil, `{"id":%s,"historyLength":0}`, intake.Quoted(t.Task)))
	}
	params, err := question(c, a.ID)
	if err != nil {
		return nil, err
	}
	return a.ask(ctx, c, t, wire.SendMessage, params)
}

// Cancel asks the agent to work on the answer no more, since nobody waits for it. The error is that it could not be
// asked; what it answers is its own matter.
func (a Approver) Cancel(ctx context.Context, c *approvals.Call, t *approvals.Turn) error {
	_, err := a.ask(ctx, c, t, wire.CancelTask, fmt.Appendf(nil, `{"id":%s}`, intake.Quoted(t.Task)))
	return err
}

// ask calls a method of the agent.
func (a Approver) ask(ctx context.Context, c *approvals.Call, t *approvals.Turn, method string, params []byte) (*approvals.Reply, error) {
	e, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	if e.Version == wire.V01 {
		return abstains(e, "it speaks A2A 0.1 alone, in which agents are not asked"), nil
	}
	l, err := a.call(e, method, MessageID(c.ID, a.ID), params)
	if err != nil {
		return abstains(e, "the question cannot be told in its version of A2A"), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, a.Upstream.Timeout(method), upstream.ErrLate)
	defer cancel()
	return a.roundTrip(ctx, l, c, t)
}

// fails says that the agent has failed at a question.
func fails(format string, args ...any) error {
	return fmt.Errorf("%w: %s", approvals.ErrFailed, fmt.Sprintf(format, args...))
}

// endpoint is the interface that is asked: the one by which the least of a question changes.
func (a Approver) endpoint() (*agents.Endpoint, error) {
	v := a.Look()
	if v == nil {
		return nil, again("%v", a.NotReady())
	}
	best, at := interfaces.Unreachable, -1
	for i := range v.Endpoints {
		if d := interfaces.Distance(asking, v.Endpoints[i].Side, intake.Method(wire.SendMessage)); d < best {
			best, at = d, i
		}
	}
	if at < 0 {
		return nil, again("the agent has no interface that may be called")
	}
	return &v.Endpoints[at], nil
}

// The message of a call was within server.limits, and is a few levels deeper in a question.
const (
	deepest = 10_000
	most    = 1 << 20
)

// call is a question as the interface wants it.
func (a Approver) call(e *agents.Endpoint, method, id string, params []byte) (*exchange.UpstreamCall, error) {
	as := wire.Call{Accept: mediatype.JSON}
	doc := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, id, method, params)
	if wrong := as.DecodeJSONRPC(doc, asking.Version, wire.Limits{Body: int64(len(doc)), Depth: deepest, Members: most, Parts: most}); wrong != nil {
		return nil, wrong
	}
	to := translate.To{Side: e.Side, Tenant: e.Tenant, ID: fmt.Appendf(nil, "%q", id), Bytes: a.Bytes()}
	if to.Side == (wire.Side{Version: wire.V03, Binding: wire.JSONRPC}) {
		to.OutputModes = []string{mediatype.JSON, "text/plain"}
	}
	out, wrong := translate.Request(&as, nil, to)
	if wrong != nil {
		return nil, wrong
	}
	asked := wire.Call{Version: plain.Version, Binding: plain.Binding, Method: as.Method}
	return &exchange.UpstreamCall{
		Endpoint: e, Call: &out.Call, Verb: out.Verb, Path: out.Path, Query: out.Query, Body: out.Body, Own: true,
		Retell: &translate.Retelling{From: e.Side, Call: &asked, Bytes: a.Bytes()},
	}, nil
}

// roundTrip sends a question once, and reads the answer.
func (a Approver) roundTrip(ctx context.Context, l *exchange.UpstreamCall, c *approvals.Call, t *approvals.Turn) (*approvals.Reply, error) {
	hide := secret.URL(l.URL.String())
	to, err := l.Target()
	if err != nil {
		return abstains(l.Endpoint, "it cannot be asked: %s", hide.Hide(err)), nil
	}
	r, err := http.NewRequestWithContext(ctx, l.Verb, to.String(), bytes.NewReader(l.Body))
	if err != nil {
		return abstains(l.Endpoint, "it cannot be asked: %s", hide.Hide(err)), nil
	}
	r.GetBody = nil // see Upstream.RoundTrip
	r.Header = http.Header{
		"Accept-Encoding": intake.Unencoded, "A2a-Version": l.Says, "User-Agent": {"a2a-gateway"}, "X-Request-Id": {c.ID},
		"Via": {"1.1 " + a.Gateway},
	}
	extensions := ext.HeaderV10
	if l.Version != wire.V10 {
		extensions = ext.HeaderV03
	}
	r.Header[extensions] = []string{URI}
	l.Describe(r.Header, nil)
	if err := a.Upstream.Authorize(ctx, r.Header, nil); err != nil {
		return nil, again("there is no credential to show it: %v", hide.Hide(err))
	}
	resp, served, err := a.Upstream.RoundTrip(r, upstream.Hint{
		Safe: !l.Call.Method.Writes, Body: l, Context: c.ID, Instance: t.Instance, Task: t.Task != "",
	})
	switch {
	case errors.Is(context.Cause(ctx), upstream.ErrLate):
		return nil, again("%v", upstream.ErrLate)
	case err != nil:
		return nil, again("%v", hide.Hide(err))
	}
	defer resp.Body.Close() // only read from
	if intake.MediaType(resp.Header) == mediatype.Events {
		return abstains(l.Endpoint, "it streams, where one answer is due"), nil
	}
	var body buffers.Buffer
	switch err := body.Fill(resp.Body, resp.ContentLength, a.Limit); {
	case errors.Is(err, buffers.ErrTooLong):
		return abstains(l.Endpoint, "its answer exceeds server.limits.answer (%d bytes)", a.Limit), nil
	case err != nil:
		return nil, again("its answer broke off")
	case served.Elsewhere:
		return nil, again("the instance that has the task does not answer")
	}
	reply, err := a.read(l, resp, body.Bytes(), c)
	if reply != nil {
		reply.Instance = served.Instance
	}
	return reply, err
}

// document is the answer in JSON, or the error that it is.
func (a Approver) document(l *exchange.UpstreamCall, resp *http.Response, body []byte) ([]byte, *wire.Error) {
	media := intake.MediaType(resp.Header)
	if l.Binding == wire.GRPC {
		if !intake.IsGRPC(media) {
			return nil, failure.Plain{Status: resp.StatusCode, Type: media}.Error()
		}
		if e := failure.ReadStatus(resp.Header, resp.Trailer); e != nil {
			return nil, e
		}
		message, err := intake.OnlyMessage(body, len(body))
		if err == nil {
			body, err = wire.ResponseJSON(l.Call.Method, l.Version, message)
		}
		if err != nil {
			return nil, wire.Errorf(wire.BadAgentResponse, "")
		}
		return body, nil
	}
	doc, _, err := mediatype.ReadLabel(resp.Header["Content-Type"]).Document(body)
	switch {
	case resp.StatusCode >= http.StatusMultipleChoices && (err != nil || !bytes.HasPrefix(bytes.TrimSpace(doc), []byte("{"))):
		return nil, failure.Plain{Status: resp.StatusCode, Type: media}.Error()
	case err != nil:
		return nil, wire.Errorf(wire.BadAgentResponse, "")
	}
	if a.Zones(l.Side) {
		doc = translate.Zoned(doc)
	}
	seen, err := wire.ReadAnswer(l.Binding, l.Version, l.Call.Method, doc, wire.Limits{Body: a.Limit})
	switch {
	case err != nil:
		return nil, wire.Errorf(wire.BadAgentResponse, "")
	case seen.Error != 0:
		return nil, failure.ReadError(l.Side, resp.StatusCode, doc)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return nil, failure.Plain{Status: resp.StatusCode, Type: media, Object: true}.Error()
	case l.Binding == wire.JSONRPC && !seen.Answers(l.Call.ID):
		return nil, wire.Errorf(wire.BadAgentResponse, "")
	}
	return doc, nil
}

// comes reports whether an error may be another one, or none, in a while: one that says so.
func comes(e *wire.Error) bool {
	for _, k := range []*wire.Kind{wire.RateLimited, wire.Unavailable, wire.AgentTimeout} {
		if e.Reason == k.Reason {
			return true
		}
	}
	return false
}

// KinOf is what an agent of a fleet has to do with a call, as far as is known: whether it is the one that the call
// is for, and whether one of the caller's names is its own. Agents with the same interfaces are one.
func KinOf(id string, c *approvals.Call, fleet iter.Seq[*agents.Agent]) approval.Kin {
	all := slices.Collect(fleet)
	backend := agents.Backends(all)
	k := approval.Kin{Target: id == c.Agent, Backend: backend(id)}
	names := c.Caller.Selves
	if c.Caller.Client != "" {
		names = append(slices.Clone(names), c.Caller.Client)
	}
	for _, a := range all {
		if a.ID == id || k.Backend != "" && backend(a.ID) == k.Backend {
			k.Target = k.Target || a.ID == c.Agent
			k.Caller = k.Caller || slices.ContainsFunc(names, a.Is)
		}
	}
	return k
}
