package stream

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/netpoll"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// reserve is a Source that can tell whether Next would return without reading, and, by Rest,
// whether nothing of a next event is there. In that case it gives back what it needs only
// for reading.
type reserve interface {
	More() bool
	Rest() bool
}

// parker is a body that can be waited for without a goroutine: resume is called in one as
// soon as there is more of it, or it was closed, unless Park is false.
type parker interface{ Park(resume func()) bool }

// source is one stream of an agent that is read for a feed.
//
// run is the only reader. While the source is parked there is no goroutine at all, and the next
// byte makes one.
type source struct {
	Opened

	feed   *Feed
	limits Limits
	close  time.Duration // how long the agent may take to close its stream
	over   bool          // which it ought to: the newest entry is a last one
	idle   *time.Timer
	events agentevents.Source
	ahead  reserve      // events, where it can tell
	parker parker       // the body, where it can be waited for
	resume func()       // run, where there is something to read
	due    bool         // there is
	next   func()       // goes on with a client who has something to be given
	batch  *judgedItems // judged, and not in the feed yet; nil for nothing
	chunk  []byte       // memory for the next events' data

	room  chan struct{} // has room for one: clients have gone on
	waits bool          // for that; guarded by the feed's mutex
	until uint64        // and does not care before a client has come to this number; likewise

	once  sync.Once
	done  chan struct{}
	cause error // why it was stopped; set before done is closed
}

// newSource prepares a source; nothing is read before start.
func newSource(f *Feed, o Opened) *source {
	return &source{Opened: o, feed: f, room: make(chan struct{}, 1), done: make(chan struct{})}
}

// begin gives a feed a source, which start is to be called of once the feed is not
// locked any more.
func (f *Feed) begin(o Opened) *source {
	f.source, f.shared.release = newSource(f, o), false
	return f.source
}

// start begins to read in a goroutine, or ends the source at once where the hub is closed.
func (s *source) start() {
	if s.feed.hub.enter(s) {
		s.prepare()
		go s.run()
		return
	}
	s.stop(ending.ErrDraining)
	s.finish(ending.ErrDraining)
}

// stop ends a source; reading then fails. The first cause counts. It must not be called
// while the feed is locked, as it calls Stop.
func (s *source) stop(cause error) {
	if s == nil {
		return
	}
	s.once.Do(func() {
		s.cause = cause
		close(s.done)
		if s.Stop != nil {
			s.Stop()
		}
		_ = s.Body.Close() // nothing is left to do with it
	})
}

// retry has a source that waits for room look again.
func (s *source) retry() {
	if !s.waits {
		return
	}
	s.waits = false
	select {
	case s.room <- struct{}{}:
	default:
	}
}

// errParked says that somebody else goes on with a source, maybe already.
var errParked = errors.New("the source is waited for elsewhere")

// run reads a source for as long as there is something to read, and is called again then.
func (s *source) run() {
	next, err := s.contained()
	if errors.Is(err, errParked) {
		if next != nil {
			next()
		}
		return
	}
	defer s.feed.hub.leave(s)
	s.leave()
	s.idle.Stop()
	s.stop(err)
	s.finish(s.cause) // whatever stopped it, of which a read error is only the echo
}

// finish tells the feed that it has no source any more.
func (s *source) finish(err error) {
	f := s.feed.lock()
	var idle *source
	if f.source == s {
		idle = f.cease(err)
	}
	f.mu.Unlock()
	idle.stop(ending.ErrGone)
}

// contained is pump for a goroutine that nobody else's recover protects: a Judge that
// panics must not end the process with everybody's calls.
func (s *source) contained() (next func(), err error) {
	defer func() {
		if v := recover(); v != nil {
			s.feed.hub.log.Error("judge of a stream panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			_ = s.add() // what came before it; it may be too late for that
			err = fmt.Errorf("judge an event: panic: %v", v)
		}
	}()
	return s.pump()
}

// prepare prepares for reading. Reads know no contexts: whatever ends the source early
// closes the body.
func (s *source) prepare() {
	c := s.feed.hub.settings()
	s.limits, s.close = c.limits, c.CloseWait.Std()
	s.idle = time.AfterFunc(s.limits.Idle, func() { s.stop(ending.ErrIdle) })
	from := s.From
	if from == nil {
		from = agentevents.SSE
	}
	s.events = from(s.Body, s.limits.Event)
	s.ahead, _ = s.events.(reserve)
	if s.parker, _ = s.Body.(parker); s.parker != nil {
		s.resume = func() {
			s.due = true
			s.run()
		}
	}
}

// park has the source waited for without a goroutine, if that is possible. Where it is true
// run may have been called again already.
func (s *source) park() bool {
	return s.parker != nil && s.ahead != nil && s.ahead.Rest() && s.parker.Park(s.resume)
}

// leave has somebody else go on with a client.
func (s *source) leave() {
	if s.next != nil {
		go s.next()
		s.next = nil
	}
}

// pump reads the source to its end. When that is parked, next is for the caller to call,
// unless it is nil: a client that has something to be given.
//
// Events are added in batches: as long as another event lies in the buffer, and up to
// mostTogether, the next is judged first. A silent agent has its event added at once.
func (s *source) pump() (next func(), err error) {
	for {
		if s.batch == nil && !s.due {
			next, s.next = s.next, nil
			if s.park() {
				return next, errParked
			}
			s.next = next
		}
		s.due = false
		s.leave()
		event, err := s.events.Next()
		if err == nil && s.batch == nil && !s.over {
			s.idle.Reset(s.patience())
		}
		var refused *Dropped
		switch {
		case err != nil:
			err = s.end(named(err))
		case event.HasData: // the agent's comments belong to its own hop
			refused = s.judge(event)
		}
		if err == nil && refused == nil && !s.batch.full() && s.ahead != nil && s.ahead.More() {
			continue // what has come together is kept together
		}
		if failed := s.add(); failed != nil {
			return nil, failed
		}
		switch {
		case refused != nil:
			return nil, s.drop(refused)
		case errors.Is(err, ending.ErrTooLarge):
			return nil, s.drop(&Dropped{Events: 1, Err: err})
		case err != nil:
			return nil, err
		}
	}
}

// patience is how long the agent may be silent.
func (s *source) patience() time.Duration {
	if s.over {
		return s.close
	}
	return s.limits.Idle
}

// judgedItems are what is kept together.
type judgedItems struct{ items []item }

// mostTogether is how many that are at most, so that clients have something to do meanwhile.
const mostTogether = 96

func (b *judgedItems) full() bool { return b != nil && len(b.items) >= mostTogether }

// batches are for streams with much to say. The others need none while they are silent.
var batches = sync.Pool{New: func() any { return new(judgedItems) }}

// end is what an end of reading means.
func (s *source) end(err error) error {
	select {
	case <-s.done: // it was stopped, and err is only the echo
		return s.cause
	default:
	}
	if s.End != nil {
		if meant := s.End(err); meant != nil {
			return meant
		}
	}
	return err
}

// judge adds what is kept of an event to the batch, unless it is refused.
//
// The cost of an event is at least its own size, since the entries made of it may be slices of
// it.
func (s *source) judge(event agentevents.Event) *Dropped {
	size := int64(len(event.Data))
	event.Data = s.hold(event.Data)
	entries, refusal := s.Judge(event)
	if errors.Is(refusal, ErrAgain) {
		if s.add() != nil {
			return nil // it was stopped, which reading says
		}
		entries, refusal = s.Judge(event)
	}
	for i, e := range entries {
		cost := costOf(e)
		if i == 0 {
			cost = max(cost, size+overhead) // it may hold all of the event
		}
		if s.batch == nil {
			s.batch, _ = batches.Get().(*judgedItems)
		}
		s.batch.items = append(s.batch.items, item{e, cost})
		if s.over || e.Last { // behind the end only what clients get has the agent wait longer
			s.over = e.Last
			s.idle.Reset(s.patience())
		}
	}
	if refusal != nil {
		return &Dropped{Events: 1, Bytes: size, Err: refusal}
	}
	return nil
}

// largestChunk is how much memory is made at once for the data of events. An event that is
// kept keeps as much.
const largestChunk = 4 << 10

// hold copies data. Events that come one after the other share their memory; the first has
// none but its own, as few others may come.
func (s *source) hold(data []byte) []byte {
	n := len(data)
	if n > cap(s.chunk)-len(s.chunk) {
		if n > largestChunk/4 {
			return append(make([]byte, 0, n), data...)
		}
		s.chunk = make([]byte, 0, max(n, min(2*cap(s.chunk), largestChunk)))
	}
	from := len(s.chunk)
	s.chunk = append(s.chunk, data...)
	return s.chunk[from:len(s.chunk):len(s.chunk)]
}

// add puts the batch into the feed as far as there is room for it, and waits for more.
// While the feed's clients are behind, the agent is not to blame for the silence; before
// there is one, it would never end.
//
// evict is called without the feed's lock, as it locks other feeds.
func (s *source) add() error {
	if s.batch == nil {
		return nil
	}
	items := s.batch.items
	for n, waited := 0, false; n < len(items); waited = true {
		f := s.feed.lock()
		full, left := false, time.Duration(0)
		f.takes = s.next == nil
		for n < len(items) && !full {
			if full, left = f.full(items[n].cost); !full {
				f.push(items[n])
				n++
			}
		}
		s.waits, s.until = full, 0
		if left == 0 {
			s.until = f.enough()
		}
		joined := f.joined
		if f.takes = false; f.next != nil {
			s.next, f.next = f.next, nil
		}
		f.mu.Unlock()
		s.feed.hub.evict()
		if !full {
			if waited {
				s.idle.Reset(s.patience())
			}
			break
		}
		if joined {
			s.idle.Stop()
		}
		s.leave()
		if !s.wait(left) {
			return s.cause
		}
	}
	clear(items)
	s.batch.items = items[:0]
	batches.Put(s.batch)
	s.batch = nil
	return nil
}

// wait waits until a client has gone on, for not more than left where that is not 0; false
// where the source was stopped.
func (s *source) wait(left time.Duration) bool {
	var late <-chan time.Time
	if left > 0 {
		t := time.NewTimer(left)
		defer t.Stop()
		late = t.C
	}
	netpoll.Waits()
	select {
	case <-s.room:
	case <-late:
	case <-s.done:
		return false
	}
	return true
}

// named gives what reading came to the name that records know it by.
func named(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, sse.ErrTooLarge), errors.Is(err, grpcframe.ErrTooLarge):
		return fmt.Errorf("%w: %w", ending.ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %w", ending.ErrBroken, err)
}
