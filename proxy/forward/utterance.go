package forward

import (
	"bytes"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
)

// utterance is what can be told of a Server-Sent Event by what is around its document.
type utterance uint8

const (
	a2a        utterance = iota // it is one of A2A's, or the stream is broken
	MaybeEvent                  // it is one of A2A's if its document is
	NoEvent                     // it has none
)

// UtteranceOf tells what an event is likely to be. A2A's events have no name, which is "message"
// to parsers, or are called "error" over HTTP+JSON. Servers send others to keep the
// connection open, with a document or without; clients of the SDKs pass over those without.
// They do not look at names, so that what has another name may well be an event.
//
// gRPC messages have no names and always count as events.
func UtteranceOf(b wire.Binding, event agentevents.Event) utterance {
	if b == wire.GRPC {
		return a2a
	}
	switch data := bytes.TrimSpace(event.Data); {
	case event.Name == "error":
		return a2a // also without a document: something went wrong there
	case len(data) == 0, string(data) == agentevents.Done:
		return NoEvent
	case event.Name != "" && event.Name != "message":
		return MaybeEvent
	}
	return a2a
}

// ShowsNothing reports whether a document that can be read is none of A2A's. What those of
// an extension's method are is the extension's business.
func ShowsNothing(m *wire.Method, seen wire.Answer) bool {
	return seen.Kind == "" && !exchange.IsError(seen) && len(seen.Tasks) == 0 && m.Extension == ""
}
