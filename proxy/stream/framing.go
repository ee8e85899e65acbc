package stream

import (
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Framing is how a client wants its events on the wire.
type Framing interface {
	// Append appends one event to dst. A framing without names drops the name.
	Append(dst []byte, name string, data []byte) []byte
	// Beat appends what a client gets while nothing happens; nothing where it needs
	// no such thing.
	Beat(dst []byte) []byte
}

// EventFrames frames Server-Sent Events. A comment is the heartbeat, since
// browsers and load balancers take silence for a dead connection.
type EventFrames struct{}

// Append implements Framing.
func (EventFrames) Append(dst []byte, name string, data []byte) []byte {
	return sse.Append(dst, sse.Event{Name: name, Data: data, HasData: true})
}

// Beat implements Framing.
func (EventFrames) Beat(dst []byte) []byte { return sse.AppendComment(dst, "keep-alive") }

// MessageFrames frames the messages of a gRPC body. It has no heartbeat: every
// message means something there, and HTTP/2 has pings of its own.
type MessageFrames struct{}

// Append implements Framing.
func (MessageFrames) Append(dst []byte, _ string, data []byte) []byte {
	return wire.AppendMessage(dst, data)
}

// Beat implements Framing.
func (MessageFrames) Beat(dst []byte) []byte { return dst }
