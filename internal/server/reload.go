package server

import (
	"fmt"
	"strings"
	"time"
)

// Reload takes over what can change while connections are open: certificates
// and minVersion (for new handshakes), clientCA and clientAuth (for those, and for
// what Trusted says of connections that are open), trusted proxies, limits and
// timeouts that are asked for per request or connection. A change to anything else is an
// error that names the keys and says that a restart is needed; then, as after
// any error, nothing has changed.
func (s *Server) Reload(cfg Config) error {
	cfg = cfg.own()
	if err := cfg.Validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if keys := fixed(s.cfg, cfg); len(keys) > 0 {
		return fmt.Errorf("%s: cannot change while running, restart the gateway", strings.Join(keys, ", "))
	}
	if cfg.TLS != nil {
		g, err := s.generation(*cfg.TLS, s.provided)
		if err != nil {
			return err
		}
		s.install(g)
		s.watching.follow(*cfg.TLS)
	}
	s.cfg = cfg
	s.live.Store(cfg.live())
	return nil
}

// fixed names the keys that differ and are built into the running listener.
func fixed(old, now Config) []string {
	var keys []string
	differs := func(key string, yes bool) {
		if yes {
			keys = append(keys, "server."+key)
		}
	}
	differs("address", old.Address != now.Address)
	differs("statusAddress", old.StatusAddress != now.StatusAddress)
	differs("h2c", *old.H2C != *now.H2C)
	differs("plaintext", old.Plaintext != now.Plaintext)
	differs("tls", (old.TLS == nil) != (now.TLS == nil))
	differs("tls.acme", (old.acme() == nil) != (now.acme() == nil))
	if old.acme() != nil && now.acme() != nil {
		differs("tls.acme.httpListen", old.acme().HTTPListen != now.acme().HTTPListen)
	}
	differs("limits.header", old.Limits.Header != now.Limits.Header)
	differs("limits.connectionStreams", old.Limits.ConnectionStreams != now.Limits.ConnectionStreams)
	differs("limits.connectionFrames", old.Limits.ConnectionFrames != now.Limits.ConnectionFrames)
	differs("timeouts.header", old.Timeouts.Header != now.Timeouts.Header)
	differs("timeouts.idle", old.Timeouts.Idle != now.Timeouts.Idle)
	differs("timeouts.write", old.Timeouts.Write != now.Timeouts.Write)
	return keys
}

// install makes g the one that new handshakes use, unless it is the same.
func (s *Server) install(g *generation) {
	s.lastError = ""
	if old := s.tls.Load(); old != nil && old.digest == g.digest {
		return
	}
	s.tls.Store(g)
	s.log.Info("certificates loaded", "names", g.names(), "notAfter", g.notAfter(), "clientCAs", len(g.clientCA))
	g.warn(s.log, time.Now())
}

// refresh is called when certificate files may have changed. Bad files keep the
// old certificates, and are logged once for each different thing wrong: between
// two writes of a renewal, key and certificate do not match for a moment.
func (s *Server) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.generation(*s.cfg.TLS, s.provided)
	if err == nil {
		s.install(g)
		s.watching.follow(*s.cfg.TLS) // links may lead elsewhere now
		return
	}
	if text := err.Error(); text != s.lastError {
		s.lastError = text
		s.log.Error("new certificates are not usable, the old ones stay", "err", err)
	}
}
