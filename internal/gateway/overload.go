package gateway

import (
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
)

// report has the metrics say what was measured, and the log what is new of it.
func (g *Gateway) report(r *overload.Reading) {
	m := g.telemetry.Metrics
	m.Memory(r.Used, r.Soft, r.Hard)
	m.Delayed(r.Delay)
	m.StreamBuffers(g.hub.Kept())
	before := g.standing
	g.standing = r.Standing
	for _, rung := range overload.Measured() {
		stands := slices.Contains(r.Standing, rung)
		m.Stands(string(rung), stands)
		switch stood := slices.Contains(before, rung); {
		case stands && !stood:
			g.telemetry.Log.Warn("too much to do, calls are refused", "limit", "server.limits."+string(rung), "measured", measured(rung, r))
		case stood && !stands:
			g.telemetry.Log.Info("no calls are refused any more", "limit", "server.limits."+string(rung), "measured", measured(rung, r))
		}
	}
}

// measured is a reading in words.
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

// strain has a line of /readyz for each rung that stands.
func (g *Gateway) strain() []string {
	r := g.work.Reading()
	if r == nil || len(r.Standing) == 0 {
		return []string{"load: ok"}
	}
	var lines []string
	for _, rung := range r.Standing {
		lines = append(lines, line("load", true, fmt.Sprintf("%s: %s", rung, measured(rung, r))))
	}
	return lines
}
