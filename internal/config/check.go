package config

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry/audit/sink"
)

// Check does what can be done offline beyond Load: it opens the files that the
// configuration names and compiles the registry and the rules. The strings are
// warnings.
func (c *Config) Check() ([]string, error) {
	var errs []error
	var warnings []string
	if c.Server.TLS != nil {
		for i, pair := range c.Server.TLS.Certificates {
			if _, err := tls.LoadX509KeyPair(pair.Cert, pair.Key); err != nil {
				errs = append(errs, fmt.Errorf("server.tls.certificates[%d]: %w", i, err))
			}
		}
	}
	for i, a := range c.Agents {
		if _, err := upstream.New(a.Config, upstream.Options{}); err != nil {
			errs = append(errs, fmt.Errorf("agents[%d] (%s): %w", i, a.ID, err))
		}
	}
	if keys := c.Authn.APIKeys; keys != nil {
		if _, err := os.Stat(keys.File); err != nil {
			warnings = append(warnings, fmt.Sprintf("authn.apiKeys.file: %s does not exist yet: no API key will be accepted", keys.File))
		}
	}
	errs = append(errs, sink.CheckFiles(c.Telemetry.Audit.Sinks))
	warnings = append(warnings, c.Doubts()...)
	odd, wrong := c.checkSpecifications()
	warnings = append(warnings, odd...)
	errs = append(errs, wrong...)
	book, err := c.Extensions.Compile()
	errs = append(errs, registered(err)...)
	defer book.Close()
	warnings = append(warnings, book.Warnings()...)
	_, dubious, err := policy.Compile(c.Policy.Config, c.RuleAgents(), book.Extra().Methods()...)
	errs = append(errs, err, c.checkPanel(book.Extra().Methods()))
	for _, w := range dubious {
		warnings = append(warnings, w.String())
	}
	return warnings, errors.Join(errs...)
}

// resolve makes relative paths relative to the file they stand in, so that a
// gateway finds its files wherever it is started from.
func (c *Config) resolve(dir string) {
	in := func(path *string) {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	in(&c.Server.DataDir)
	if c.Server.TLS != nil {
		for i := range c.Server.TLS.Certificates {
			in(&c.Server.TLS.Certificates[i].Cert)
			in(&c.Server.TLS.Certificates[i].Key)
		}
		for i := range c.Server.TLS.ClientCA {
			in(&c.Server.TLS.ClientCA[i])
		}
		if a := c.Server.TLS.ACME; a != nil {
			in(&a.CA)
		}
	}
	if t := c.Admin.TLS; t != nil {
		for i := range t.Certificates {
			in(&t.Certificates[i].Cert)
			in(&t.Certificates[i].Key)
		}
		for i := range t.ClientCA {
			in(&t.ClientCA[i])
		}
	}
	if c.Authn.APIKeys != nil {
		in(&c.Authn.APIKeys.File)
	}
	for i := range c.Agents {
		resolveAgent(&c.Agents[i], in)
	}
	for i := range c.Keys.Signing {
		in(&c.Keys.Signing[i])
	}
	for i := range c.Keys.Sealing {
		in(&c.Keys.Sealing[i])
	}
	if in(&c.Keys.Dir); c.Keys.Dir == "" {
		c.Keys.Dir = filepath.Join(c.Server.DataDir, "keys")
	}
	for i := range c.Fleet.Kubernetes {
		in(&c.Fleet.Kubernetes[i].Token)
		in(&c.Fleet.Kubernetes[i].CA)
	}
	in(&c.Push.CA)
	c.resolveState(in)
	c.resolveSchemas(in)
	for i := range c.Telemetry.Audit.Sinks {
		resolveSink(&c.Telemetry.Audit.Sinks[i], in)
	}
	in(&c.Telemetry.Audit.Dir)
	if c.Telemetry.Audit.Dir == "" {
		c.Telemetry.Audit.Dir = filepath.Join(c.Server.DataDir, "audit")
	}
}

// resolveAgent visits every path that an agent's section can have. Those of secrets are
// resolved when they are read.
func resolveAgent(a *proxy.AgentConfig, in func(*string)) {
	in(&a.TLS.CA)
	in(&a.TLS.Certificate)
	in(&a.TLS.Key)
	signed := &a.Card.Trust.Signature
	in(&signed.CA)
	for i := range signed.Keys {
		in(&signed.Keys[i])
	}
	for i := range a.Load.Instances {
		from := &a.Load.Instances[i]
		in(&from.File)
		if k := from.Kubernetes; k != nil {
			in(&k.Token)
			in(&k.CA)
		}
	}
	for i := range a.Skills {
		in(&a.Skills[i].Input.File)
		in(&a.Skills[i].Output.File)
	}
}

// resolveSink visits every path that the section of a sink can have.
func resolveSink(s *sink.Config, in func(*string)) {
	if s.Kafka != nil && s.Kafka.TLS != nil {
		t := s.Kafka.TLS
		in(&t.CA)
		in(&t.Certificate)
		in(&t.Key)
	}
	if s.OTLP != nil {
		t := &s.OTLP.TLS
		in(&t.CA)
		in(&t.Certificate)
		in(&t.Key)
	}
}

// resolveState settles where the state is: configurations that are files are those of
// gateways that are to survive a restart.
func (c *Config) resolveState(in func(*string)) {
	st := &c.State
	if st.Driver == "" {
		st.Driver = "sqlite"
	}
	if in(&st.SQLite.Path); st.SQLite.Path == "" {
		st.SQLite.Path = filepath.Join(c.Server.DataDir, "state.db")
	}
	if t := st.Redis.TLS; t != nil {
		in(&t.CA)
		in(&t.Certificate)
		in(&t.Key)
	}
	for i := range c.Policy.Authorizers {
		t := &c.Policy.Authorizers[i].TLS
		in(&t.CA)
		in(&t.Certificate)
		in(&t.Key)
	}
}
