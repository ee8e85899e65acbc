package session

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// subscriber is one client of a feed: the exchange that the feed's events are written to.
//
// One goroutine uses it at a time, but for Close and what is atomic. Next, Await and Close make
// it the relay's Entries.
type subscriber struct {
	sessions *Sessions
	x        *exchange.Exchange
	feed     *stream.Feed
	cursor   *stream.Cursor
	judge    *judge         // of the first source of the feed that the exchange has opened; else nil
	resp     *http.Response // of the agent, where the exchange has opened the feed; else nil

	shown   *snapshot       // what the client has been shown already; nil for nothing
	from    *snapshot       // where a subscription began whose agent does not show it; else nil
	task    string          // that the feed is bound to; "" for none
	polled  atomic.Bool     // the task is looked at: the end of the agent's stream says nothing
	alone   bool            // the feed stays nobody's but this client's
	epoch   [8]byte         // of the event before
	ids     string          // what the ids of its epoch begin with; "" before there are any
	made    strings.Builder // ids, one behind the other
	forgot  bool            // the client was told to forget the id it came with
	lead    []stream.Entry  // given before those of the feed
	owed    atomic.Int64    // what was borrowed for them
	missed  uint64          // number of the newest event that a client who came back has missed
	watched *watchedEvent   // the event that is given, for those who watch; nil for nobody
	held    *heldEvents     // those that wait for what comes behind them; nil where no guard looks at events
}

// Next gives the next event. When the agent's stream is lost and it falls to this client
// to open another, it does.
//
// What it does about ErrLost is done by one client of the feed at a time: the cursor chooses it,
// and chooses another when it leaves.
func (a *subscriber) Next(ctx context.Context) (stream.Entry, error) {
	if len(a.lead) > 0 {
		e := a.lead[0]
		a.lead[0] = stream.Entry{} // the stream may go on for hours
		a.lead = a.lead[1:]
		return e, nil
	}
	a.settle()
	if a.cursor == nil {
		return a.last()
	}
	for {
		e, err := a.coming(ctx)
		if !errors.Is(err, stream.ErrLost) {
			return e, err
		}
		if over, end := a.over(); over {
			a.feed.Fail(end)
			continue
		}
		if errors.Is(err, ending.ErrIdle) && !a.ended() { // the agent could have said something, and has not
			a.feed.Fail(streamLost(err, err))
			continue
		}
		if failed := a.sessions.reconnect(ctx, a, err); failed != nil && ctx.Err() == nil {
			if errors.Is(failed, ending.ErrEarly) && a.sessions.StreamConfig.Resubscribe.Std() == 0 {
				failed = io.EOF // nobody has looked for another, so that its end is all there is to say
			}
			a.feed.Fail(failed)
		}
	}
}

// Await has again called as soon as Next would not wait, unless that is so already.
func (a *subscriber) Await(again func()) bool {
	return len(a.lead) == 0 && !a.held.waiting() && a.cursor != nil && a.cursor.Await(again)
}

// ready reports whether Next would not wait.
func (a *subscriber) ready() bool {
	return len(a.lead) > 0 || a.held.waiting() || a.cursor == nil || a.cursor.Ready()
}

// more reports whether there is an event at once that takes no time to be passed on: one
// about which nobody else has to be asked.
func (a *subscriber) more() bool {
	if len(a.lead) > 0 || a.cursor == nil {
		return false
	}
	e, ok := a.cursor.Peek()
	if !ok {
		return false
	}
	found, ok := e.Seen.(*intake.Judged)
	return ok && !exchange.IsError(*found.Seen) && !forward.AsksForMore(found.Seen.State)
}

// borrow has the entries before those of the feed counted with what streams keep: a task
// as it is belongs to this client alone, who may take a minute to read it.
func (a *subscriber) borrow() error {
	var n int64
	for i := range a.lead {
		n += int64(len(a.lead[i].Data))
	}
	if n == 0 {
		return nil
	}
	if err := a.sessions.Hub.Borrow(a.x.Holder(), n); err != nil {
		return err
	}
	a.owed.Store(n)
	return nil
}

// settle gives back what was borrowed.
func (a *subscriber) settle() {
	if n := a.owed.Swap(0); n > 0 {
		a.sessions.Hub.Return(a.x.Holder(), n)
	}
}

// Close leaves the feed.
func (a *subscriber) Close() {
	a.settle()
	if a.cursor != nil {
		a.cursor.Close()
	}
}

// over reports whether the agent has said, by the status of a gRPC call, that its stream
// has ended for a reason that another stream would end for as well.
func (a *subscriber) over() (bool, error) {
	if a.resp == nil || a.x.Upstream.Binding != wire.GRPC || a.polled.Load() {
		return false, nil
	}
	e := failure.ReadStatus(a.resp.Header, a.resp.Trailer)
	if e == nil || e.Kind == wire.Unavailable || e.Kind == wire.BadAgentResponse {
		return false, nil
	}
	return true, io.EOF // the status is read when the stream is ended
}

// bind makes the feed that of the task which its first event has shown, now that it is
// known to be the caller's: others may join it, and its events have ids.
//
// It is asked for each event until it has answered: a message has no task to bind, and a feed
// that another stream of the task is in already stays this client's alone.
func (a *subscriber) bind(seen wire.Answer) error {
	x := a.x
	if a.task != "" || a.alone || a.resp == nil || seen.Kind == "" || seen.Kind == "message" || len(seen.Tasks) != 1 {
		return nil
	}
	task := seen.Tasks[0].ID
	bound, err := a.feed.Bind(x.Ctx, record.FeedOf(x.Agent.ID, task))
	if err != nil || !bound {
		a.alone = true // somebody else's stream of the task is there already
		return err
	}
	a.task = task
	a.tracker(x.Upstream) // from the beginning on
	return nil
}

// tail gives the client what was held back of the agent's events until its stream had
// ended: the state of a task that was said to have ended before it had.
func (a *subscriber) tail(emit relay.Emit) error {
	if a.resp != nil && !a.mended() && a.x.Upstream.Binding == wire.GRPC && failure.ReadStatus(a.resp.Header, a.resp.Trailer) != nil {
		return nil // the stream has failed, and may have had more to say
	}
	return a.emit(stream.Entry{}, emit, func(emit exchange.Telling) error {
		err := a.x.Upstream.Retell.End(func(event []byte) error { return emit("", event) })
		if err != nil {
			return exchange.Retelling(err)
		}
		return nil
	})
}

// recall has an upstream call know what the client was not told before it had the event of a number.
//
// A translation remembers what it has said (that the task was shown, what it holds back); a
// client that resumes in the middle has it told by the newest event that the client has had.
func (a *subscriber) recall(l *exchange.UpstreamCall, number uint64) {
	if l.Retell == nil {
		return
	}
	l.Retell.GoOn()
	if found, data := a.newest(l.Side, number); found != nil {
		l.Retell.Recall(found.DocOf(data))
	}
}

// ended reports whether the agent has said that the task has ended, if not that its stream
// has.
func (a *subscriber) ended() bool {
	found, _ := a.newest(a.x.Upstream.Side, a.feed.Newest())
	return found != nil && taskstate.Terminal(found.Seen.State)
}

// newest is the newest event that is kept and names a state, of those up to a number; nil
// for none.
func (a *subscriber) newest(side wire.Side, number uint64) (*intake.Judged, []byte) {
	from, entries := a.feed.Entries()
	for i := len(entries) - 1; i >= 0; i-- {
		if from+uint64(i) > number {
			continue
		}
		found, err := a.sessions.JudgedOf(side, entries[i])
		if err == nil && found.Seen.State != "" {
			return found, entries[i].Data
		}
	}
	return nil, nil
}

// mended reports whether the agent's first stream was followed by others.
func (a *subscriber) mended() bool {
	if a.task == "" {
		return false
	}
	t := a.tracker(a.x.Upstream)
	t.Mu.Lock()
	defer t.Mu.Unlock()
	return !t.Regained.IsZero()
}
