package forward

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// PrepareCall settles how the call goes to the agent.
//
// It leaves x.Upstream: endpoint, verb, path, query, body, and the Retelling where the call was
// translated. A method that came with a version after the agent's is refused here rather than by
// the agent, whose refusal would be an unknown method.
func (fw *Forwarder) PrepareCall(x *exchange.Exchange) error {
	if err := fw.InterceptWebhook(x); err != nil {
		return err
	}
	switch {
	case x.Call.Method.Name == wire.GetExtendedAgentCard && isOlder(x, "0.3"):
		return getOlderCard(x)
	case x.Alike(x.Endpoint.Side):
		return fw.passThrough(x)
	case x.Call.Method.Since != "" && isOlder(x, x.Call.Method.Since):
		return wire.Errorf(wire.Unsupported, "the agent's A2A %s has no %s", x.View.Card.Protocol, x.Call.Method.Name)
	}
	c := &x.Call
	if x.Endpoint.Version == wire.V01 {
		named := x.Call
		c = &named
		if err := fw.AssignTaskID(x, c); err != nil {
			return err
		}
	}
	to := x.TranslationTarget(c)
	to.Room = x.Lend(len(to.ID) + translate.Room(len(c.Params)))
	l, err := x.TranslatedAs(c, x.Parameters(), &x.Call, to)
	if err != nil {
		return err
	}
	l.Holder = x.Told
	if known := cmp.Or(c.ContextID, x.Record.Context); known != "" && x.Session == (translate.Alias{}) {
		x.Session = translate.Alias{Agent: known, Caller: x.NameFor(known)} // 0.1's events do not say it
	}
	l.Retell.Task, l.Retell.Context = x.Task, x.Session
	x.Upstream = l
	return nil
}

// blank is what the requests of all upstream calls are copies of.
var blank = &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}

// outbound is a request with its body, in one piece of memory.
type outbound struct {
	http.Request
	body buffers.Reader
}

// request is the HTTP request of an upstream call.
//
// The body reader and the request are one allocation. Errors of credentials are 403 where the
// caller is nobody in the agent's system, and 503 where a token cannot be had at the moment;
// their cause is for the record alone.
func (fw *Forwarder) request(ctx context.Context, x *exchange.Exchange, l *exchange.UpstreamCall) (*http.Request, error) {
	target, err := l.Target()
	if err != nil {
		return nil, err
	}
	header, err := fw.Outgoing(ctx, x, l)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if errors.Is(err, credentials.ErrNobody) || errors.Is(err, credentials.ErrDeclined) {
			return nil, wire.Errorf(wire.Denied, "permission denied in the agent's own system").Because(err)
		}
		return nil, exchange.RetryLater("5", "the agent's credentials are not available at the moment").Because(err)
	}
	fw.Telemetry.Carry(ctx, &x.Rec, header)
	out := &outbound{Request: *blank.WithContext(ctx)}
	out.Method, out.URL, out.Host, out.Header = l.Verb, target, target.Host, header
	if len(l.Body) > 0 {
		out.body.Reset(l.Body, l.Holder)
		out.Body, out.ContentLength = &out.body, int64(len(l.Body))
	}
	return &out.Request, nil
}

// SendUpstream sends an upstream call, once. Where agents disagree about a form and this one
// refuses the usual, the other is sent: a refusal of the form comes before any effect. The caller
// ends the trail when the answer has been read.
//
// The upstream call that it returns is the one that was answered, which is the other form where
// that was sent. Its Trail has a span for each request.
func (fw *Forwarder) SendUpstream(ctx context.Context, x *exchange.Exchange, l *exchange.UpstreamCall) (*exchange.UpstreamCall, *http.Response, error) {
	req, err := fw.request(ctx, x, l)
	if err != nil {
		return l, nil, err
	}
	h := instanceHint(x, l)
	if l.Trail = fw.Telemetry.Trail(ctx, x.About(l)); l.Trail != nil {
		h.Trail = l.Trail
	}
	resp, served, err := x.Agent.Upstream.RoundTrip(req, h)
	l.Served = served
	if err != nil {
		l.Trail.End(0, err)
		return l, resp, err
	}
	if l.Other == nil || !refusesForm(resp.StatusCode) {
		return l, resp, nil
	}
	l.Trail.End(resp.StatusCode, nil)
	_ = resp.Body.Close() // what it says of the form does not matter
	again, err := l.Other()
	if err != nil {
		return l, nil, err
	}
	return fw.SendUpstream(ctx, x, again)
}

// refusesForm tells the statuses of a form that a server does not take. 404 may
// also be an unknown task; then the other form says so again.
func refusesForm(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound ||
		status == http.StatusMethodNotAllowed || status == http.StatusUnprocessableEntity
}
