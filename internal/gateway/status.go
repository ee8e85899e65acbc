package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// statusServer is the listener for probes and metrics. It is plain HTTP and
// apart from the public one, so that a health check can never be a way around
// authentication.
type statusServer struct {
	gateway  *Gateway
	begun    *server.Config // until another one is in force
	listener net.Listener
	http     *http.Server
}

func newStatusServer(g *Gateway, c *server.Config) (*statusServer, error) {
	if c.StatusAddress == "off" {
		return &statusServer{gateway: g}, nil
	}
	l, err := g.sockets.Listen(server.StatusSocket, c.StatusAddress)
	if err != nil {
		return nil, err
	}
	s := &statusServer{gateway: g, begun: c, listener: l}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", s.live)
	mux.HandleFunc("GET /healthz", s.live)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", g.telemetry.Handler())
	s.http = &http.Server{
		Handler: s.hosted(mux), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, WriteTimeout: 30 * time.Second,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is held to the hosts as all else is
	}
	return s, nil
}

func (s *statusServer) start() {
	if s.listener == nil {
		return
	}
	go func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.gateway.telemetry.Log.Error("status listener", "error", err)
		}
	}()
}

func (s *statusServer) url() string {
	if s.listener == nil {
		return ""
	}
	return "http://" + s.listener.Addr().String()
}

func (s *statusServer) close() {
	if s.listener != nil {
		_ = s.http.Close()
		_ = s.listener.Close()
	}
}

// live says that the process runs. Restarting it would mend nothing else.
func (s *statusServer) live(w http.ResponseWriter, _ *http.Request) {
	_, _ = fmt.Fprintln(w, "ok")
}

// ready says whether traffic should come here. An agent that cannot be reached
// does not make the gateway unready: the others are served, and taking the
// gateway away from them would help nobody. Nor does too much to do: those who
// share the work would have more of it then; nor one certificate that is missing while
// there is another. Nor does the state, unless ?state asks for it: who balances between
// replicas can send calls to one that reaches it, where whoever knows one gateway alone
// would keep cards and open streams from their callers.
func (s *statusServer) ready(w http.ResponseWriter, r *http.Request) {
	why := s.Unready()
	if why == "" && r.URL.Query().Has("state") {
		if err := s.gateway.store.Ping(r.Context()); err != nil {
			why = "state: failed: " + err.Error()
		}
	}
	if why != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if !r.URL.Query().Has("verbose") {
		_, _ = fmt.Fprintln(w, cmp.Or(why, "ok"))
		return
	}
	_, _ = fmt.Fprint(w, strings.Join(s.Details(r.Context()), "\n"), "\n")
}

// Unready is why every call would be refused, "" where that is not so. Who cannot write
// audit records does not need calls to find out that it can again: the log tries by itself.
func (s *statusServer) Unready() string {
	g := s.gateway
	if g.draining.Load() {
		return "draining"
	}
	if current := g.current.Load(); current == nil || !current.Config.Telemetry.Audit.FailOpen() {
		if err := g.audit.Err(); err != nil {
			return "audit: failed: " + err.Error()
		}
	}
	if lost := g.lostState.Load(); lost != nil {
		return "state: failed: " + (*lost).Error()
	}
	if !g.server.Certified() {
		return "no certificate yet"
	}
	return ""
}

// Details has a line a check: name, ok or failed, and why.
func (s *statusServer) Details(ctx context.Context) []string {
	g := s.gateway
	lines := []string{line("serving", g.draining.Load(), "draining")}
	if last := g.reload.Load(); last != nil && last.err != nil {
		lines = append(lines, fmt.Sprintf("config: failed: reload at %s: %s",
			last.at.UTC().Format(time.RFC3339), strings.ReplaceAll(last.err.Error(), "\n", "; ")))
	} else {
		lines = append(lines, "config: ok")
	}
	lines = append(lines, g.certificates.details()...)
	lines = append(lines, line("audit", g.audit.Err() != nil, fmt.Sprint(g.audit.Err())))
	if gone := g.audit.Gone(); gone != "" {
		lines = append(lines, line("audit records", true, gone))
	}
	lines = append(lines, g.strain()...)
	current := g.current.Load()
	if current == nil {
		return lines
	}
	stored := g.store.Ping(ctx)
	lines = append(lines, line("state", stored != nil, fmt.Sprint(stored)))
	var agents []string
	for id, m := range current.Agents {
		agents = append(agents, instanceLines(id, m.Agent.Upstream)...)
		agents = append(agents, m.CardLine(id)...)
		now := m.Standing()
		agents = append(agents, line("agent "+id, !now.Serving(), now.Text()))
	}
	agents = append(agents, g.roster.details()...)
	slices.Sort(agents)
	return append(lines, agents...)
}

func line(name string, failed bool, why string) string {
	if failed {
		return name + ": failed: " + why
	}
	return name + ": ok"
}

// instanceLines say how the instances of an agent are doing, one by one where it has any: a
// slow one is seen before it is out.
func instanceLines(agent string, up *upstream.Upstream) []string {
	var lines []string
	if s := up.State(); s.Healthy == 0 {
		lines = append(lines, line("agent "+agent+" instances", true, fmt.Sprintf("none of %d is healthy", s.Instances)))
	}
	for _, i := range up.Instances() {
		one := line("agent "+agent+" instance "+i.Address, i.Why != "", i.Why)
		if i.Latency > 0 {
			one += fmt.Sprintf(", answers in %s", i.Latency.Round(time.Millisecond))
		}
		lines = append(lines, fmt.Sprintf("%s, %d calls in flight, %d ejections", one, i.Calls, i.Ejections))
	}
	return lines
}
