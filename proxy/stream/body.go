package stream

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// Entries gives a client's events one after the other: a Cursor, or what wraps one to
// open other sources. It is io.EOF where the stream ended well; other errors are the
// stream's end as it is recorded. What it gives is valid until the next call of Next.
// Close may be called while Next waits, and ends it.
type Entries interface {
	Next(ctx context.Context) (Entry, error)
	Close()
}

// Of reads a body for one client alone, without a feed: nothing is kept, and nothing
// read before the client has taken what was there. from reads the body; nil is Events.
// Closing body must be safe while it is being read, as it is for an HTTP response.
func Of(body io.ReadCloser, from func(io.Reader, int) Source, l Limits) Entries {
	if from == nil {
		from = Events
	}
	return &single{body: body, source: from(body, l.Event), limit: l.Idle}
}

type single struct {
	body   io.ReadCloser
	source Source
	limit  time.Duration
	timer  *time.Timer
	idle   atomic.Bool // the timer has closed the body
}

func (s *single) Next(ctx context.Context) (Entry, error) {
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
			return Entry{Name: event.Name, Data: event.Data}, nil
		case s.idle.Load():
			return Entry{}, ErrIdle
		case errors.Is(err, io.EOF):
			return Entry{}, io.EOF
		case ctx.Err() != nil:
			return Entry{}, context.Cause(ctx)
		}
		return Entry{}, named(err)
	}
}

func (s *single) Close() { _ = s.body.Close() } // nothing is left to do with it
