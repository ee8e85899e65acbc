// Package openstreams knows the event streams that clients have open, whichever configuration
// they began with: how many each principal may have, what they use of the state, and which of
// them are to end because their callers could not open them any more.
//
// It does not read or write streams: proxy does. It may import policy, policy/ledger,
// policy/limits, authn, telemetry and below.
//
// # The life of a stream
//
//	Take     a place within server.limits.streams and streams.perPrincipal, or ErrStreams, ErrOwnStreams (503, Retry-After)
//	Watch    it is listed, reviewed and ended in time; Told counts its events
//	Follow   somebody watches what its client is given; Show adds to that, and Over ends it
//	Review   every few seconds and after a reload: the caller could not open it any more, so ErrRevoked
//	Renew    the ids it uses are kept alive in the state, which forgets what nobody asks for
//	Leave    the place is free once the client and whatever reads the agent's stream have left
//
// A client that leaves may keep its place in limits of calls at the same time while the agent
// works on (Abandon), and takes it up again when it comes back (Resume).
package openstreams

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Why a stream does not begin, or does not go on.
var (
	ErrStreams    = errors.New("too many event streams are open")
	ErrOwnStreams = errors.New("too many event streams of one caller are open")
	ErrRevoked    = errors.New("caller no longer permitted") // the caller could no longer open the stream
	ErrLifetime   = errors.New("stream lifetime over")       // it has lasted as long as one may
	ErrEnded      = errors.New("ended by an operator")
)

// Streams are the event streams that are open, whichever configuration they began
// with. The zero value has none.
type Streams struct {
	// Retention is how long the state knows what nobody asks it for; 0 for ever. It is set
	// before there are streams.
	Retention time.Duration

	taken atomic.Int64 // places, of streams that open too

	mu      sync.Mutex
	open    map[*Stream]struct{}
	of      map[string]int          // places taken, by principal
	gone    map[string]*limits.Pass // what is held for streams whose clients have left, by principal and task
	waiting map[*Uses]struct{}      // of calls that may wait long for their answers
}

// Abandon notes what is held for the stream of a task whose client has left.
func (s *Streams) Abandon(principal, feed string, limitPass *limits.Pass) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !limitPass.Holds() { // the stream has ended as well
		return
	}
	if s.gone == nil {
		s.gone = map[string]*limits.Pass{}
	}
	s.gone[principal+"\x00"+feed] = limitPass
}

// Resume gives the places of a stream to a client who comes back to it; nil for none.
func (s *Streams) Resume(principal, feed string) *limits.Pass {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limitPass := s.gone[principal+"\x00"+feed]; limitPass.Return() {
		return limitPass
	}
	return nil
}

// Forget forgets what is not held any more.
func (s *Streams) Forget(limitPass *limits.Pass) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.gone, func(_ string, held *limits.Pass) bool { return held == limitPass })
}

// enter takes a place for a stream, of most there are and of each that a principal has;
// 0 for any number. It says which of the two there is none of.
func (s *Streams) enter(principal string, most int64, each int) error {
	if s.taken.Add(1) > most {
		s.taken.Add(-1)
		return ErrStreams
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]int{}
	}
	if each > 0 && s.of[principal] >= each {
		s.taken.Add(-1)
		return ErrOwnStreams
	}
	s.of[principal]++
	return nil
}

// Open is how many places are taken.
func (s *Streams) Open() int { return int(s.taken.Load()) }

func (s *Streams) leave(principal string) {
	s.taken.Add(-1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[principal]--; s.of[principal] == 0 {
		delete(s.of, principal)
	}
}

// Slot is the place of a stream: of its client, and of what reads the agent's stream,
// which may go on for a while when the client has gone.
type Slot struct {
	streams   *Streams
	principal string
	users     atomic.Int32
}

// Take takes a place for a stream of the principal's, of most there are and of each that one may
// have; 0 for any number. Its errors are ErrStreams and ErrOwnStreams.
func (s *Streams) Take(principal string, most int64, each int) (*Slot, error) {
	if err := s.enter(principal, most, each); err != nil {
		return nil, err
	}
	pl := &Slot{streams: s, principal: principal}
	pl.users.Store(1)
	return pl, nil
}

// Share adds a user of the place.
func (pl *Slot) Share() { pl.users.Add(1) }

// Leave is called once by each user.
func (pl *Slot) Leave() {
	if pl.users.Add(-1) == 0 {
		pl.streams.leave(pl.principal)
	}
}

// Watch has a stream reviewed until done is called. ctx ends when a review finds that
// its caller could no longer open it, when End does, and with cut.
// It ends after life as well; 0 for never.
func (s *Streams) Watch(parent context.Context, st *Stream, life time.Duration) (ctx context.Context, cut context.CancelCauseFunc, done func()) {
	ctx, cut = context.WithCancelCause(parent)
	end := func() bool { return false }
	if life > 0 {
		end = time.AfterFunc(life, func() { cut(ErrLifetime) }).Stop
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*Stream]struct{}{}
	}
	st.cut = cut
	s.open[st] = struct{}{}
	return ctx, cut, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, st)
		end()
		cut(nil)
	}
}

// Judge says whether a stream could be opened again, as things are now. It asks nobody. shared
// says that its task is somebody else's.
type Judge interface {
	Stands(q policy.Request, shared bool) error
}

// Review ends the streams whose callers the judge would no longer let open them: their
// credential has ended or was revoked, the agent is gone, or the rules have changed.
// It is quick enough to be called every few seconds.
func (s *Streams) Review(now Judge) {
	for _, st := range s.all() {
		if err := now.Stands(st.request, st.shared); err != nil {
			s.end(st, fmt.Errorf("%w: %w", ErrRevoked, err))
		}
	}
}

// Status is an event stream that is open, as an operator sees it.
type Status struct {
	ID        string // of the request that it answers, as records have it
	Principal string
	Issuer    string // of the principal
	Agent     string
	Skill     string // "" where it is not known
	Method    string
	Task      string // "" while none was named
	Binding   wire.Binding
	Version   wire.Version
	Source    netip.Addr // of the client; the zero Addr where it is not known
	Began     time.Time
	Events    int64 // that the client was given
	Captured  bool  // a rule captures the events
}

// Stream is what a stream was permitted by, how it goes, and how to end it.
type Stream struct {
	id      string
	request policy.Request
	shared  bool                    // the task is somebody else's, and shared
	uses    *Uses                   // what the stream uses of the state
	cut     context.CancelCauseFunc // under Streams.mu

	events   atomic.Int64
	task     atomic.Pointer[string]     // nil while none was named
	watchers atomic.Pointer[[]*Watcher] // nil while nobody watches

	// Captured says that a rule captures what the stream's client is given. It is set before the stream is
	// listed.
	Captured bool
}

// NewStream is the stream that answers a request of this id, of a call that was permitted as
// request; shared says that its task is somebody else's.
func NewStream(id string, request policy.Request, shared bool, uses *Uses, task string, events int64) *Stream {
	st := &Stream{id: id, request: request, shared: shared, uses: uses}
	if task != "" {
		st.task.Store(&task)
	}
	st.events.Store(events)
	return st
}

// Told notes that the client was given an event.
func (st *Stream) Told(rec *telemetry.Exchange) {
	st.events.Store(rec.Events)
	if rec.TaskID != "" && st.task.Load() == nil {
		task := rec.TaskID
		st.task.Store(&task)
	}
}

func (st *Stream) show() Status {
	q := &st.request
	shown := Status{
		ID: st.id, Principal: q.Principal.Subject, Issuer: q.Principal.Issuer, Agent: q.Agent, Skill: q.Skill, Method: q.Method.Name,
		Binding: q.Binding, Version: q.Version, Source: q.Source, Began: q.Now, Events: st.events.Load(),
		Captured: st.Captured,
	}
	if task := st.task.Load(); task != nil {
		shown.Task = *task
	}
	return shown
}

// List has all streams that are open, in no order.
func (s *Streams) List() []Status {
	all := s.all()
	list := make([]Status, len(all))
	for i, st := range all {
		list[i] = st.show()
	}
	return list
}

// End ends the stream that answers the request of this id; false where there is none. Its
// client is told to subscribe again: the task goes on.
func (s *Streams) End(id string) bool {
	for _, st := range s.all() {
		if st.id == id {
			return s.end(st, ErrEnded)
		}
	}
	return false
}

func (s *Streams) all() []*Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Stream, 0, len(s.open))
	for st := range s.open {
		all = append(all, st)
	}
	return all
}

// end ends a stream; false where it has ended.
func (s *Streams) end(st *Stream, why error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.open[st]; !open {
		return false
	}
	st.cut(why)
	return true
}
