package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server/cors"
	"github.com/a2a-gateway/a2a-gateway/internal/server/flood"
	"github.com/a2a-gateway/a2a-gateway/internal/server/http1"
	"github.com/a2a-gateway/a2a-gateway/internal/server/http2"
	"github.com/a2a-gateway/a2a-gateway/internal/server/sockets"
	"github.com/a2a-gateway/a2a-gateway/internal/server/strict"
)

// Server is the public listener. Make it with New, then Start, then Shutdown,
// each once; Reload at any time between New and Shutdown.
type Server struct {
	// H2Error, if set before Start, is called for every HTTP/2 protocol error,
	// floods included, with a short name made of [a-z0-9_].
	H2Error func(name string)

	// Refused, if set before Start, is called for every connection that is not
	// served because of a limit, with the limit's key.
	Refused func(limit string)

	// Malformed, if set before Start, is called for every HTTP/1.1 connection that ends
	// because of how a request was written, with the name of the rule.
	Malformed func(rule string)

	// Flooded, if set before Start, is called for every HTTP/2 connection that ends because
	// of frames that serve no call, with the kind of frame that it sent most of.
	Flooded func(frame string)

	// Sockets, if set before Start, has the socket to listen on.
	Sockets *sockets.Set

	handler http.Handler
	told    time.Duration // how long a connection too many may take to be told so
	first   time.Duration // how long Shutdown waits for those who have just connected
	log     *slog.Logger
	http1   *http1.Server
	http2   *http2.Server
	strict  *strict.Rules // of HTTP/1.1, under http1
	flood   *flood.Rules  // of HTTP/2, under http2
	hsts    []string

	live atomic.Pointer[live] // what Reload may change

	// Of TLS. It is a part whose exported methods are the server's.
	certificates

	mu       sync.Mutex // guards what follows
	cfg      Config
	listener *listener

	// Of connections and requests that Shutdown waits for. It is a part whose exported methods
	// are the server's.
	drain

	detached detachedSet // connections that http1 does not have
}

// live is the part of the configuration that takes effect on running listeners.
type live struct {
	limits   Limits
	timeouts Timeouts
	trusted  []netip.Prefix
	budget   connectionBudget
	cors     *cors.Config // nil for none
}

// live is what Reload may change of c.
func (c *Config) live() *live {
	return &live{c.Limits, c.Timeouts, c.TrustedProxies, c.Limits.budget(descriptors()), c.CORS}
}

// New prepares a listener for h without opening it. The configuration gets its
// defaults and is validated; certificate files are read, and an error names the
// one that is wrong. A nil logger is slog's default.
func New(cfg Config, h http.Handler, logger *slog.Logger) (*Server, error) {
	cfg = cfg.own()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if logger == nil {
		logger = slog.Default()
	}
	s := &Server{
		handler: h, log: logger, cfg: cfg, told: tellWithin, first: firstRequest,
	}
	s.live.Store(cfg.live())
	s.initDrain()
	if cfg.TLS != nil {
		if err := s.openCertificates(cfg.TLS, logger); err != nil {
			return nil, err
		}
		s.tls.Load().warn(logger, time.Now())
		s.hsts = []string{"max-age=31536000"} // a year, RFC 6797 §6.1.1
	}
	s.http1, s.http2, s.strict, s.flood = s.newHTTP1(), s.newHTTP2(), s.rules(), s.allowance()
	return s, nil
}

// own returns c with defaults, sharing nothing that they write to.
func (c Config) own() Config {
	if c.TLS != nil {
		t := *c.TLS
		if t.ACME != nil {
			a := *t.ACME
			t.ACME = &a
		}
		c.TLS = &t
	}
	if c.CORS != nil {
		own := *c.CORS
		c.CORS = &own
	}
	if c.MCP != nil {
		own := *c.MCP
		c.MCP = &own
	}
	c.Defaults()
	return c
}

// newHTTP1 serves HTTP/1.1 and HTTP/1.0. There is no write timeout but for what it says by
// itself: it would end streams; the handler sets deadlines write by write.
func (s *Server) newHTTP1() *http1.Server {
	return &http1.Server{
		Handler: http.HandlerFunc(s.serve),
		Log:     s.log,
		Header:  s.cfg.Timeouts.Header.Std(),
		Idle:    s.cfg.Timeouts.Idle.Std(),
		Write:   s.cfg.Timeouts.Write.Std(),
		Linger:  s.linger,
		HTTP2: func(nc *strict.Conn) {
			c := admitted(nc)
			c.two = true
			go s.serve2(c, nc)
		},
	}
}

// linger is for clients that are answered before they have sent everything. Who sends
// nothing for as long as a body may rest is gone, or waits for the connection to end.
func (s *Server) linger() http1.Linger {
	live := s.live.Load()
	return http1.Linger{
		Bytes: int64(live.limits.Linger), Time: live.timeouts.Linger.Std(), Silence: live.timeouts.Body.Std(),
	}
}

// newHTTP2 serves HTTP/2 within bounds (docs/threat-model.md L20 to L22). There is no write
// timeout here either but for writes that no handler has set one for.
func (s *Server) newHTTP2() *http2.Server {
	return &http2.Server{
		Handler: http.HandlerFunc(s.serve),
		Log:     s.log,
		Head:    int(s.cfg.Limits.Header),
		Streams: uint32(s.cfg.Limits.ConnectionStreams), //nolint:gosec // Validate bounds it
		Header:  s.cfg.Timeouts.Header.Std(),
		Idle:    s.cfg.Timeouts.Idle.Std(),
		Write:   s.cfg.Timeouts.Write.Std(),
		Ping:    30 * time.Second, // finds clients that vanished in mid-stream
		Pong:    15 * time.Second,
		Errors:  s.countH2Error,
	}
}

// rules are for what comes before http1 reads it.
func (s *Server) rules() *strict.Rules {
	return &strict.Rules{
		Head:    int(s.cfg.Limits.Header),
		H2C:     *s.cfg.H2C,
		Refused: s.malformed,
	}
}

// malformed counts, and names the rule to who looks for it. What the client has sent is
// nobody's business: it may be a credential.
func (s *Server) malformed(rule string) {
	if s.Malformed != nil {
		s.Malformed(rule)
	}
	s.log.Debug("malformed request", "rule", rule)
}

// allowance is what HTTP/2 connections may send beside calls.
func (s *Server) allowance() *flood.Rules {
	return &flood.Rules{
		Allowance: s.cfg.Limits.ConnectionFrames,
		Head:      int(s.cfg.Limits.Header),
		Exceeded:  s.flooded,
	}
}

func (s *Server) flooded(frame string) {
	if s.Flooded != nil {
		s.Flooded(frame)
	}
	s.log.Debug("HTTP/2 flood", "limit", "server.limits.connectionFrames", "frames", frame)
}

func (s *Server) countH2Error(name string) {
	if s.H2Error != nil {
		s.H2Error(name)
	}
}

// Start opens the socket, so that its errors come back here, and serves in the
// background until Shutdown.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.draining:
		return fmt.Errorf("start server: %w", http.ErrServerClosed)
	default:
	}
	if s.listener != nil {
		return errors.New("start server: already started")
	}
	socket, err := s.Sockets.Listen(sockets.Public, s.cfg.Address)
	if err != nil {
		return fmt.Errorf("server.address: %w", err)
	}
	s.listener = newListener(socket, s)
	s.watchCertificates()
	go s.accept(s.listener)
	return nil
}

// Addr is the address that is really bound, nil before Start.
func (s *Server) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return nil
	}
	return s.listener.Addr()
}

// URL is where the listener can be reached from this machine: scheme, bound
// address, bound port. A listener on all addresses is reached at 127.0.0.1.
// It is "" before Start.
func (s *Server) URL() string {
	addr, ok := s.Addr().(*net.TCPAddr)
	if !ok {
		return ""
	}
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return s.scheme() + "://" + net.JoinHostPort(host, strconv.Itoa(addr.Port))
}

func (s *Server) scheme() string {
	if s.tls.Load() != nil {
		return "https"
	}
	return "http"
}

// PublicURL is server.publicURL without a final slash. Where the configured
// address has port 0, the port that was bound replaces the one written there.
func (s *Server) PublicURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := publicURL(s.cfg.PublicURL)
	if err != nil { // New has validated it
		return s.cfg.PublicURL
	}
	host := u.Host
	if _, port, _ := net.SplitHostPort(s.cfg.Address); port == "0" && s.listener != nil {
		_, bound, _ := net.SplitHostPort(s.listener.Addr().String())
		host = net.JoinHostPort(u.Hostname(), bound)
	}
	return (&url.URL{Scheme: u.Scheme, Host: host, Path: u.Path}).String()
}

// Bound is the host and port of the public listener, the host empty for all addresses; 0
// before Start.
func (s *Server) Bound() (host string, port int) {
	addr, ok := s.Addr().(*net.TCPAddr)
	switch {
	case !ok:
		return "", 0
	case addr.IP.IsUnspecified():
		return "", addr.Port
	}
	return addr.IP.String(), addr.Port
}
