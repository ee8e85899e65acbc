package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// forward sends the call to the agent and relays the answer. The call is sent
// once: whether a lost send had its effect is something only the agent knows.
func (p *Proxy) forward(x *exchange) (err error) {
	if x.call.Streaming {
		// Before the agent sees the call: a send refused afterwards would have had
		// its effect all the same.
		if open := p.Streams.Add(1); open > int64(p.Server.Limits.Streams) {
			p.Streams.Add(-1)
			return errStreams
		}
		defer p.Streams.Add(-1)
	}
	// Ids that the caller chose are the caller's from here on, whoever else uses
	// them at the same moment.
	if err := p.Ledger.Reserve(x.ctx, x.principal, x.agent.ID, x.skill, &x.call); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(x.ctx)
	defer cancel(nil)
	late := time.AfterFunc(x.agent.Upstream.Timeout(), func() { cancel(errAnswerLate) })
	defer late.Stop()

	ctx, span := p.Telemetry.StartClient(ctx, &x.rec)
	defer func() { p.Telemetry.EndClient(span, &x.rec, err) }()
	req, err := p.outbound(ctx, x)
	if err != nil {
		return err
	}
	began := time.Now()
	resp, err := x.agent.Upstream.RoundTrip(req)
	x.rec.UpstreamDuration = time.Since(began)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return fmt.Errorf("%w: %w", errAgentBroke, err)
	}
	defer resp.Body.Close() // nothing is left to do with the answer
	x.rec.UpstreamStatus = resp.StatusCode

	if e := unreadable(resp); e != nil {
		return e
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media == "text/event-stream" && resp.StatusCode == http.StatusOK {
		late.Stop()
		if !x.call.Streaming {
			return wire.Errorf(wire.BadAgentResponse, "the agent streamed where one answer was due")
		}
		return p.relay(x, resp)
	}
	err = p.answer(x, resp, media)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errAnswerLate) {
		return cause
	}
	return err
}

// unreadable refuses answers whose body must not be waited for: a switch to
// another protocol (L16), a compressed one that nobody asked for (L23), and one
// with a header that could split a response further on (L6).
func unreadable(resp *http.Response) *wire.Error {
	if resp.StatusCode < http.StatusOK {
		return wire.Errorf(wire.BadAgentResponse, "the agent switched protocols")
	}
	for name, values := range resp.Header {
		if strings.ContainsAny(name, " \t\r\n\x00") {
			return wire.Errorf(wire.BadAgentResponse, "the agent sent a malformed header")
		}
		for _, v := range values {
			if !cleanValue(v) {
				return wire.Errorf(wire.BadAgentResponse, "the agent sent a malformed header")
			}
			if name == "Content-Encoding" && v != "" && !strings.EqualFold(v, "identity") {
				return wire.Errorf(wire.BadAgentResponse, "the agent sent a compressed answer")
			}
		}
	}
	return nil
}

// outbound builds the request to the agent.
func (p *Proxy) outbound(ctx context.Context, x *exchange) (*http.Request, error) {
	target, err := x.target()
	if err != nil {
		return nil, err
	}
	header, err := x.outgoing(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, later("5", "the agent's credentials are not available at the moment").Because(err)
	}
	p.Telemetry.Inject(ctx, header)
	req := (&http.Request{
		Method: x.r.Method, URL: target, Host: target.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if body := x.call.Body; len(body) > 0 {
		req.Body, req.ContentLength = x.body.reader(body), int64(len(body))
	}
	return req, nil
}

// target is the agent's URL for this call: the interface's URL for JSON-RPC, and
// below it the caller's own path and query for HTTP+JSON.
func (x *exchange) target() (*url.URL, error) {
	base := x.endpoint.url
	if x.call.Binding == wire.JSONRPC {
		return base, nil
	}
	path := strings.TrimSuffix(base.EscapedPath(), "/") + x.rest
	u, err := base.Parse(path)
	if err != nil {
		return nil, wire.Errorf(wire.Malformed, "the path cannot be forwarded").Because(err)
	}
	u.RawQuery = forwardedQuery(cmp.Or(x.query, x.r.URL.RawQuery))
	return u, nil
}

// forwardedQuery drops A2A-Version, which the gateway says by header, and keeps
// every other parameter as it was written.
func forwardedQuery(raw string) string {
	if !strings.Contains(strings.ToLower(raw), "version") {
		return raw
	}
	pairs := slices.DeleteFunc(strings.Split(raw, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		return err != nil || strings.EqualFold(name, "A2A-Version")
	})
	return strings.Join(pairs, "&")
}
