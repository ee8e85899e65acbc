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
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// Parts are those of the gateway whose health is shown.
type Parts struct {
	Current *snapshot.Current
	// The public listener, for the certificates that it serves.
	Server       *server.Server
	Certificates func() []acme.Status // of those from a CA
	// Whether records can be written, and how many wait for the disk.
	Audit *audit.Log
	// How far behind each kind of sink is.
	Sinks *sink.Sinks
	// Pinged at each request: what it said earlier is no answer.
	Store state.Store
	// The latest measurement of load.
	Work *overload.Ladder
	// The numbers that the gauges of the metrics show, so that both agree.
	Condition func() metrics.Condition
	Buffered  func() (used, most int64) // of streams' events
}

// Health is what the process knows of itself, but for the admin listener. Each part says
// for itself whether it is well and why not: nothing here decides whether the gateway as a
// whole is ready, which Readiness does.
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
	// The driver defaults to memory, as it does in the configuration. Ping of a state in
	// memory never fails.
	h.State = health.StoreHealth{Driver: "memory", OK: true}
	if err := r.Store.Ping(ctx); err != nil {
		h.State.OK, h.State.Why = false, err.Error()
	}
	// Without a snapshot (before the first load, after the end) the rest is still worth
	// showing.
	if s := r.Current.Load(); s != nil {
		h.State.Driver = cmp.Or(s.Config.State.Driver, h.State.Driver)
		h.State.Shared = s.Config.State.Shared()
		h.Build.ID, h.Audit.FailOpen = s.Config.Server.ID, s.Config.Telemetry.Audit.FailOpen()
	}
	return h
}

// built is what the program says of itself. The revision is from the version control
// system, as `go build` stamps it; it is empty in a program that was built from an archive.
// The name of the host is left empty where the system does not tell it.
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

// auditHealth says whether audit records can be written, how many are written and not
// synced to the disk yet, and for how many seconds the oldest of them has waited.
func (r *Parts) auditHealth() health.AuditHealth {
	a := health.AuditHealth{OK: true, Seq: int(r.Audit.Seq())} //nolint:gosec // never that many
	if err := r.Audit.Err(); err != nil {
		a.OK, a.Why = false, err.Error()
	}
	records, oldest := r.Audit.Lag()
	a.Unsynced, a.Oldest = records, oldest.Seconds()
	return a
}

// limits are those whose use is known, as metrics have them, and what is measured. Each has
// the key of the configuration as its name, so that who reads it knows what to change.
// Refuses says that calls are refused for it right now.
func (r *Parts) limits() []health.Limit {
	list := []health.Limit{}
	// Nil until load was measured for the first time, a tenth of a second after the start.
	reading := r.Work.Reading()
	stands := func(rung overload.Rung) bool { return reading != nil && slices.Contains(reading.Standing, rung) }
	// The unit of most limits is their name (streams, connections, descriptors). Requests
	// in flight are called calls everywhere in the console.
	units := map[string]string{"requests": "calls"}
	for _, u := range r.Condition().Limits {
		list = append(list, health.Limit{
			Name: "server.limits." + u.Limit, Unit: cmp.Or(units[u.Limit], u.Limit), Used: float64(u.Used), Max: float64(u.Max),
			Refuses: stands(overload.Rung(u.Limit)) || u.Limit != "descriptors" && u.Max > 0 && u.Used >= u.Max,
		})
	}
	// What is measured has two bounds for memory: beyond the soft one, streams and large
	// bodies are refused, beyond the hard one all calls. The delay is how long work waits
	// for a processor.
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
	// A certificate of an ACME CA (RFC 8555) that could not be renewed is still served
	// until it ends. The error stands beside it, so that somebody acts before that.
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
