package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// errRevoked ends a stream whose caller could no longer open it.
var errRevoked = errors.New("caller no longer permitted")

// errLifetime ends a stream that has lasted as long as one may.
var errLifetime = errors.New("stream lifetime over")

// errEnded ends a stream that an operator does not want to go on.
var errEnded = errors.New("ended by an operator")

// Streams are the event streams that are open, whichever configuration they began
// with. The zero value has none.
type Streams struct {
	// Retention is how long the state knows what nobody asks it for; 0 for ever. It is set
	// before there are streams.
	Retention time.Duration

	taken atomic.Int64 // places, of streams that open too

	mu      sync.Mutex
	open    map[*openStream]struct{}
	of      map[string]int          // places taken, by principal
	gone    map[string]*limits.Pass // what is held for streams whose clients have left, by principal and task
	waiting map[*uses]struct{}      // of calls that may wait long for their answers
}

// abandon notes what is held for the stream of a task whose client has left.
func (s *Streams) abandon(principal, feed string, limitPass *limits.Pass) {
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

// resume gives the places of a stream to a client who comes back to it; nil for none.
func (s *Streams) resume(principal, feed string) *limits.Pass {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limitPass := s.gone[principal+"\x00"+feed]; limitPass.Return() {
		return limitPass
	}
	return nil
}

// forget forgets what is not held any more.
func (s *Streams) forget(limitPass *limits.Pass) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.gone, func(_ string, held *limits.Pass) bool { return held == limitPass })
}

// enter takes a place for a stream, of most there are and of each that a principal has;
// 0 for any number. It says which of the two there is none of.
func (s *Streams) enter(principal string, most int64, each int) error {
	if s.taken.Add(1) > most {
		s.taken.Add(-1)
		return errStreams
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]int{}
	}
	if each > 0 && s.of[principal] >= each {
		s.taken.Add(-1)
		return errOwnStreams
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

// slot is the place of a stream: of its client, and of what reads the agent's stream,
// which may go on for a while when the client has gone.
type slot struct {
	streams   *Streams
	principal string
	users     atomic.Int32
}

// take takes a place, as enter does.
func (s *Streams) take(principal string, most int64, each int) (*slot, error) {
	if err := s.enter(principal, most, each); err != nil {
		return nil, err
	}
	pl := &slot{streams: s, principal: principal}
	pl.users.Store(1)
	return pl, nil
}

func (pl *slot) share() { pl.users.Add(1) }

// leave is called once by each user.
func (pl *slot) leave() {
	if pl.users.Add(-1) == 0 {
		pl.streams.leave(pl.principal)
	}
}

// watch has a stream reviewed until done is called. ctx ends when a review finds that
// its caller could no longer open it, and when End does.
// It ends after life as well; 0 for never.
func (s *Streams) watch(parent context.Context, st *openStream, life time.Duration) (ctx context.Context, done func()) {
	ctx, cut := context.WithCancelCause(parent)
	end := func() bool { return false }
	if life > 0 {
		end = time.AfterFunc(life, func() { cut(errLifetime) }).Stop
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*openStream]struct{}{}
	}
	st.cut = cut
	s.open[st] = struct{}{}
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, st)
		end()
		cut(nil)
	}
}

// Review ends the streams whose callers p would no longer let open them: their
// credential has ended or was revoked, the agent is gone, or the rules have changed.
// It asks nobody, and is quick enough to be called every few seconds.
func (s *Streams) Review(p *Proxy) {
	for _, st := range s.all() {
		if err := p.recorder.stands(st.request, st.shared); err != nil {
			s.end(st, fmt.Errorf("%w: %w", errRevoked, err))
		}
	}
}

// stands asks again what was asked when a stream began, of the rules as they are now and
// at this time of day. How long ago the user authenticated counted then.
func (rc *recorder) stands(q policy.Request, shared bool) error {
	q.Begun, q.Now = q.Now, time.Now()
	if err := rc.Authn.Stands(q.Principal); err != nil {
		return err
	}
	agent := rc.agents[q.Agent]
	if agent == nil {
		return agents.ErrUnknown
	}
	if v := agent.Look(); v != nil {
		q.SkillScopes = v.Scopes // what the card asks for now
	}
	if q.Method.Extension != "" {
		// The registry of each configuration has methods of its own.
		all := rc.extra.Methods()
		i := slices.IndexFunc(all, func(m *wire.Method) bool { return m.Name == q.Method.Name })
		if i < 0 {
			return wire.Errorf(wire.MethodNotFound, "")
		}
		q.Method = all[i]
	}
	if shared && rc.Policy.Shares(q.Principal, q.Agent, q.Method, q.Task) == "" {
		return ledger.ErrAbsent
	}
	_, err := rc.Policy.Check(q)
	return err
}

// OpenStream is an event stream that is open, as an operator sees it.
type OpenStream struct {
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
}

// openStream is what a stream was permitted by, how it goes, and how to end it.
type openStream struct {
	id      string
	request policy.Request
	shared  bool                    // the task is somebody else's, and shared
	uses    *uses                   // what the stream uses of the state
	cut     context.CancelCauseFunc // under Streams.mu

	events atomic.Int64
	task   atomic.Pointer[string] // nil while none was named
}

func (x *exchange) stream() *openStream {
	st := &openStream{id: x.rec.RequestID, request: x.request(), shared: x.rec.Sharing != "", uses: x.inUse()}
	if task := cmp.Or(x.rec.TaskID, x.call.TaskID); task != "" {
		st.task.Store(&task)
	}
	st.events.Store(x.rec.Events)
	return st
}

// told notes that the client was given an event.
func (st *openStream) told(rec *telemetry.Exchange) {
	st.events.Store(rec.Events)
	if rec.TaskID != "" && st.task.Load() == nil {
		task := rec.TaskID
		st.task.Store(&task)
	}
}

func (st *openStream) show() OpenStream {
	q := &st.request
	shown := OpenStream{
		ID: st.id, Principal: q.Principal.Subject, Issuer: q.Principal.Issuer, Agent: q.Agent, Skill: q.Skill, Method: q.Method.Name,
		Binding: q.Binding, Version: q.Version, Source: q.Source, Began: q.Now, Events: st.events.Load(),
	}
	if task := st.task.Load(); task != nil {
		shown.Task = *task
	}
	return shown
}

// List has all streams that are open, in no order.
func (s *Streams) List() []OpenStream {
	all := s.all()
	list := make([]OpenStream, len(all))
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
			return s.end(st, errEnded)
		}
	}
	return false
}

func (s *Streams) all() []*openStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*openStream, 0, len(s.open))
	for st := range s.open {
		all = append(all, st)
	}
	return all
}

// end ends a stream; false where it has ended.
func (s *Streams) end(st *openStream, why error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.open[st]; !open {
		return false
	}
	st.cut(why)
	return true
}
