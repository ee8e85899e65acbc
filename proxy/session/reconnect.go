package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// How often an agent is asked for another stream.
const (
	firstRetry = 100 * time.Millisecond
)

// reconnect opens another stream of the agent's in the place of one that broke while its
// task went on, for all clients of the feed, with this exchange's request. cause is what
// the first ended with. An error is what its clients are told.
//
// The pause doubles from firstRetry to ownership.LastRetry. An error that says the agent will not
// come back (not found, permission) ends the tries at once. The context is the client's, so that
// the next client takes over where this one leaves.
func (se *Sessions) reconnect(ctx context.Context, a *subscriber, cause error) error {
	tried := cause
	x, window := a.x, se.StreamConfig.Resubscribe.Std()
	ctx = se.Telemetry.Under(ctx, x.Ctx)
	since, times := a.tracker(x.Upstream).Losing(a.feed.Newest())
	for pause := pauseBefore(times); time.Since(since)+pause < window; pause = min(max(2*pause, firstRetry), ownership.LastRetry) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		o, how, err := se.reopen(ctx, a)
		if err == nil {
			x.Rec.Regained++
			se.Telemetry.Metrics.Streams.Regained(x.Agent.ID, how)
			a.tracker(x.Upstream).Mend()
			a.feed.Resume(o)
			return nil
		}
		if tried = fmt.Errorf("%w: %w", tried, err); !forward.MayComeBack(err) {
			break
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	se.Telemetry.Metrics.Streams.Regained(x.Agent.ID, "lost")
	return streamLost(cause, tried)
}

// pauseBefore is how long an agent is left alone whose streams have broken so often, one
// after the other and with nothing new in them.
func pauseBefore(times int) time.Duration {
	if times == 1 {
		return 0
	}
	return min(firstRetry<<min(times-2, 10), ownership.LastRetry)
}

// streamLost is what clients are told of a stream that stays lost: what it ended with, and no
// more that it is lost, which would have them look for another. tried is that and what became
// of looking for another.
func streamLost(cause, tried error) error {
	for _, known := range []error{ending.ErrIdle, ending.ErrTooLarge, ending.ErrBroken} {
		if errors.Is(cause, known) {
			return fmt.Errorf("%w (%v)", known, tried) //nolint:errorlint // see above
		}
	}
	return fmt.Errorf("%w (%v)", ending.ErrEarly, tried) //nolint:errorlint // see above
}

// reopen asks the agent for the task's stream, and where it has none watches the task.
// What of the task the feed has not shown comes first.
func (se *Sessions) reopen(ctx context.Context, a *subscriber) (o stream.Opened, how string, err error) {
	source, err := se.subscribeAgain(ctx, a)
	if err == nil {
		return source, "regained", nil
	}
	if !errors.Is(err, forward.ErrNoStream) {
		return stream.Opened{}, "", err
	}
	if o, err = se.pollTask(ctx, a); err != nil {
		return stream.Opened{}, "", err
	}
	return o, "polled", nil
}

// subscribeAgain opens a stream of SubscribeToTask and takes its first event. What is
// missing is found by comparing the task as the agent shows it with what the feed has
// shown: in front of an agent of 1.0 that is the first event, else it is asked for.
//
// The request is detached from the client's context once it has succeeded, because it now serves
// all clients of the feed.
func (se *Sessions) subscribeAgain(ctx context.Context, a *subscriber) (o stream.Opened, err error) {
	l, err := a.x.Asking(intake.Question(ownership.SubscribeToTask, a.task, nil))
	if err != nil {
		return o, fmt.Errorf("%w: %w", forward.ErrNoStream, err)
	}
	opening, cancel := context.WithTimeout(ctx, a.x.Agent.Upstream.Timeout(wire.SubscribeToTask))
	defer cancel()
	up := forward.Detach(opening, ctx)
	l, resp, err := se.SendUpstream(up.Ctx, a.x, l)
	if err != nil {
		up.Stop()
		return o, forward.Broken(ctx, err)
	}
	defer l.Trail.End(resp.StatusCode, nil)
	defer func() {
		if err != nil {
			up.Stop()
			_ = resp.Body.Close() // nothing is wanted of it
		}
	}()
	if e := forward.Unreadable(resp); e != nil {
		return o, e
	}
	if !streams(resp, l) {
		return o, se.WhyNoStream(a.x, l, resp)
	}
	o = se.OpenedStream(a.x, l, resp, up)
	j := se.newJudge(a.x, l)
	source := o.From(resp.Body, int(se.Server.Limits.Event))
	var lead [][]byte
	var state string
	if l.Version == wire.V10 {
		lead, state, err = se.firstOf(a, l, source)
	} else if lead, state, err = se.catchUp(ctx, a, l); err == nil {
		source = se.watched(up.Ctx, a, l, resp, source, j)
	}
	if err != nil {
		return o, err
	}
	o.Judge = j.goesOn(state).follows(a).look
	o.From = func(io.Reader, int) agentevents.Source { return &leading{Source: source, lead: lead} }
	up.Keep()
	return o, nil
}

// firstOf reads the first event of a regained stream, which is the task as it is, and
// gives what of it the feed has not shown, and the task's state.
//
// An agent of 1.0 begins with the task (A2A 1.0 §3.1.6); one that does not is treated as having
// no stream.
func (se *Sessions) firstOf(a *subscriber, l *exchange.UpstreamCall, source agentevents.Source) (lead [][]byte, state string, err error) {
	for {
		event, err := source.Next()
		switch {
		case err != nil:
			return nil, "", fmt.Errorf("%w: %w", ending.ErrBroken, err)
		case !event.HasData:
			continue
		}
		found, err := se.ReadEvent(l.Side, l.Call.Method, event.Data)
		switch {
		case err != nil:
			return nil, "", err
		case exchange.IsError(*found.Seen):
			return nil, "", fmt.Errorf("%w: %w", forward.ErrNoStream, forward.AgentError(failure.ReadError(l.Side, http.StatusOK, found.DocOf(event.Data))))
		case found.Seen.Kind != "task":
			return nil, "", fmt.Errorf("%w: it does not begin with the task", forward.ErrNoStream)
		}
		lead, err = a.missing(l, found.DocOf(event.Data))
		return lead, found.Seen.State, err
	}
}

// catchUp asks for the task as it is and gives what of it the feed has not shown, and the
// task's state.
func (se *Sessions) catchUp(ctx context.Context, a *subscriber, as *exchange.UpstreamCall) (lead [][]byte, state string, err error) {
	l, doc, seen, err := se.AskAboutTask(ctx, a.x, intake.Question(intake.GetTask, a.task, nil))
	if err != nil {
		return nil, "", err
	}
	lead, err = a.missing(as, newSnapshot(l, doc).doc)
	return lead, seen.State, err
}

// leading gives events of the gateway's own before those of a stream.
type leading struct {
	agentevents.Source
	lead [][]byte
}

// Next implements stream.Source.
func (s *leading) Next() (agentevents.Event, error) {
	if len(s.lead) > 0 {
		data := s.lead[0]
		s.lead = s.lead[1:]
		return agentevents.Event{Data: data, HasData: true}, nil
	}
	return s.Source.Next()
}

// Skip has the stream pass over an event that was too large.
func (s *leading) Skip() (int64, error) { return agentevents.Skip(s.Source) }
