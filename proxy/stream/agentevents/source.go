// Package agentevents reads the events of an agent's response body, one after the other: SSE
// reads Server-Sent Events, GRPC the length-prefixed messages of a gRPC body.
//
// Either reads no further ahead than one buffer, and refuses events beyond its limit; Skip passes
// over one that was refused. Besides Next a Source may have More, Rest and Skip, which tell a
// reader how much it can do without waiting.
package agentevents

import (
	"errors"
	"io"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

// Event is one thing that an agent sent. Data is valid until the next call of
// Next.
type Event struct {
	Name    string // of a Server-Sent Event that has one; a gRPC message has none
	Data    []byte // the event's data, or the message without its frame
	HasData bool   // false for what only shows that the agent is alive, such as a comment
}

// Source gives an agent's events one after the other. Its errors end the stream:
// io.EOF where the agent ended it, io.ErrUnexpectedEOF inside of an event, an
// error that wraps sse.ErrTooLarge or wire.ErrMessageTooLarge, or what reading
// came to.
type Source interface {
	Next() (Event, error)
}

// Skip has a Source whose Next has returned that an event is too large pass over it, and gives
// its size in bytes as far as it was there. The error is what reading came to inside of the
// event, or errors.ErrUnsupported where the Source has no Skip: it cannot be read on then.
func Skip(s Source) (int64, error) {
	k, ok := s.(interface{ Skip() (int64, error) })
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return k.Skip()
}

// Done is the data of the event with which servers of language models end a stream. It is
// none of A2A's.
const Done = "[DONE]"

// SSE reads Server-Sent Events of at most limit bytes. Some agents leave out the blank
// line behind their last event: it counts where its data is a whole JSON object, which the
// beginning of a longer one never is, or Done.
func SSE(r io.Reader, limit int) Source {
	reader := sse.NewReader(r, limit)
	reader.Whole = func(data []byte) bool { return jsonscan.IsObject(data) || string(data) == Done }
	return events{reader}
}

type events struct{ reader *sse.Reader }

func (s events) Next() (Event, error) {
	e, err := s.reader.Next()
	return Event{Name: e.Name, Data: e.Data, HasData: e.HasData}, err
}

// More makes it a reserve.
func (s events) More() bool { return s.reader.More() }

// Rest makes it one that can be waited for without a goroutine.
func (s events) Rest() bool { return s.reader.Rest() }

// Skip has it pass over an event that was too large.
func (s events) Skip() (int64, error) { return s.reader.Skip() }

// GRPC reads the messages of a gRPC body, each of at most limit bytes. What
// the agent's trailers say is for the caller to read once the stream has ended.
func GRPC(r io.Reader, limit int) Source { return messages{grpcframe.NewReader(r, limit)} }

type messages struct{ reader *grpcframe.Reader }

func (s messages) Next() (Event, error) {
	message, err := s.reader.Next()
	return Event{Data: message, HasData: true}, err
}

// More makes it a reserve.
func (s messages) More() bool { return s.reader.More() }

// Rest makes it one that can be waited for without a goroutine.
func (s messages) Rest() bool { return s.reader.Rest() }

// Skip has it pass over a message that was too large.
func (s messages) Skip() (int64, error) { return s.reader.Skip() }
