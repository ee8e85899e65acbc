package proxy

import (
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// skip passes over an event.
func (j *judge) skip() ([]stream.Entry, error) {
	j.said.skipped.Add(1)
	j.sessions.Telemetry.Metrics.StreamSkipped(j.agent)
	return nil, nil
}
