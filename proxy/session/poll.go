package session

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/fold"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
)

// poll makes a stream of looking at a task, for an agent that has none of it.
//
// It is a stream.Source, so that a task which is looked at passes through feed, judge and clients
// like a stream. Its events are differences between two looks.
type poll struct {
	ctx context.Context // of the exchange that looks
	subscriber
	upstreamCall *exchange.UpstreamCall // as which the events are said
	pause        time.Duration
	ready        [][]byte  // events that were found and not given yet
	last         fold.Task // as it was when it was looked at last
	state        string    // the task's
	stays        bool      // while the task waits for its user
}

// pollTask begins to look at a task. The first look is made at once: an agent that does
// not know the task, or cannot be reached, is an error.
func (se *Sessions) pollTask(ctx context.Context, a *subscriber) (stream.Opened, error) {
	l, err := a.x.Asking(intake.Question(intake.GetTask, a.task, nil))
	if err != nil {
		return stream.Opened{}, err
	}
	l.Call.Method, l.Call.Streaming = ownership.SubscribeToTask, true // what the events are read as
	up := forward.Detach(ctx, ctx)
	s, err := se.newPoll(up.Ctx, a, l)
	if err != nil {
		up.Stop()
		return stream.Opened{}, err
	}
	o := se.OpenedStream(a.x, l, nil, up)
	j := se.newJudge(a.x, l).goesOn(s.state).follows(a)
	j.watches, o.Judge = true, j.look
	o.Body = io.NopCloser(nil)
	o.From = func(io.Reader, int) agentevents.Source { return s }
	return o, nil
}

// newPoll is pollTask for a source that has been opened; its events are said as those of
// the upstream call l.
func (se *Sessions) newPoll(ctx context.Context, a *subscriber, l *exchange.UpstreamCall) (*poll, error) {
	s := &poll{ctx: ctx, upstreamCall: l, pause: se.StreamConfig.Poll.Std(), stays: mayWatchTask(&a.x.Forwarding, a)}
	s.sessions, s.x, s.feed, s.task = se, a.x, a.feed, cmp.Or(a.task, a.x.Call.TaskID) // and nothing that changes
	return s, s.look()
}

// over reports whether there is no more to be seen.
func (s *poll) over() bool {
	return taskstate.Terminal(s.state) || taskstate.Settled(s.state) && !s.stays
}

// Next implements stream.Source.
//
// An event without data is a sign of life: it keeps the idle timer from ending the source, and
// clients are not told.
func (s *poll) Next() (agentevents.Event, error) {
	for len(s.ready) == 0 {
		if s.over() {
			return agentevents.Event{}, io.EOF
		}
		select {
		case <-s.ctx.Done():
			return agentevents.Event{}, context.Cause(s.ctx)
		case <-time.After(s.pause):
		}
		if err := s.look(); err != nil {
			return agentevents.Event{}, err
		}
		s.slow()
		if len(s.ready) == 0 {
			return agentevents.Event{}, nil // the task is still there: a sign of life
		}
	}
	data := s.ready[0]
	s.ready = s.ready[1:]
	return agentevents.Event{Data: data, HasData: true}, nil
}

// Of a task that waits for its user, who may be long, the looks become rarer: each pause is
// longer by a quarter, up to so many of streams.poll.
const rarest = 15

func (s *poll) slow() {
	poll := s.sessions.StreamConfig.Poll.Std()
	if len(s.ready) > 0 || !taskstate.Settled(s.state) {
		s.pause = poll
		return
	}
	s.pause = min(s.pause+s.pause/4, rarest*poll)
}

// look asks for the task, and finds what the feed has not shown of it.
//
// The first look compares with the feed, later ones with the task of the look before: the feed
// may be behind, as its clients are.
func (s *poll) look() error {
	l, doc, seen, err := s.sessions.AskAgent(s.ctx, s.x, intake.Question(intake.GetTask, s.task, nil))
	if err != nil {
		return err
	}
	if len(seen.Tasks) != 1 || seen.Tasks[0].ID != s.task {
		return wire.Errorf(wire.BadAgentResponse, "the agent answered about another task")
	}
	doc, s.state = newSnapshot(l, doc).doc, seen.State
	m := ownership.Dialect{Side: s.upstreamCall.Side, Bytes: s.x.Agent.Bytes()}
	if s.last.Known() {
		s.ready, err = m.Missing(s.upstreamCall.Call.ID, doc, &s.last)
	} else {
		s.ready, err = s.missing(s.upstreamCall, doc)
	}
	if err != nil {
		return err
	}
	return m.ToCanonical(m.Canonical(), doc, s.last.Apply)
}
