package proxy

import (
	"cmp"
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

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
