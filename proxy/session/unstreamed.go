package session

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
)

// unstreamed is the stream of a task to which an agent before 1.0 was asked to subscribe a
// client. Such agents stream what a message brings; of a task that waits for its user they
// have no stream, and say so in one way or another, although they know the task. Then it is
// looked at until it ends: the client hears what the next message makes of it, as in front of
// an agent of 1.0 (A2A 1.0 §3.1.6).
//
// The change to polling is decided by the first event or end alone; a stream that has begun and
// then breaks is the reconnect's affair.
type unstreamed struct {
	agentevents.Source                                     // what the agent sends
	none               func(agentevents.Event, error) bool // does the first thing of it say that there is no stream?
	watch              func() (*poll, error)
	begun              bool
	poll               *poll // in the place of Source
}

// Next implements stream.Source.
func (s *unstreamed) Next() (agentevents.Event, error) {
	if s.poll != nil {
		return s.poll.Next()
	}
	event, err := s.Source.Next()
	if s.begun || err == nil && !event.HasData {
		return event, err
	}
	if s.begun = true; !s.none(event, err) {
		return event, err
	}
	if s.poll, err = s.watch(); err != nil {
		return agentevents.Event{}, err
	}
	return s.poll.Next()
}

// early is what a Source can tell before it is read; see stream.
type early interface {
	More() bool
	Rest() bool
}

// More reports whether Next would return without reading.
func (s *unstreamed) More() bool {
	e, ok := s.Source.(early)
	return ok && s.poll == nil && e.More()
}

// Rest reports whether the source can be waited for without a goroutine, which is not so of a
// task that is looked at.
func (s *unstreamed) Rest() bool {
	e, ok := s.Source.(early)
	return ok && s.poll == nil && e.Rest()
}

// Skip has the agent's stream pass over an event that was too large. What looking at a task
// finds is not limited by that.
func (s *unstreamed) Skip() (int64, error) {
	if s.poll != nil {
		return 0, errors.ErrUnsupported
	}
	return agentevents.Skip(s.Source)
}

// orWatched has the task of a subscription looked at, where the agent has no stream of it.
func (se *Sessions) orWatched(a *subscriber, o *stream.Opened, resp *http.Response, up *exchange.DetachedRequest) {
	if !mayWatchTask(&a.x.Forwarding, a) {
		return
	}
	l, from := a.x.Upstream.Apart(), o.From
	o.From = func(body io.Reader, limit int) agentevents.Source {
		return se.watched(up.Ctx, a, l, resp, from(body, limit), a.judge)
	}
}

// watched is a source of the agent's in whose place the task is looked at until ctx ends,
// should there be no stream. j is the judge of its events.
func (se *Sessions) watched(
	ctx context.Context, a *subscriber, l *exchange.UpstreamCall, resp *http.Response, source agentevents.Source, j *judge,
) agentevents.Source {
	return &unstreamed{
		Source: source,
		none:   func(event agentevents.Event, err error) bool { return se.noneOf(l, resp, event, err) },
		watch: func() (*poll, error) {
			a.polled.Store(true)
			j.watches = true
			return se.newPoll(ctx, a, l)
		},
	}
}

// mayWatchTask reports whether the exchange is a subscription that is promised the task until it
// ends, of an agent that promises no such thing, and the client has been shown the task.
func mayWatchTask(x *exchange.Forwarding, a *subscriber) bool {
	return x.Upstream.Call.Method.Name == wire.SubscribeToTask && x.Upstream.Version != wire.V10 && a.shown != nil
}

// noneOf reports whether the beginning of an agent's stream says that there is none: it ends
// or breaks off with nothing said, or with an error about a task that the agent has just shown.
//
// Over JSON-RPC and HTTP+JSON any end before the first event says so, except one that was too
// large to read.
func (se *Sessions) noneOf(l *exchange.UpstreamCall, resp *http.Response, event agentevents.Event, err error) bool {
	if err != nil {
		if l.Binding != wire.GRPC {
			return !errors.Is(err, sse.ErrTooLarge)
		}
		if !errors.Is(err, io.EOF) {
			return false
		}
		e := failure.ReadStatus(resp.Header, resp.Trailer)
		return e == nil || e.Kind == wire.TaskNotFound
	}
	found, err := se.ReadEvent(l.Side, l.Call.Method, event.Data)
	if err != nil || !exchange.IsError(*found.Seen) {
		return false
	}
	return failure.ReadError(l.Side, http.StatusOK, found.DocOf(event.Data)).Kind == wire.TaskNotFound
}
