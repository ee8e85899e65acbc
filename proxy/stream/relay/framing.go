package relay

import (
	"bytes"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

// Framing is how a client wants its events on the wire.
type Framing interface {
	// Append appends one event to dst. A framing without ids or names drops them.
	Append(dst []byte, id, name string, data []byte) []byte
	// Around appends to dst what stands before an event's data, and gives what stands
	// behind. It is not ok where the data cannot stay as it is.
	Around(dst []byte, id, name string, data []byte) (head, tail []byte, ok bool)
	// Beat appends what a client gets while nothing happens; nothing where it needs
	// no such thing.
	Beat(dst []byte) []byte
}

// EventFrames frames Server-Sent Events. A comment is the heartbeat, since
// browsers and load balancers take silence for a dead connection.
//
// The data of events are JSON documents, and each is one data line: some clients, such as
// those on a2a-go 0.3 and the Java SDK, take every line for a document of its own.
type EventFrames struct{}

// Append implements Framing.
func (EventFrames) Append(dst []byte, id, name string, data []byte) []byte {
	e := sse.Event{ID: id, Name: name, Data: data, HasData: true}
	if head, tail, ok := sse.AppendAround(dst, e); ok {
		return append(append(head, data...), tail...)
	}
	e.Data = bytes.Clone(data) // which others may be given as well
	for i, c := range e.Data {
		if c == '\r' || c == '\n' { // between tokens, as it is escaped in strings
			e.Data[i] = ' '
		}
	}
	return sse.Append(dst, e)
}

// Around implements Framing.
func (EventFrames) Around(dst []byte, id, name string, data []byte) (head, tail []byte, ok bool) {
	return sse.AppendAround(dst, sse.Event{ID: id, Name: name, Data: data, HasData: true})
}

// Beat implements Framing.
func (EventFrames) Beat(dst []byte) []byte { return sse.AppendComment(dst, "keep-alive") }

// MessageFrames frames the messages of a gRPC body. It has no heartbeat: every
// message means something there, and HTTP/2 has pings of its own.
type MessageFrames struct{}

// Append implements Framing.
func (MessageFrames) Append(dst []byte, _, _ string, data []byte) []byte {
	return grpcframe.Append(dst, data)
}

// Around implements Framing.
func (MessageFrames) Around(dst []byte, _, _ string, data []byte) (head, tail []byte, ok bool) {
	return grpcframe.AppendHead(dst, len(data)), nil, true
}

// Beat implements Framing.
func (MessageFrames) Beat(dst []byte) []byte { return dst }
