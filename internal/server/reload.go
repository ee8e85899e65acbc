package server

import (
	"fmt"
	"strings"
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
		if err := s.reloadCertificates(cfg.TLS); err != nil {
			return err
		}
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
