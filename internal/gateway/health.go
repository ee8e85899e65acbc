package gateway

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
)

// Health implements console.Running.
func (r running) Health(ctx context.Context) console.Health {
	h := console.Health{
		Build: built(), Limits: r.limits(), Audit: r.auditHealth(),
		Sinks: []console.SinkHealth{}, Certificates: r.served(),
	}
	for _, st := range r.sinks.States() {
		h.Sinks = append(h.Sinks, console.SinkHealth{
			Kind: st.Kind, Waiting: int(st.Records), Oldest: st.Oldest.Seconds(), Failing: st.Failing, //nolint:gosec // never that many
		})
	}
	h.State = console.StoreHealth{Driver: "memory", OK: true}
	if err := r.store.Ping(ctx); err != nil {
		h.State.OK, h.State.Why = false, err.Error()
	}
	if s := r.current.Load(); s != nil {
		h.State.Driver = cmp.Or(s.config.State.Driver, h.State.Driver)
		h.Build.ID, h.Audit.FailOpen = s.config.Server.ID, s.config.Telemetry.Audit.FailOpen()
	}
	h.State.Shared = h.State.Driver == redisDriver
	return h
}

// built is what the program says of itself.
func built() console.Build {
	b := console.Build{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.GOMAXPROCS(0)}
	b.Host, _ = os.Hostname()
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return b
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}

func (g *Gateway) auditHealth() console.AuditHealth {
	a := console.AuditHealth{OK: true, Seq: int(g.audit.Seq())} //nolint:gosec // never that many
	if err := g.audit.Err(); err != nil {
		a.OK, a.Why = false, err.Error()
	}
	records, oldest := g.audit.Lag()
	a.Unsynced, a.Oldest = records, oldest.Seconds()
	return a
}

// limits are those whose use is known, as metrics have them, and what is measured.
func (g *Gateway) limits() []console.Limit {
	list := []console.Limit{}
	reading := g.work.Reading()
	stands := func(rung overload.Rung) bool { return reading != nil && slices.Contains(reading.Standing, rung) }
	units := map[string]string{"requests": "calls"}
	for _, u := range g.condition().Limits {
		list = append(list, console.Limit{
			Name: "server.limits." + u.Limit, Unit: cmp.Or(units[u.Limit], u.Limit), Used: float64(u.Used), Max: float64(u.Max),
			Refuses: stands(overload.Rung(u.Limit)) || u.Limit != "descriptors" && u.Max > 0 && u.Used >= u.Max,
		})
	}
	if reading != nil {
		list = append(list,
			console.Limit{Name: "server.limits.softMemory", Unit: "bytes", Used: float64(reading.Used), Max: float64(reading.Soft), Refuses: stands(overload.SoftMemory)},
			console.Limit{Name: "server.limits.memory", Unit: "bytes", Used: float64(reading.Used), Max: float64(reading.Hard), Refuses: stands(overload.Memory)},
			console.Limit{Name: "server.limits.delay", Unit: "seconds", Used: reading.Delay.Seconds(), Max: g.bounds().Delay.Seconds(), Refuses: stands(overload.Delay)},
		)
	}
	kept, most := g.hub.Kept()
	return append(list, console.Limit{Name: "streams.buffer.total", Unit: "bytes", Used: float64(kept), Max: float64(most)})
}

// served are the certificates of the public listener, with what keeps those of a CA from
// being renewed.
func (g *Gateway) served() []console.Certificate {
	list := []console.Certificate{}
	for _, leaf := range g.server.Leaves() {
		c := console.PublicCertificate(leaf)
		for _, st := range g.certificates.status() {
			if st.Err != nil && leaf.VerifyHostname(st.Domain) == nil {
				c.Renewal = st.Err.Error()
			}
		}
		list = append(list, c)
	}
	return list
}
