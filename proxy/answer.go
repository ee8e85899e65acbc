package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
)

// answer relays a unary answer: read whole, checked, its ids recorded, and then
// passed on, byte for byte where caller and agent speak alike.
func (p *Proxy) answer(ctx context.Context, x *exchange, resp *http.Response) error {
	body := newBuffer()
	defer x.giveBack(body)
	a, err := p.receive(x.leg, resp, body)
	if err != nil {
		return err
	}
	return p.answered(ctx, x, resp, a)
}

// answered is answer, once the answer has been read.
func (p *Proxy) answered(ctx context.Context, x *exchange, resp *http.Response, a received) error {
	x.hear(resp) // trailers are there now
	if a.failed != nil {
		if err := x.stray(a.failed.Reason); err != nil {
			return err
		}
		return x.failed(resp, p.ended(ctx, x, a.failed))
	}
	seen, err := p.judge(x.leg, a.doc)
	if err != nil {
		return err
	}
	return p.show(ctx, x, resp, a, seen)
}

// show gives the caller a unary answer that has been read.
func (p *Proxy) show(ctx context.Context, x *exchange, resp *http.Response, a received, seen wire.Answer) error {
	if !isError(seen) {
		if err := x.verify(); err != nil {
			return err
		}
	}
	d, err := p.demand(x, seen, a.doc)
	if err != nil {
		return err
	}
	doc, err := p.observe(x, seen, a.doc)
	if err != nil {
		return err
	}
	x.captured.Answer(doc)
	doc, done, err := p.heed(ctx, x, d, doc)
	if err != nil || done {
		return err
	}
	if !isError(seen) && x.call.Method.Push {
		if doc, err = p.configs(ctx, x, doc); err != nil {
			return err
		}
	}
	switch {
	case x.leg.retell == nil && x.rec.Streamed:
		return x.single(doc)
	case x.leg.retell == nil:
		return x.pass(resp, a, doc)
	case isError(seen) && x.noConfigs(seen):
		x.incoming(resp)
		return x.deliverNone()
	case isError(seen):
		return x.failed(resp, p.ended(ctx, x, wire.ReadError(x.leg.Side, resp.StatusCode, doc)))
	case x.leg.wait && !settled(seen.State):
		if doc, done, err = p.await(ctx, x, seen, doc); err != nil || done {
			return err
		}
	}
	x.incoming(resp)
	if x.call.Streaming {
		return x.single(doc)
	}
	return x.deliver(doc)
}

// received is a unary answer that has been read to its end.
type received struct {
	bytes  []byte      // as they came; on gRPC, the message
	doc    []byte      // the same as a JSON document
	failed *wire.Error // the status of a gRPC call that failed; nothing else is set then
}

// receive reads a unary answer. body holds it for as long as it is used.
func (p *Proxy) receive(l *leg, resp *http.Response, body *buffer) (received, error) {
	limit := int64(p.Server.Limits.Answer)
	if err := body.fill(resp.Body, resp.ContentLength, limit); err != nil {
		if errors.Is(err, errTooLong) {
			return received{}, wire.Errorf(wire.BadAgentResponse,
				"the answer exceeds server.limits.answer (%d bytes)", limit)
		}
		return received{}, wire.Errorf(wire.BadAgentResponse, "the agent's answer broke off").Because(err)
	}
	media, rpc := mediaType(resp.Header), l.Binding == wire.GRPC
	switch {
	case rpc && isGRPC(media):
		return receiveRPC(l, resp, body.bytes())
	case rpc || !usable(resp, media, body.bytes()):
		return received{}, unusable(resp, media)
	}
	return received{bytes: body.bytes(), doc: body.bytes()}, nil
}

// judge reads what an answer or event of the agent's shows. An empty body is an
// answer too, where the method has nothing to say.
func (p *Proxy) judge(l *leg, doc []byte) (wire.Answer, error) {
	seen, err := wire.ReadAnswer(l.Binding, l.Version, l.call.Method, doc, p.answerLimits())
	if err != nil {
		return seen, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	return seen, nil
}

func isError(seen wire.Answer) bool { return seen.Error != 0 || seen.Reason != "" }

// pass gives the caller what the agent said, as the agent said it.
func (x *exchange) pass(resp *http.Response, a received, doc []byte) error {
	if x.leg.Binding == wire.GRPC {
		message := a.bytes
		if !same(a.doc, doc) {
			var err error
			if message, err = wire.ResponseMessage(x.call.Method, x.call.Version, doc); err != nil {
				return wire.Errorf(wire.BadAgentResponse, "").Because(err)
			}
		}
		x.incoming(resp)
		x.write(message)
		return nil
	}
	x.incoming(resp)
	if resp.StatusCode != http.StatusNoContent {
		x.measure(doc)
	}
	x.w.WriteHeader(resp.StatusCode)
	x.send(doc)
	return nil
}

// same reports whether b is a, and not just equal to it.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// deliver gives the caller an answer retold.
func (x *exchange) deliver(doc []byte) error {
	n := translate.Room(len(doc))
	room := newBufferFor(int64(n))
	defer x.giveBack(room)
	room.b.Grow(n)
	out, err := x.leg.retell.Answer(room.b.AvailableBuffer(), doc)
	if err != nil {
		return retelling(err)
	}
	x.write(out)
	return nil
}

// retelling is why an answer could not be retold: it was none, unless the reason
// is already in words for the caller.
func retelling(err error) error {
	var e *wire.Error
	if errors.As(err, &e) {
		return err
	}
	return wire.Errorf(wire.BadAgentResponse, "").Because(err)
}

// write sends a whole successful answer in the caller's binding.
func (x *exchange) write(out []byte) {
	h := x.w.Header()
	if x.call.Binding == wire.GRPC {
		h.Set("Content-Type", typeGRPC)
		x.w.WriteHeader(http.StatusOK)
		x.send(wire.AppendMessage(nil, out))
		wire.SetStatus(h, x.call.Version, nil)
		return
	}
	h.Set("Content-Type", x.call.MediaType())
	x.measure(out)
	x.w.WriteHeader(http.StatusOK)
	x.send(out)
}

// measure says how long an answer is.
func (x *exchange) measure(out []byte) {
	x.length[0] = strconv.Itoa(len(out))
	x.w.Header()["Content-Length"] = x.length[:]
}

// send writes the last bytes of an answer.
func (x *exchange) send(out []byte) {
	if _, err := x.w.Write(out); err != nil {
		x.rec.End = "client disconnected"
	}
}

// failed gives the caller the agent's error, retold where they speak differently.
func (x *exchange) failed(resp *http.Response, e *wire.Error) error {
	x.rec.Reason, x.rec.Decision = e.Reason, "error"
	x.incoming(resp)
	if x.leg.retell == nil && x.leg.Binding == wire.GRPC && copyStatus(x.w.Header(), resp) {
		x.w.Header().Set("Content-Type", typeGRPC)
		x.w.WriteHeader(http.StatusOK)
		return nil
	}
	e.Kind = said(e.Kind)
	wire.WriteError(x.w, &x.call, e)
	return nil
}

// usable reports whether an answer can be A2A: not with another media type (an HTML
// page of some proxy between us and the agent), a redirect, an empty success.
func usable(resp *http.Response, media string, body []byte) bool {
	good := resp.StatusCode >= 200 && resp.StatusCode < 300
	switch media {
	case "application/json", "application/a2a+json", "application/problem+json":
		return good || resp.StatusCode >= 400
	}
	if resp.StatusCode == http.StatusNoContent && len(body) == 0 {
		return true
	}
	// a2a-go 0.3 does not label its JSON, and net/http then guesses text/plain.
	// Whether it is an answer is found out when it is read.
	known := media == "text/plain" && good
	return (known || resp.StatusCode >= 400) && len(body) > 0 && body[0] == '{'
}

// unusable is the refusal of an answer that is not A2A at all. What its status says
// to an HTTP client is kept where it means something.
func unusable(resp *http.Response, media string) *wire.Error {
	cause := fmt.Errorf("%w HTTP %d with media type %q", errAgentSaid, resp.StatusCode, media)
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		e := wire.Errorf(wire.RateLimited, "the agent is receiving too many requests").Because(cause)
		if after := resp.Header.Get("Retry-After"); after != "" && cleanValue(after) {
			e.Header = http.Header{"Retry-After": {after}}
		}
		return e
	case http.StatusServiceUnavailable:
		return later("5", "the agent is not available at the moment").Because(cause)
	case http.StatusGatewayTimeout:
		return wire.Errorf(wire.AgentTimeout, "").Because(cause)
	}
	return wire.Errorf(wire.BadAgentResponse, "the agent's answer is not A2A").Because(cause)
}
