package stream

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// farewell is how long an agent may take to end its stream once the task has settled:
// an orderly end keeps the connection for other calls.
const farewell = time.Second

// source is one stream of an agent that is read for a feed.
type source struct {
	Opened

	feed   *Feed
	room   chan struct{} // has room for one: a client has gone on
	limits Limits
	idle   *time.Timer

	once  sync.Once
	done  chan struct{}
	cause error // why it was stopped; set before done is closed
}

func newSource(f *Feed, o Opened) *source {
	return &source{Opened: o, feed: f, room: make(chan struct{}, 1), done: make(chan struct{})}
}

// begin gives a feed a source, which start is to be called of once the feed is not
// locked any more.
func (f *Feed) begin(o Opened) *source {
	f.source, f.release = newSource(f, o), false
	return f.source
}

func (s *source) start() {
	if s.feed.hub.enter(s) {
		go s.run()
		return
	}
	s.stop(ErrDraining)
	s.finish(ErrDraining)
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
	select {
	case s.room <- struct{}{}:
	default:
	}
}

func (s *source) run() {
	defer s.feed.hub.leave(s)
	err := s.contained()
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
	idle.stop(ErrGone)
}

// contained is pump for a goroutine that nobody else's recover protects: a Judge that
// panics must not end the process with everybody's calls.
func (s *source) contained() (err error) {
	defer func() {
		if v := recover(); v != nil {
			s.feed.hub.log.Error("judge of a stream panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("judge an event: panic: %v", v)
		}
	}()
	return s.pump()
}

// pump reads the source to its end. Reads know no contexts: whatever ends the source
// early closes the body.
func (s *source) pump() error {
	s.limits = s.feed.hub.settings().limits
	s.idle = time.AfterFunc(s.limits.Idle, func() { s.stop(ErrIdle) })
	defer s.idle.Stop()
	from := s.From
	if from == nil {
		from = Events
	}
	events := from(s.Body, s.limits.Event)
	for {
		event, err := events.Next()
		if err != nil {
			return s.end(named(err))
		}
		s.idle.Reset(s.limits.Idle)
		if !event.HasData {
			continue // the agent's comments belong to its own hop
		}
		last, err := s.judge(event)
		if err != nil {
			return err
		}
		if last {
			s.idle.Reset(farewell)
			return s.discard(events)
		}
	}
}

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

// discard reads what is behind the last entry, which nobody gets.
func (s *source) discard(events Source) error {
	for {
		if _, err := events.Next(); err != nil {
			return named(err)
		}
	}
}

// judge adds what is kept of an event, and tells whether it is the last.
func (s *source) judge(event Event) (last bool, err error) {
	size := int64(len(event.Data))
	event.Data = append(make([]byte, 0, size), event.Data...)
	entries, refusal := s.Judge(event)
	for i, e := range entries {
		cost := costOf(e)
		if i == 0 {
			cost = max(cost, size+overhead) // it may hold all of the event
		}
		if err := s.add(item{e, cost}); err != nil {
			return false, err
		}
		if e.Last {
			return true, nil
		}
	}
	return false, refusal
}

// add puts an entry into the feed when there is room for it. While the feed's clients
// are behind, the agent is not to blame for the silence; before there is one, it would
// never end.
func (s *source) add(it item) error {
	for waited := false; ; waited = true {
		f := s.feed.lock()
		full, left := f.full(it.cost)
		joined := f.joined
		if !full {
			f.push(it)
		}
		f.mu.Unlock()
		if !full {
			if s.feed.hub.squeeze(); waited {
				s.idle.Reset(s.limits.Idle)
			}
			return nil
		}
		if joined {
			s.idle.Stop()
		}
		if !s.wait(left) {
			return s.cause
		}
	}
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
	case errors.Is(err, sse.ErrTooLarge), errors.Is(err, wire.ErrMessageTooLarge):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}
