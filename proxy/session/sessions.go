// Package session serves the streams of clients: it reads the agent's events, judges and
// translates each, resumes behind Last-Event-ID, reconnects to the agent, polls an agent that
// does not stream, and keeps a stream going whose client has left.
package session

import (
	"bytes"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/authorize"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/tasklist"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Sessions serves the event streams of clients: it subscribes to agents, relays, resumes and reconnects.
type Sessions struct {
	*admit.Admissions
	*cursors.Cursors
	*negotiate.ExtensionRules
	*record.Recorder
	*webhooks.Webhooks
	*intake.Decoder
	*ownership.Owners
	*inspect.Inspector
	*forward.Forwarder
	*authorize.Authorizer
	*tasklist.Lister

	Drain        func(end func()) (stop func() bool)
	Hold         func() (release func())
	Hub          *stream.Hub
	Ledger       *ledger.Ledger
	Load         *overload.Ladder
	Policy       *policy.Set
	Server       *server.Config
	StreamConfig stream.Config
	Streams      *openstreams.Streams
	Telemetry    *telemetry.Telemetry
}

// openMark reads the event id that the caller comes back with; nil without one. What is
// wrong with an id that is not good here nobody is told: it may be somebody else's.
func (se *Sessions) openMark(x *exchange.Exchange) (*cursors.Mark, *wire.Error) {
	lines := x.Request.Header[cursors.ResumeHeader]
	if !x.Call.Streaming || len(lines) == 0 || len(lines) == 1 && lines[0] == "" {
		return nil, nil
	}
	var m cursors.Mark
	if len(lines) == 1 && se.ReadMark(x, lines[0], &m) && (x.Call.TaskID == "" || x.Call.TaskID == m.Task) {
		return &m, nil
	}
	se.Telemetry.Metrics.Streams.Refused(x.Agent.ID)
	return nil, wire.Errorf(wire.InvalidParams, "Last-Event-ID is not one that this gateway has given you for this task")
}

// holdPlace has the places of the call taken until the agent's stream is done with.
func (se *Sessions) holdPlace(x *exchange.Exchange, stop func()) func() {
	if !x.Outlives {
		return stop
	}
	limitPass, free := x.LimitPass, x.LimitPass.Hold()
	return func() {
		stop()
		free()
		se.Streams.Forget(limitPass)
	}
}

// skip passes over an event.
func (j *judge) skip() ([]stream.Entry, error) {
	j.said.skipped.Add(1)
	j.sessions.Telemetry.Metrics.Streams.Skipped(j.agent)
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

// unloadRequest lets go of a request once its answer streams: what came with it would stay in
// memory for as long as the stream is open. The buffer goes to the collector and not
// to the next call, so that nobody who still holds a part of it sees another's.
func unloadRequest(x *exchange.Exchange) {
	if x.Body == nil && x.Told == nil {
		return
	}
	x.Body, x.Told = nil, nil
	calls := []*wire.Call{&x.Call}
	if l := x.Upstream; l != nil {
		l.Body, l.Holder, l.Other = nil, nil, nil
		calls = append(calls, l.Call)
	}
	for _, c := range calls {
		c.ID = bytes.Clone(c.ID)
		c.Body, c.Params, c.Message = nil, nil, nil
	}
}
