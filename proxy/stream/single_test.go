package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// of reads a body for one client alone, without a feed: nothing is kept, and nothing
// read before the client has taken what was there. from reads the body; nil is stream.Events.
// Closing body must be safe while it is being read, as it is for an HTTP response.
func of(body io.ReadCloser, from func(io.Reader, int) agentevents.Source, l stream.Limits) relay.Entries {
	if from == nil {
		from = agentevents.SSE
	}
	return &single{body: body, source: from(body, l.Event), limit: l.Idle}
}

type single struct {
	body   io.ReadCloser
	source agentevents.Source
	limit  time.Duration
	timer  *time.Timer
	idle   atomic.Bool // the timer has closed the body
}

func (s *single) Next(ctx context.Context) (stream.Entry, error) {
	if s.timer == nil {
		s.timer = time.AfterFunc(s.limit, func() {
			s.idle.Store(true)
			s.Close()
		})
	}
	defer s.timer.Stop() // the agent is not to blame for a slow client
	for {
		s.timer.Reset(s.limit)
		event, err := s.source.Next()
		switch {
		case err == nil && !event.HasData:
			continue // the agent's comments belong to its own hop
		case err == nil:
			return stream.Entry{Name: event.Name, Data: event.Data}, nil
		case s.idle.Load():
			return stream.Entry{}, ending.ErrIdle
		case errors.Is(err, io.EOF):
			return stream.Entry{}, io.EOF
		case ctx.Err() != nil:
			return stream.Entry{}, context.Cause(ctx)
		}
		return stream.Entry{}, named(err)
	}
}

func (s *single) Close() { _ = s.body.Close() } // nothing is left to do with it

// named is the name that records know an error of reading by.
func named(err error) error {
	if errors.Is(err, sse.ErrTooLarge) || errors.Is(err, grpcframe.ErrTooLarge) {
		return fmt.Errorf("%w: %w", ending.ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %w", ending.ErrBroken, err)
}
