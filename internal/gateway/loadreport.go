package gateway

import (
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/status"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// loadReport says how much there is to do, for all configurations together. The ladder
// measures and refuses by itself; this is what it tells others of it.
type loadReport struct {
	telemetry *telemetry.Telemetry
	hub       *stream.Hub

	ladder   overload.Ladder
	standing []overload.Rung // as reported last
}

// report has the metrics say what was measured, and the log what is new of it. It is called
// ten times a second by the one goroutine that measures, so that standing needs no lock. A
// line is logged when a rung begins to refuse calls and when it ends, not each time.
func (l *loadReport) report(r *overload.Reading) {
	m := &l.telemetry.Metrics.Load
	m.Memory(r.Used, r.Soft, r.Hard)
	m.Delayed(r.Delay)
	l.telemetry.Metrics.Streams.Buffers(l.hub.Kept())
	before := l.standing
	l.standing = r.Standing
	for _, rung := range overload.Measured() {
		stands := slices.Contains(r.Standing, rung)
		m.Stands(string(rung), stands)
		switch stood := slices.Contains(before, rung); {
		case stands && !stood:
			l.telemetry.Log.Warn("too much to do, calls are refused", "limit", "server.limits."+string(rung), "measured", measured(rung, r))
		case stood && !stands:
			l.telemetry.Log.Info("no calls are refused any more", "limit", "server.limits."+string(rung), "measured", measured(rung, r))
		}
	}
}

// measured is a reading in words. It is for the log and for /readyz, in the units that the
// limits are configured in.
func measured(rung overload.Rung, r *overload.Reading) string {
	switch rung {
	case overload.Delay:
		return fmt.Sprintf("work waits %s for a processor", r.Delay.Round(time.Millisecond))
	case overload.SoftMemory:
		return fmt.Sprintf("%d of %d MiB in use", r.Used>>20, r.Soft>>20)
	case overload.Memory:
		return fmt.Sprintf("%d of %d MiB in use", r.Used>>20, r.Hard>>20)
	}
	return fmt.Sprintf("%d of %d descriptors open", r.Open, r.Permitted)
}

// details has a line of /readyz for each rung that stands. Before the first measurement
// there is nothing wrong with the load.
func (l *loadReport) details() []string {
	r := l.ladder.Reading()
	if r == nil || len(r.Standing) == 0 {
		return []string{"load: ok"}
	}
	var lines []string
	for _, rung := range r.Standing {
		lines = append(lines, status.Line("load", true, fmt.Sprintf("%s: %s", rung, measured(rung, r))))
	}
	return lines
}
