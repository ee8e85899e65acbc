package config

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/audit/sink"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/server/acme"
	"github.com/a2a-gateway/a2a-gateway/internal/state/shared"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// Check does what can be done offline beyond Load: it opens the files that the
// configuration names and compiles the registry and the rules. The strings are
// warnings. Errors name the key, without line and column: what is wrong is in the files.
//
// The order is that of the report: agents, credentials of callers, files of other sections,
// doubts, the registry, the rules, and last what could not be read. All of it is told at once: an
// operator who mends a file and starts the check again wants to see the rest.
func (c *Config) Check() ([]string, error) {
	var errs []error
	var warnings []string
	for i := range c.Agents {
		if err := checkFilesOf(&c.Agents[i]); err != nil {
			errs = append(errs, fmt.Errorf("agents[%d] (%s): %w", i, c.Agents[i].ID, err))
		}
	}
	for _, r := range schemes.Of(&c.Authn) {
		if r.Check != nil {
			odd, err := r.Check(&c.Authn)
			warnings, errs = append(warnings, odd...), append(errs, err)
		}
	}
	errs = append(errs, c.checkFiles()...)
	warnings = append(warnings, c.Doubts()...)
	odd, wrong := c.checkSpecifications()
	warnings = append(warnings, odd...)
	errs = append(errs, wrong...)
	book, err := c.Extensions.Compile()
	errs = append(errs, keypath.At(err, "extensions"))
	// A book of a wrong registry is nil and knows nothing; closing it does nothing.
	defer book.Close()
	warnings = append(warnings, book.Warnings()...)
	rules, dubious, err := policy.Compile(c.Policy.Config, c.RuleAgents(), book.Extra().Methods()...)
	errs = append(errs, err, c.checkPanel(book.Extra().Methods()), checkGuards(c, book.Extra().Methods(), true))
	for _, w := range dubious {
		warnings = append(warnings, w.String())
	}
	// An agent without any rule is told of only where the rules compile: with an error every agent
	// would be one.
	if err == nil {
		for _, id := range rules.Unused() {
			warnings = append(warnings, fmt.Sprintf("agent %q: no rule allows anybody anything of it, and the default is deny: every call to it is denied", id))
		}
	}
	// Last, for what no check has opened: the gateway would find out when it does.
	errs = append(errs, c.unreadable(errors.Join(errs...)))
	return warnings, asWhom(errors.Join(errs...))
}

// resolve makes relative paths relative to the file they stand in, so that a
// gateway finds its files wherever it is started from.
// It also fills in the paths below server.dataDir, which a configuration that has no directory, as
// that of a test, does without.
func (c *Config) resolve(dir string) {
	writtenPaths(c, absolute(dir))
	readPaths(c, absolute(dir))
	if c.Keys.Dir == "" {
		c.Keys.Dir = filepath.Join(c.Server.DataDir, "keys")
	}
	if c.Telemetry.Audit.Dir == "" {
		c.Telemetry.Audit.Dir = filepath.Join(c.Server.DataDir, "audit")
	}
	// Configurations that are files are those of gateways that are to survive a restart.
	if c.State.Driver == "" {
		c.State.Driver = "sqlite"
	}
	if c.State.SQLite.Path == "" {
		c.State.SQLite.Path = filepath.Join(c.Server.DataDir, "state.db")
	}
}

// unreadable lists the files that are there, that this user may not read, and that no
// error has named yet. They are found by opening them, as the gateway would: modes alone
// do not tell.
func (c *Config) unreadable(known error) error {
	var errs []error
	readPaths(c, func(path *string) {
		if *path == "" {
			return
		}
		f, err := os.Open(*path)
		if err == nil {
			_ = f.Close() // only opened
		}
		if errors.Is(err, fs.ErrPermission) && !strings.Contains(fmt.Sprint(known), err.Error()) {
			errs = append(errs, err)
			known = errors.Join(known, err)
		}
	})
	return errors.Join(errs...)
}

// checkFilesOf reports the files of an agent's section that the gateway would refuse: it makes the
// agent's transport and the verifier of its card as the gateway does, which opens them, and closes
// both at once.
func checkFilesOf(a *agents.Config) error {
	up, err := upstream.New(a.Config, upstream.Options{})
	if err == nil {
		up.Close()
	}
	trust := a.Card.Trust.Signature
	if trust.IsZero() {
		return err
	}
	v, wrong := signature.New(trust, signature.Options{})
	if wrong != nil {
		return errors.Join(err, fmt.Errorf("card: trust: signature: %w", wrong))
	}
	v.Close()
	return err
}

// checkFiles reports the files of all other sections that the gateway would refuse, each package its
// own, with what is wrong inside of them: a key that is no key, a CA that is none.
func (c *Config) checkFiles() []error {
	errs := append(c.checkCertificates(),
		keypath.At(c.Admin.CheckFiles(), "admin"),
		keypath.At(c.Keys.CheckFiles(), "keys"),
		keypath.At(c.Push.CheckFiles(), "push"),
		keypath.At(c.Egress.CheckFiles(), "egress"),
		sink.CheckFiles(c.Telemetry.Audit.Sinks),
	)
	if c.State.Driver == redisDriver {
		errs = append(errs, keypath.At(shared.CheckFiles(c.State), "state"))
	}
	return errs
}

// checkCertificates reads those of the public listener, and whom it trusts. All that are wrong are
// told; the listener itself would stop at the first.
func (c *Config) checkCertificates() []error {
	t := c.Server.TLS
	if t == nil {
		return nil
	}
	var errs []error
	// Each pair is loaded as the listener loads it: the certificate, its chain and whether the key
	// belongs to it.
	for i, pair := range t.Certificates {
		if _, err := tls.LoadX509KeyPair(pair.Cert, pair.Key); err != nil {
			errs = append(errs, fmt.Errorf("server.tls.certificates[%d]: %w", i, err))
		}
	}
	// The listener stops at the first pair that is wrong, so that it would say that one again.
	if errs == nil {
		errs = append(errs, c.Server.CheckFiles())
	}
	if t.ACME != nil {
		errs = append(errs, acme.CheckFiles(*t.ACME))
	}
	return errs
}

// redisDriver is the state.driver whose section its own package checks, being read for no other.
const redisDriver = "redis"

// checkRedis reports what the driver would refuse of its section, which is read for no other.
func (c *Config) checkRedis() error {
	if c.State.Driver != redisDriver {
		return nil
	}
	return shared.Validate(c.State)
}

// checkACME refuses server.tls.acme where the program was built without the client for it. What is
// in the section internal/server has checked, which does not know of the client.
func (c *Config) checkACME() error {
	if c.Server.TLS == nil || c.Server.TLS.ACME == nil {
		return nil
	}
	return feature.Need(feature.ACME)
}

// asWhom says who was refused, where that matters: the same check may do for one user
// and not for another.
// Only errors of permission are extended. Groups are listed with the effective one, which
// Getgroups may leave out.
func asWhom(err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	groups, _ := os.Getgroups() // beside the process's own
	if !slices.Contains(groups, os.Getegid()) {
		groups = append([]int{os.Getegid()}, groups...)
	}
	return fmt.Errorf("%w\nread as user %d of the groups %v, which is who has to be able to read the files", err, os.Geteuid(), groups)
}
