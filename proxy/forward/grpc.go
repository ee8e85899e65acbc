package forward

import (
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// receiveRPC reads the answer of a unary gRPC call: at most one message, and the
// status behind it, which the header has instead where there is no message. What stands
// in front of an agent may know HTTP alone, and refuse the call by that.
//
// A status in the trailers is the answer whatever the body says. An HTTP status of 300 or more
// without a gRPC status comes from a proxy, and is read like any other.
func (fw *Forwarder) receiveRPC(x *exchange.Exchange, l *exchange.UpstreamCall, resp *http.Response, body []byte) (exchange.Received, error) {
	media := intake.MediaType(resp.Header)
	switch said := resp.Header.Get(exchange.StatusFields[0]) != "" || resp.Trailer.Get(exchange.StatusFields[0]) != ""; {
	case resp.StatusCode >= http.StatusMultipleChoices && (!intake.IsGRPC(media) || !said):
		return exchange.Received{}, fw.statusError(x, l, resp, false)
	case !intake.IsGRPC(media):
		return exchange.Received{}, wire.Errorf(wire.BadAgentResponse, "the agent's answer is not gRPC").Because(heardStatus(resp))
	}
	if e := failure.ReadStatus(resp.Header, resp.Trailer); e != nil {
		return exchange.Received{Failed: e}, nil
	}
	if resp.StatusCode >= http.StatusMultipleChoices { // one of the two is wrong
		return exchange.Received{}, fw.statusError(x, l, resp, false)
	}
	message, err := intake.OnlyMessage(body, len(body))
	if err != nil {
		return exchange.Received{}, wire.Errorf(wire.BadAgentResponse, "the agent's answer is not one message").Because(err)
	}
	doc, err := wire.ResponseJSON(l.Call.Method, l.Version, message)
	if err != nil {
		return exchange.Received{}, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	seen, err := fw.Judge(l, doc)
	return exchange.Received{Bytes: message, Doc: doc, Seen: seen}, err
}
