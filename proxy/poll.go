package proxy

import (
	"context"
	"io"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// poll makes a stream of looking at a task, for an agent that has none of it.
type poll struct {
	ctx context.Context // of the exchange that looks
	audience
	leg     *leg // as which the events are said
	pause   time.Duration
	ready   [][]byte // events that were found and not given yet
	settled bool
}

// pollTask begins to look at a task. The first look is made at once: an agent that does
// not know the task, or cannot be reached, is an error.
func (p *Proxy) pollTask(ctx context.Context, a *audience) (stream.Opened, error) {
	l, err := a.x.asking(question(getTask, a.task, nil))
	if err != nil {
		return stream.Opened{}, err
	}
	l.call.Method, l.call.Streaming = subscribeToTask, true // what the events are read as
	up := detach(ctx)
	s := &poll{ctx: up.ctx, leg: l, pause: p.StreamConfig.Poll.Std()}
	s.proxy, s.x, s.feed, s.task = p, a.x, a.feed, a.task // and nothing that changes
	if err := s.look(); err != nil {
		up.stop()
		return stream.Opened{}, err
	}
	o := p.opened(a.x, l, nil, up)
	o.Judge = p.newJudge(a.x, l).goesOn().look
	o.Body = io.NopCloser(nil)
	o.From = func(io.Reader, int) stream.Source { return s }
	return o, nil
}

// Next implements stream.Source.
func (s *poll) Next() (stream.Event, error) {
	for len(s.ready) == 0 {
		if s.settled {
			return stream.Event{}, io.EOF
		}
		select {
		case <-s.ctx.Done():
			return stream.Event{}, context.Cause(s.ctx)
		case <-time.After(s.pause):
		}
		if err := s.look(); err != nil {
			return stream.Event{}, err
		}
		if len(s.ready) == 0 {
			return stream.Event{}, nil // the task is still there: a sign of life
		}
	}
	data := s.ready[0]
	s.ready = s.ready[1:]
	return stream.Event{Data: data, HasData: true}, nil
}

// look asks for the task, and finds what the feed has not shown of it.
func (s *poll) look() error {
	l, doc, seen, err := s.proxy.put(s.ctx, s.x, question(getTask, s.task, nil))
	if err != nil {
		return err
	}
	if len(seen.Tasks) != 1 || seen.Tasks[0].ID != s.task {
		return wire.Errorf(wire.BadAgentResponse, "the agent answered about another task")
	}
	s.ready, err = s.missing(s.leg, newSnapshot(l, doc).doc)
	s.settled = settled(seen.State)
	return err
}
