package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/certificates"
	"github.com/a2a-gateway/a2a-gateway/internal/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/status"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// readiness says whether traffic should come here, and what is wrong if anything is. It is
// asked by /readyz on the status listener, by the console, and by other replicas' pages,
// which therefore all say the same.
type readiness struct {
	life         *lifetime
	current      *snapshot.Current
	audit        *audit.Log
	state        *stateStore
	server       *server.Server
	certificates *certificates.Certificates
	load         *loadReport
	fleet        *fleet.Registry
	reloads      *reloads
}

// Ping asks the state whether it can be reached.
func (r *readiness) Ping(ctx context.Context) error { return r.state.store.Ping(ctx) }

// Unready is why every call would be refused, "" where that is not so. Who cannot write
// audit records does not need calls to find out that it can again: the log tries by itself.
// It is asked by load balancers every few seconds and does no I/O. What concerns one agent
// only is no reason: the calls to all others would be turned away with it.
func (r *readiness) Unready() string {
	if r.life.draining.Load() {
		return "draining"
	}
	if current := r.current.Load(); current == nil || !current.Config.Telemetry.Audit.FailOpen() {
		if err := r.audit.Err(); err != nil {
			return "audit: failed: " + err.Error()
		}
	}
	if lost := r.state.lost.Load(); lost != nil {
		return "state: failed: " + (*lost).Error()
	}
	if !r.server.Certified() {
		return "no certificate yet"
	}
	return ""
}

// Details has a line a check: name, ok or failed, and why. Lines of agents are sorted by
// name. The gateway's own checks come first, in the order of what has to work before the
// next can. The state is pinged, within ctx.
func (r *readiness) Details(ctx context.Context) []string {
	lines := []string{status.Line("serving", r.life.draining.Load(), "draining")}
	// An error of several lines would be taken for several checks.
	if at, failure := r.reloads.result(); failure != nil {
		lines = append(lines, fmt.Sprintf("config: failed: reload at %s: %s",
			at.UTC().Format(time.RFC3339), strings.ReplaceAll(failure.Error(), "\n", "; ")))
	} else {
		lines = append(lines, "config: ok")
	}
	lines = append(lines, r.certificates.Details()...)
	lines = append(lines, status.Line("audit", r.audit.Err() != nil, fmt.Sprint(r.audit.Err())))
	if gone := r.audit.Gone(); gone != "" {
		lines = append(lines, status.Line("audit records", true, gone))
	}
	lines = append(lines, r.load.details()...)
	current := r.current.Load()
	if current == nil {
		return lines
	}
	stored := r.state.store.Ping(ctx)
	lines = append(lines, status.Line("state", stored != nil, fmt.Sprint(stored)))
	var agents []string
	for id, m := range current.Agents {
		agents = append(agents, instanceLines(id, m.Agent.Upstream)...)
		agents = append(agents, m.CardLine(id)...)
		now := m.Standing()
		agents = append(agents, status.Line("agent "+id, !now.Serving(), now.Text()))
	}
	agents = append(agents, r.fleet.Details()...)
	slices.Sort(agents)
	return append(lines, agents...)
}

// instanceLines say how the instances of an agent are doing, one by one where it has any: a
// slow one is seen before it is out. A line ends with its numbers: "agent a instance
// 10.0.0.1:80: ok, answers in 12ms, 3 calls in flight, 0 ejections".
func instanceLines(agent string, up *upstream.Upstream) []string {
	var lines []string
	if s := up.State(); s.Healthy == 0 {
		lines = append(lines, status.Line("agent "+agent+" instances", true, fmt.Sprintf("none of %d is healthy", s.Instances)))
	}
	for _, i := range up.Instances() {
		one := status.Line("agent "+agent+" instance "+i.Address, i.Why != "", i.Why)
		if i.Latency > 0 {
			one += fmt.Sprintf(", answers in %s", i.Latency.Round(time.Millisecond))
		}
		lines = append(lines, fmt.Sprintf("%s, %d calls in flight, %d ejections", one, i.Calls, i.Ejections))
	}
	return lines
}
