package exchange

import (
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// Received is a unary answer that has been read to its end.
type Received struct {
	Bytes  []byte      // as they came; on gRPC, the message
	Doc    []byte      // the same as a JSON document
	Seen   wire.Answer // what the document shows
	Failed *wire.Error // the status of a gRPC call that failed; nothing else is set then

	Zoned   bool           // timestamps were without a zone, and are not any more
	Form    mediatype.Form // how it was written, where that is not as A2A has it
	Relabel bool           // its Content-Type is not the document's
	Bare    *wire.Error    // what an object of HTTP+JSON means by its status alone; nil where it is an error itself
}

// Heard notes what of an answer is not as A2A has it.
func (x *Recording) Heard(a *Received) {
	if x.Rec.AnswerForm = string(a.Form); a.Zoned {
		x.UsesQuirk(agents.ZonelessTimes)
	}
}

// AgentError is the agent's error that doc, which is a's, holds.
func (a *Received) AgentError(l *UpstreamCall, resp *http.Response, doc []byte) *wire.Error {
	if a.Bare != nil {
		return a.Bare
	}
	e := failure.ReadError(l.Side, resp.StatusCode, doc)
	failure.RetryAs(e, resp.Header)
	return e
}
