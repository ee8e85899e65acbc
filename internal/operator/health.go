package operator

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/sink"
	"github.com/a2a-gateway/a2a-gateway/internal/console/health"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/server/acme"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Parts are those of the gateway whose health is shown.
type Parts struct {
	Current      *snapshot.Current
	Server       *server.Server
	Certificates func() []acme.Status // of those from a CA
	Audit        *audit.Log
	Sinks        *sink.Sinks
	Store        state.Store
	Work         *overload.Ladder
	Condition    func() telemetry.Condition
	Buffered     func() (used, most int64) // of streams' events
}

// Health is what the process knows of itself, but for the admin listener.
func (r *Parts) Health(ctx context.Context) health.Health {
	h := health.Health{
		Build: built(), Limits: r.limits(), Audit: r.auditHealth(),
		Sinks: []health.SinkHealth{}, Certificates: r.served(),
	}
	for _, st := range r.Sinks.States() {
		h.Sinks = append(h.Sinks, health.SinkHealth{
			Kind: st.Kind, Waiting: int(st.Records), Oldest: st.Oldest.Seconds(), Failing: st.Failing, //nolint:gosec // never that many
		})
	}
	h.State = health.StoreHealth{Driver: "memory", OK: true}
	if err := r.Store.Ping(ctx); err != nil {
		h.State.OK, h.State.Why = false, err.Error()
	}
	if s := r.Current.Load(); s != nil {
		h.State.Driver = cmp.Or(s.Config.State.Driver, h.State.Driver)
		h.State.Shared = s.Config.State.Shared()
		h.Build.ID, h.Audit.FailOpen = s.Config.Server.ID, s.Config.Telemetry.Audit.FailOpen()
	}
	return h
}

// built is what the program says of itself.
func built() health.Build {
	b := health.Build{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.GOMAXPROCS(0)}
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

func (r *Parts) auditHealth() health.AuditHealth {
	a := health.AuditHealth{OK: true, Seq: int(r.Audit.Seq())} //nolint:gosec // never that many
	if err := r.Audit.Err(); err != nil {
		a.OK, a.Why = false, err.Error()
	}
	records, oldest := r.Audit.Lag()
	a.Unsynced, a.Oldest = records, oldest.Seconds()
	return a
}

// limits are those whose use is known, as metrics have them, and what is measured.
func (r *Parts) limits() []health.Limit {
	list := []health.Limit{}
	reading := r.Work.Reading()
	stands := func(rung overload.Rung) bool { return reading != nil && slices.Contains(reading.Standing, rung) }
	units := map[string]string{"requests": "calls"}
	for _, u := range r.Condition().Limits {
		list = append(list, health.Limit{
			Name: "server.limits." + u.Limit, Unit: cmp.Or(units[u.Limit], u.Limit), Used: float64(u.Used), Max: float64(u.Max),
			Refuses: stands(overload.Rung(u.Limit)) || u.Limit != "descriptors" && u.Max > 0 && u.Used >= u.Max,
		})
	}
	if reading != nil {
		list = append(list,
			health.Limit{Name: "server.limits.softMemory", Unit: "bytes", Used: float64(reading.Used), Max: float64(reading.Soft), Refuses: stands(overload.SoftMemory)},
			health.Limit{Name: "server.limits.memory", Unit: "bytes", Used: float64(reading.Used), Max: float64(reading.Hard), Refuses: stands(overload.Memory)},
			health.Limit{Name: "server.limits.delay", Unit: "seconds", Used: reading.Delay.Seconds(), Max: r.Current.Bounds().Delay.Seconds(), Refuses: stands(overload.Delay)},
		)
	}
	kept, most := r.Buffered()
	return append(list, health.Limit{Name: "streams.buffer.total", Unit: "bytes", Used: float64(kept), Max: float64(most)})
}

// served are the certificates of the public listener, with what keeps those of a CA from
// being renewed.
func (r *Parts) served() []health.Certificate {
	list := []health.Certificate{}
	for _, leaf := range r.Server.Leaves() {
		c := health.PublicCertificate(leaf)
		for _, st := range r.Certificates() {
			if st.Err != nil && leaf.VerifyHostname(st.Domain) == nil {
				c.Renewal = st.Err.Error()
			}
		}
		list = append(list, c)
	}
	return list
}
