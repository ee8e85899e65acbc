package forward

import (
	"context"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// RelayAnswer relays a unary answer: read whole, checked, its ids recorded, and then
// passed on, byte for byte where caller and agent speak alike.
//
// The body stays in a pooled buffer until the answer has been written: what is passed on are
// slices of it.
func (fw *Forwarder) RelayAnswer(ctx context.Context, x *exchange.Exchange, resp *http.Response) error {
	body := buffers.New()
	defer x.GiveBack(body)
	a, err := fw.Receive(x, x.Upstream, resp, body)
	if err != nil {
		return err
	}
	return fw.RelayReceived(ctx, x, resp, a)
}

// RelayReceived relays an answer that has been read.
func (fw *Forwarder) RelayReceived(ctx context.Context, x *exchange.Exchange, resp *http.Response, a exchange.Received) error {
	x.RecordActivation(resp) // trailers are there now
	x.Heard(&a)
	if a.Failed != nil {
		if err := x.Stray(a.Failed.Reason); err != nil {
			return err
		}
		return x.Failed(resp, fw.NameEndedTask(ctx, x, a.Failed))
	}
	return fw.ShowAnswer(ctx, x, resp, a, a.Seen)
}

// ShowAnswer gives the caller a unary answer that has been read.
//
// It is called as well for answers that are put in the place of the first: what the agent says to
// the gateway's own message, and pages of a list that were put together. The switch at its end is
// in the order in which one excludes the other; the last case, a translated answer, is what is
// left.
func (fw *Forwarder) ShowAnswer(ctx context.Context, x *exchange.Exchange, resp *http.Response, a exchange.Received, seen wire.Answer) error {
	fw.LearnVersion(x, seen)
	if !exchange.IsError(seen) {
		if err := x.Verify(); err != nil {
			return err
		}
	}
	d, err := fw.ReadDemand(x, seen, a.Doc)
	if err != nil {
		return err
	}
	doc, err := fw.ObserveAnswer(x, seen, a.Doc)
	if err != nil {
		return err
	}
	x.Captured.Answer(doc)
	doc, done, err := fw.handleAuthRequired(ctx, x, d, doc)
	if err != nil || done {
		return err
	}
	if !exchange.IsError(seen) && x.Call.Method.Push {
		if doc, err = fw.showConfigs(ctx, x, doc); err != nil {
			return err
		}
	}
	switch {
	case x.Upstream.Retell == nil && (x.Rec.Streamed || !exchange.IsError(seen) && x.WantsEvents(resp)):
		if !x.Writer.Wrote {
			x.Incoming(resp)
		}
		return streamAnswer(x, doc)
	case x.Upstream.Retell == nil:
		return passAnswer(x, resp, a, doc)
	case exchange.IsError(seen) && noConfigs(x, seen):
		x.Incoming(resp)
		return deliverNoConfig(x)
	case exchange.IsError(seen) && mayFallBack(x, seen):
		return ErrMethodUnknown
	case exchange.IsError(seen):
		return x.Failed(resp, fw.NameEndedTask(ctx, x, a.AgentError(x.Upstream, resp, doc)))
	case x.Upstream.Wait && !taskstate.Settled(seen.State):
		if doc, done, err = fw.awaitSettled(ctx, x, seen, doc); err != nil || done {
			return err
		}
	}
	x.Incoming(resp)
	if x.Call.Streaming {
		return streamAnswer(x, doc)
	}
	return deliverAnswer(x, doc)
}

// passAnswer gives the caller what the agent said, as the agent said it.
//
// A gRPC answer is written as the message that came, unless something in its document was
// changed: then the message is made of the document. Content-Length is set for all but 204.
func passAnswer(x *exchange.Exchange, resp *http.Response, a exchange.Received, doc []byte) error {
	if x.Upstream.Binding == wire.GRPC {
		message := a.Bytes
		if !exchange.Same(a.Doc, doc) {
			var err error
			if message, err = wire.ResponseMessage(x.Call.Method, x.Call.Version, doc); err != nil {
				return wire.Errorf(wire.BadAgentResponse, "").Because(err)
			}
		}
		x.Incoming(resp)
		x.Write(message)
		return nil
	}
	x.Incoming(resp)
	if a.Relabel {
		x.Writer.Header().Set("Content-Type", x.Call.MediaType())
	}
	if a.Bare != nil { // the status means what it does to everybody else
		if after := a.Bare.Header["Retry-After"]; after != nil && x.Writer.Header()["Retry-After"] == nil {
			x.Writer.Header()["Retry-After"] = after
		}
	}
	if resp.StatusCode != http.StatusNoContent {
		x.Measure(doc)
	}
	x.Writer.WriteHeader(resp.StatusCode)
	x.Send(doc)
	return nil
}

// deliverAnswer gives the caller an answer retold.
//
// The room that the translation needs is borrowed from a pool, since it can be several times the
// answer's length.
func deliverAnswer(x *exchange.Exchange, doc []byte) error {
	n := translate.Room(len(doc))
	room := buffers.NewFor(int64(n))
	defer x.GiveBack(room)
	out, err := x.Upstream.Retell.Answer(room.Room(n), doc)
	if err != nil {
		return exchange.Retelling(err)
	}
	x.Write(out)
	return nil
}
