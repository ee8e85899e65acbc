package session

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/fold"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// shareFeed gives a caller who subscribes to a task the stream of the agent's that others
// have already: the task as it is by what they were shown, and what comes after that.
// done is false where there is none that would show this caller the same.
//
// A feed is shared only if it shows this caller the same as the agent would: the same interface,
// under the same extensions (its form says so). Everything else, ownership above all, has been
// checked for the call.
func (se *Sessions) shareFeed(x *exchange.Exchange) (done bool, err error) {
	feed, err := se.Hub.Find(x.Ctx, record.FeedOf(x.Agent.ID, x.Call.TaskID))
	if err != nil || feed == nil || !feed.Live() {
		return false, err
	}
	l, err := readFeed(x, feed, x.Call.TaskID)
	if err != nil || l == nil || l.Version != wire.V10 {
		return false, err // 0.x leaves it to the agent what a subscription begins with
	}
	a := &subscriber{sessions: se, x: x, feed: feed}
	a.lead, a.cursor, err = se.beginning(a, l)
	if err != nil || a.cursor == nil {
		return false, err
	}
	x.Rec.Joined = true
	return true, se.followFeed(x, a, l, x.Call.TaskID)
}

// beginning is the task as it is by what the feed has shown, and where the feed goes on
// from there. There is no cursor where it cannot be said.
//
// The task is folded from the feed's events (package fold) instead of asked for, so that no event
// can fall between the answer and the stream.
func (se *Sessions) beginning(a *subscriber, l *exchange.UpstreamCall) ([]stream.Entry, *stream.Cursor, error) {
	task, shown, number, ok := a.tracker(l).Now(a.feed)
	if !ok {
		return nil, nil, nil
	}
	lead, err := a.showing(l, task, shown, number)
	if err != nil {
		return nil, nil, err
	}
	cursor, err := a.feed.Cursor(number)
	if err != nil {
		return nil, nil, nil //nolint:nilerr // others have gone on faster than this one could look
	}
	return lead, cursor, nil
}

// followFeed has the exchange follow a feed that it has not opened itself.
//
// The exchange takes over the feed's upstream call, by which its events are read and translated,
// and has no response of the agent's.
func (se *Sessions) followFeed(x *exchange.Exchange, a *subscriber, l *exchange.UpstreamCall, task string) error {
	x.Upstream, x.Endpoint, x.Activated = l, l.Endpoint, x.Terms.Send
	if x.Rec.Endpoint = l.Address; !x.Alike(l.Side) {
		x.Rec.TranslatedTo = l.String()
	}
	a.task = task
	x.Writer.Header().Set("Content-Type", mediatype.Events)
	x.Stamp()
	return se.serveSubscriber(x, a)
}

// readFeed is how the exchange reads the events of a feed. It is nil where the feed is
// not what the agent would show this caller: under other extensions, or at an interface
// that the caller may not use.
//
// The endpoint of the exchange is changed for the time of translating and put back, since the
// translation reads it from there.
func readFeed(x *exchange.Exchange, feed *stream.Feed, task string) (*exchange.UpstreamCall, error) {
	for i := range x.View.Endpoints {
		e := &x.View.Endpoints[i]
		if !x.MayUse(e) || feed.Form() != x.Form(&exchange.UpstreamCall{Endpoint: e}) {
			continue
		}
		was := x.Endpoint
		defer func() { x.Endpoint = was }()
		if x.Endpoint = e; x.Alike(e.Side) {
			return &exchange.UpstreamCall{Endpoint: e, Call: &x.Call}, nil
		}
		return x.Translated(intake.Question(ownership.SubscribeToTask, task, nil), nil, &x.Call)
	}
	return nil, nil
}

// tracker is that of the audience's feed.
func (a *subscriber) tracker(l *exchange.UpstreamCall) *ownership.Tracker {
	t, _ := a.feed.Follower(func() stream.Follower {
		return a.sessions.NewTracker(ownership.Dialect{Side: l.Side, Bytes: a.x.Agent.Bytes()})
	}).(*ownership.Tracker)
	return t
}

// showing is the task as the client is to be shown it first: in the agent's own event,
// byte for byte, as long as it is what that says.
func (a *subscriber) showing(l *exchange.UpstreamCall, task *fold.Task, shown *stream.Entry, number uint64) ([]stream.Entry, error) {
	if shown == nil {
		return a.snapshot(l, task, number)
	}
	e := *shown
	e.Number, e.Epoch, e.Last = number, [8]byte{}, false
	return []stream.Entry{e}, nil
}

// snapshot is the task as an event of the agent's would show it, under the number of the
// event that it has come to.
//
// It is made in A2A 1.0 and then said as the agent would say it, so that it takes the same way as
// the agent's own events: judged, translated, restored.
func (a *subscriber) snapshot(l *exchange.UpstreamCall, task *fold.Task, number uint64) ([]stream.Entry, error) {
	doc, err := task.Snapshot([]byte(`{"task":`))
	if err != nil {
		return nil, wire.Errorf(wire.Internal, "").Because(err)
	}
	return a.entries(l, [][]byte{append(doc, '}')}, number)
}

// entries are events of A2A 1.0 as the agent would have said them.
func (a *subscriber) entries(l *exchange.UpstreamCall, events [][]byte, number uint64) ([]stream.Entry, error) {
	said, err := ownership.Dialect{Side: l.Side, Bytes: a.x.Agent.Bytes()}.FromCanonical(l.Call.ID, events)
	if err != nil {
		return nil, wire.Errorf(wire.Internal, "").Because(err)
	}
	list := make([]stream.Entry, len(said))
	for i, data := range said {
		list[i] = stream.Entry{Number: number, Data: data, Made: true}
	}
	return list, nil
}

// missing compares the task as the agent shows it, in an event as it says it, with what
// the feed has shown, and gives the events that are missing, as the agent would have said
// them. Where the feed does not know the task, that event is all there is.
//
// The events are a new status, new artifacts or parts of them, or the whole task where the
// difference cannot be said by events.
func (a *subscriber) missing(l *exchange.UpstreamCall, doc []byte) ([][]byte, error) {
	task, _, _, known := a.tracker(l).Now(a.feed)
	if !known {
		task = nil
	}
	return ownership.Dialect{Side: l.Side, Bytes: a.x.Agent.Bytes()}.Missing(l.Call.ID, doc, task)
}
