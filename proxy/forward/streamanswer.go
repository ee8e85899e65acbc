package forward

import (
	"bytes"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// streamAnswer streams an answer that came whole to a caller who asked for events: many
// clients read nothing else, and would take it for a stream of none.
//
// Errors are streamed too, where the stream's header is out already. The event's data is one
// line, since some clients parse each data line by itself.
func streamAnswer(x *exchange.Exchange, doc []byte) error {
	var frames relay.Framing = relay.EventFrames{}
	if x.Call.Binding == wire.GRPC {
		frames = relay.MessageFrames{}
	}
	var out []byte
	tell := func(name string, event []byte) error {
		out = frames.Append(out, "", name, event)
		return nil
	}
	var err error
	if x.Upstream.Retell == nil && x.Call.Binding != wire.GRPC {
		doc = oneLine(doc)
	}
	if x.Upstream.Retell == nil {
		err = tell("", doc)
	} else {
		err = x.Retell(doc, tell)
	}
	if err == nil {
		err = x.Open()
	}
	if err != nil {
		return err
	}
	if !x.Writer.Wrote {
		x.Writer.WriteHeader(http.StatusOK)
	}
	x.Writer.ArmDeadline()
	x.Send(out)
	x.Finish()
	return nil
}

// oneLine is a document as an event has it: some clients read the lines of one apart.
func oneLine(doc []byte) []byte {
	if doc = bytes.TrimSpace(doc); !bytes.ContainsAny(doc, "\r\n") {
		return doc
	}
	v := jsontext.Value(bytes.Clone(doc))
	_ = v.Compact() // it has been read before
	return v
}
