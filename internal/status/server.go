// Package status is the listener for probes and metrics: /livez, /healthz, /readyz and
// /metrics. It is plain HTTP and apart from the public listener, so that a health check can
// never be a way around authentication. What makes a gateway ready is for others to say: a
// [Readiness] has the answer.
package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/server/sockets"
)

// Readiness is what probes are told.
type Readiness interface {
	// Unready is why every call would be refused, "" where that is not so.
	Unready() string
	// Ping asks the state whether it can be reached.
	Ping(ctx context.Context) error
	// Details has a line a check, as Line makes them.
	Details(ctx context.Context) []string
}

// Options are what the listener answers from.
type Options struct {
	Readiness Readiness
	Metrics   http.Handler
	Config    func() *server.Config // in force
	Log       *slog.Logger
}

// Server is the listener, and nothing else where its address is "off". The zero Server is
// one whose address is off: its methods do nothing.
type Server struct {
	Options

	listener net.Listener
	http     *http.Server // nil until Serve
}

// Listen opens the socket. Requests wait for Serve.
func Listen(set *sockets.Set, address string) (*Server, error) {
	if address == "off" {
		return &Server{}, nil
	}
	l, err := set.Listen(sockets.Status, address)
	if err != nil {
		return nil, err
	}
	return &Server{listener: l}, nil
}

// Serve begins to answer. It returns at once. Each answer has 30 seconds, which a scrape of
// many agents may need, and each request five for its head: a probe that hangs must not
// hold a connection for ever.
func (s *Server) Serve(o Options) {
	if s.listener == nil {
		return
	}
	s.Options = o
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", s.live)
	mux.HandleFunc("GET /healthz", s.live)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", o.Metrics)
	s.http = &http.Server{
		Handler: s.hosted(mux), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, WriteTimeout: 30 * time.Second,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is held to the hosts as all else is
	}
	go func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			o.Log.Error("status listener", "error", err)
		}
	}()
}

// URL is the address as a URL; "" where there is none.
func (s *Server) URL() string {
	if s.listener == nil {
		return ""
	}
	return "http://" + s.listener.Addr().String()
}

// Close ends it, whether it serves or not.
func (s *Server) Close() {
	if s.http != nil {
		_ = s.http.Close()
	}
	if s.listener != nil {
		_ = s.listener.Close()
	}
}

// live says that the process runs. Restarting it would mend nothing else.
func (s *Server) live(w http.ResponseWriter, _ *http.Request) {
	_, _ = fmt.Fprintln(w, "ok")
}

// ready says whether traffic should come here. An agent that cannot be reached
// does not make the gateway unready: the others are served, and taking the
// gateway away from them would help nobody. Nor does too much to do: those who
// share the work would have more of it then; nor one certificate that is missing while
// there is another. Nor does the state, unless ?state asks for it: who balances between
// replicas can send calls to one that reaches it, where whoever knows one gateway alone
// would keep cards and open streams from their callers.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	why := s.Readiness.Unready()
	if why == "" && r.URL.Query().Has("state") {
		if err := s.Readiness.Ping(r.Context()); err != nil {
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
	_, _ = fmt.Fprint(w, strings.Join(s.Readiness.Details(r.Context()), "\n"), "\n")
}

// Line is a line of /readyz?verbose: the name of a check, and ok or why it failed.
func Line(name string, failed bool, why string) string {
	if failed {
		return name + ": failed: " + why
	}
	return name + ": ok"
}
