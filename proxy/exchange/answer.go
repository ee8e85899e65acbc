package exchange

import (
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// IsError reports whether a document is an error of JSON-RPC, HTTP+JSON or gRPC.
func IsError(seen wire.Answer) bool { return seen.Error != 0 || seen.Reason != "" }

// Same reports whether b is a, and not just equal to it.
func Same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Retelling is why an answer could not be retold: it was none, unless the reason
// is already in words for the caller.
func Retelling(err error) error {
	var e *wire.Error
	if errors.As(err, &e) {
		return err
	}
	return wire.Errorf(wire.BadAgentResponse, "").Because(err)
}

// Write sends a whole successful answer in the caller's binding.
func (x *Exchange) Write(out []byte) {
	h := x.Writer.Header()
	if x.Call.Binding == wire.GRPC {
		h.Set("Content-Type", mediatype.GRPC)
		x.Writer.WriteHeader(http.StatusOK)
		x.Send(grpcframe.Append(nil, out))
		failure.SetStatus(h, x.Call.Version, nil)
		return
	}
	h.Set("Content-Type", x.Call.MediaType())
	x.Measure(out)
	x.Writer.WriteHeader(http.StatusOK)
	x.Send(out)
}

// Send writes the last bytes of an answer.
func (x *Exchange) Send(out []byte) {
	if _, err := x.Writer.Write(out); err != nil || x.Outlives && x.ClientContext().Err() != nil {
		x.Rec.End = "client disconnected"
	}
}

// Failed gives the caller the agent's error, retold where they speak differently.
func (x *Exchange) Failed(resp *http.Response, e *wire.Error) error {
	x.Rec.Reason, x.Rec.Decision = e.Reason, "error"
	if e.Err != nil {
		x.Rec.Cause = e.Error()
	}
	failure.RetryAs(e, resp.Header)
	x.Incoming(resp)
	if x.Upstream.Retell == nil && x.Upstream.Binding == wire.GRPC && CopyStatus(x.Writer.Header(), resp) {
		x.Writer.Header().Set("Content-Type", mediatype.GRPC)
		x.Writer.WriteHeader(http.StatusOK)
		return nil
	}
	e.Kind = Said(e.Kind)
	failure.Write(x.Writer, &x.Call, e)
	return nil
}

// Speak makes a reply the exchange's upstream call: its answers are for the caller.
func (x *Exchange) Speak(c *wire.Call, shows *credentials.Demand) error {
	again := *c
	again.Extra = x.Call.Extra
	to := x.TranslationTarget(c)
	to.ID = x.idFor(&x.Call)
	l, err := x.TranslatedAs(&again, nil, &x.Call, to)
	if err != nil {
		return err
	}
	l.Own, l.Shows = true, shows
	if l.Retell.Task, l.Retell.Context = x.Task, x.Session; x.Alike(x.Endpoint.Side) {
		l.Retell = nil
	}
	x.Upstream = l
	return nil
}

// EmptyStream is an answer that is a stream of no event.
func EmptyStream(h http.Header) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: h, Body: http.NoBody, Trailer: http.Header{"Grpc-Status": {"0"}}}
}
