package intake

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Judged is what is known of an event before any client has looked at it. Events that are
// alike have what was seen in common.
type Judged struct {
	Doc  []byte // of gRPC the event as a document; else nil: that is what came
	Seen *wire.Answer
}

// DocOf is an event as a document; data is what came.
func (found *Judged) DocOf(data []byte) []byte {
	if found.Doc != nil {
		return found.Doc
	}
	return data
}

// ReadEvent reads one event as the side of an agent's says it.
func (de *Decoder) ReadEvent(side wire.Side, m *wire.Method, data []byte) (*Judged, error) {
	out := new(Judged)
	doc := data
	if side.Binding == wire.GRPC {
		var err error
		if doc, err = wire.ResponseJSON(m, side.Version, data); err != nil {
			return nil, Malformed(err)
		}
		out.Doc = doc
	}
	seen, err := wire.ReadAnswer(side.Binding, side.Version, m, doc, de.AnswerLimits())
	if err != nil {
		return nil, Malformed(err)
	}
	out.Seen = &seen
	return out, nil
}

// Malformed wraps what is wrong with an answer as the agent's fault (INVALID_AGENT_RESPONSE).
func Malformed(err error) error {
	return wire.Errorf(wire.BadAgentResponse, "the agent sent a malformed event").Because(err)
}
