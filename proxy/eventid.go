package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// openMark reads the event id that the caller comes back with; nil without one. What is
// wrong with an id that is not good here nobody is told: it may be somebody else's.
func (se *sessions) openMark(x *exchange.Exchange) (*cursors.Mark, *wire.Error) {
	lines := x.Request.Header[cursors.ResumeHeader]
	if !x.Call.Streaming || len(lines) == 0 || len(lines) == 1 && lines[0] == "" {
		return nil, nil
	}
	var m cursors.Mark
	if len(lines) == 1 && se.ReadMark(x, lines[0], &m) && (x.Call.TaskID == "" || x.Call.TaskID == m.Task) {
		return &m, nil
	}
	se.Telemetry.Metrics.StreamRefused(x.Agent.ID)
	return nil, wire.Errorf(wire.InvalidParams, "Last-Event-ID is not one that this gateway has given you for this task")
}
