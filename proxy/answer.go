package proxy

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
)

// answer relays a unary answer: read whole, checked, its ids recorded, and then
// passed on, byte for byte where caller and agent speak alike.
func (fw *forwarder) answer(ctx context.Context, x *exchange, resp *http.Response) error {
	body := buffers.New()
	defer x.giveBack(body)
	a, err := fw.receive(x, x.upstream, resp, body)
	if err != nil {
		return err
	}
	return fw.answered(ctx, x, resp, a)
}

// answered is answer, once the answer has been read.
func (fw *forwarder) answered(ctx context.Context, x *exchange, resp *http.Response, a received) error {
	x.recordActivation(resp) // trailers are there now
	x.heard(&a)
	if a.failed != nil {
		if err := x.stray(a.failed.Reason); err != nil {
			return err
		}
		return x.failed(resp, fw.ended(ctx, x, a.failed))
	}
	return fw.show(ctx, x, resp, a, a.seen)
}

// show gives the caller a unary answer that has been read.
func (fw *forwarder) show(ctx context.Context, x *exchange, resp *http.Response, a received, seen wire.Answer) error {
	fw.learnVersion(x, seen)
	if !isError(seen) {
		if err := x.verify(); err != nil {
			return err
		}
	}
	d, err := fw.demand(x, seen, a.doc)
	if err != nil {
		return err
	}
	doc, err := fw.observe(x, seen, a.doc)
	if err != nil {
		return err
	}
	x.captured.Answer(doc)
	doc, done, err := fw.handleAuthRequired(ctx, x, d, doc)
	if err != nil || done {
		return err
	}
	if !isError(seen) && x.call.Method.Push {
		if doc, err = fw.configs(ctx, x, doc); err != nil {
			return err
		}
	}
	switch {
	case x.upstream.retell == nil && (x.rec.Streamed || !isError(seen) && x.wantsEvents(resp)):
		if !x.w.wrote {
			x.incoming(resp)
		}
		return streamAnswer(x, doc)
	case x.upstream.retell == nil:
		return passAnswer(x, resp, a, doc)
	case isError(seen) && noConfigs(x, seen):
		x.incoming(resp)
		return deliverNoConfig(x)
	case isError(seen) && mayFallBack(x, seen):
		return errMethodUnknown
	case isError(seen):
		return x.failed(resp, fw.ended(ctx, x, a.error(x.upstream, resp, doc)))
	case x.upstream.wait && !settled(seen.State):
		if doc, done, err = fw.await(ctx, x, seen, doc); err != nil || done {
			return err
		}
	}
	x.incoming(resp)
	if x.call.Streaming {
		return streamAnswer(x, doc)
	}
	return deliverAnswer(x, doc)
}

// judge reads what an answer or event of the agent's shows. An empty body is an
// answer too, where the method has nothing to say.
func (de *decoder) judge(l *upstreamCall, doc []byte) (wire.Answer, error) {
	seen, err := wire.ReadAnswer(l.Binding, l.Version, l.call.Method, doc, de.answerLimits())
	if err != nil {
		return seen, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	return seen, nil
}

// wantsEvents reports whether a result is to be an event although the agent gave it
// whole: clients that stream read nothing else of what is a success by its status, and
// some take it for a stream of none. An error passes as it came: the JavaScript client tells
// which one it is by a document, and not by an event.
func (x *parsedCall) wantsEvents(resp *http.Response) bool {
	return x.call.Streaming && x.call.Binding != wire.GRPC && resp.StatusCode < http.StatusMultipleChoices
}

func isError(seen wire.Answer) bool { return seen.Error != 0 || seen.Reason != "" }

// passAnswer gives the caller what the agent said, as the agent said it.
func passAnswer(x *exchange, resp *http.Response, a received, doc []byte) error {
	if x.upstream.Binding == wire.GRPC {
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
	if a.relabel {
		x.w.Header().Set("Content-Type", x.call.MediaType())
	}
	if a.bare != nil { // the status means what it does to everybody else
		if after := a.bare.Header["Retry-After"]; after != nil && x.w.Header()["Retry-After"] == nil {
			x.w.Header()["Retry-After"] = after
		}
	}
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

// deliverAnswer gives the caller an answer retold.
func deliverAnswer(x *exchange, doc []byte) error {
	n := translate.Room(len(doc))
	room := buffers.NewFor(int64(n))
	defer x.giveBack(room)
	out, err := x.upstream.retell.Answer(room.Room(n), doc)
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
		x.send(grpcframe.Append(nil, out))
		wire.SetStatus(h, x.call.Version, nil)
		return
	}
	h.Set("Content-Type", x.call.MediaType())
	x.measure(out)
	x.w.WriteHeader(http.StatusOK)
	x.send(out)
}

// measure says how long an answer is.
func (x *fromClient) measure(out []byte) {
	x.length[0] = strconv.Itoa(len(out))
	x.w.Header()["Content-Length"] = x.length[:]
}

// send writes the last bytes of an answer.
func (x *exchange) send(out []byte) {
	if _, err := x.w.Write(out); err != nil || x.outlives && x.clientContext().Err() != nil {
		x.rec.End = "client disconnected"
	}
}

// failed gives the caller the agent's error, retold where they speak differently.
func (x *exchange) failed(resp *http.Response, e *wire.Error) error {
	x.rec.Reason, x.rec.Decision = e.Reason, "error"
	if e.Err != nil {
		x.rec.Cause = e.Error()
	}
	e.RetryAs(resp.Header)
	x.incoming(resp)
	if x.upstream.retell == nil && x.upstream.Binding == wire.GRPC && copyStatus(x.w.Header(), resp) {
		x.w.Header().Set("Content-Type", typeGRPC)
		x.w.WriteHeader(http.StatusOK)
		return nil
	}
	e.Kind = said(e.Kind)
	wire.WriteError(x.w, &x.call, e)
	return nil
}
