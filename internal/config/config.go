// Package config is the file: strict YAML in, a checked Config out.
//
// It owns reading, environment expansion, positions in error messages and the
// composition of the sections. It does not own the sections: each package
// declares its Config beside the code that uses it, documented field by field.
// It may import every package that declares a section.
package config

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/audit"
)

// Config is the whole file.
type Config struct {
	// Server is the public listener: address, URL, TLS, limits, timeouts.
	Server server.Config `yaml:"server"`
	// Authn says who may be calling: OIDC issuers, API keys.
	Authn authn.Config `yaml:"authn"`
	// Policy says who may do what.
	Policy policy.Config `yaml:"policy"`
	// Extensions is the registry of extensions this gateway governs.
	Extensions ext.Registry `yaml:"extensions"`
	// Agents is the fleet.
	Agents []proxy.AgentConfig `yaml:"agents"`
	// Push says what becomes of push notification configs.
	Push proxy.PushConfig `yaml:"push"`
	// Telemetry is traces, metrics, logs and the audit record.
	Telemetry Telemetry `yaml:"telemetry"`
	// State is where ownership of tasks and contexts is kept.
	State state.Config `yaml:"state"`

	// Sum is the SHA-256 of the file, to tell configurations apart.
	Sum [32]byte `yaml:"-"`
}

// Telemetry is the `telemetry:` section.
type Telemetry struct {
	telemetry.Config `yaml:",inline"`
	// Audit is the record of every call.
	Audit audit.Config `yaml:"audit"`
}

// sizeLimit keeps a wrong path (a log, a device) from being read to its end.
const sizeLimit = 16 << 20

// Load reads, expands, decodes and checks a file. Relative paths in it are
// relative to the file's own directory. An error names file, line and column
// of everything that is wrong, not only of the first.
func Load(path string) (*Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read from
	var buf bytes.Buffer
	if err := readLimited(&buf, file); err != nil {
		return nil, fmt.Errorf("read configuration: %s: %w", path, err)
	}
	c, err := Parse(path, buf.Bytes(), os.LookupEnv)
	if err != nil {
		return nil, err
	}
	c.resolve(filepath.Dir(path))
	return c, nil
}

// Parse is Load for bytes in memory. name stands for the file in errors; lookup
// finds environment variables.
func Parse(name string, data []byte, lookup func(string) (string, bool)) (*Config, error) {
	var doc yaml.Node
	if err := yaml.Load(data, &doc); err != nil {
		return nil, located(name, err)
	}
	if err := expand(name, &doc, lookup); err != nil {
		return nil, err
	}
	c := &Config{}
	if err := doc.Load(c, yaml.WithKnownFields()); err != nil {
		return nil, located(name, err)
	}
	c.Sum = sha256.Sum256(data)
	c.Server.Defaults()
	if err := c.Validate(); err != nil {
		return nil, placed(name, &doc, err)
	}
	return c, nil
}

// section is an error with the path of the key it is about.
type section struct {
	path []string
	err  error
}

func (s *section) Error() string { return strings.Join(s.path, ".") + ": " + s.err.Error() }
func (s *section) Unwrap() error { return s.err }

func at(err error, path ...string) error {
	if err == nil {
		return nil
	}
	return &section{path: path, err: err}
}

// Validate checks every section and what only holds between sections.
func (c *Config) Validate() error {
	errs := []error{
		at(c.Server.Validate(), "server"),
		at(c.Authn.Validate(), "authn"),
		at(c.Extensions.Validate(), "extensions"),
		at(c.Push.Validate(), "push"),
		at(c.State.Validate(), "state"),
		at(c.Telemetry.Check(), "telemetry"),
		at(c.Telemetry.Audit.Check(), "telemetry", "audit"),
	}
	seen := map[string]bool{}
	for i, a := range c.Agents {
		index := fmt.Sprint(i)
		errs = append(errs, at(a.Validate(), "agents", index))
		if seen[a.ID] {
			errs = append(errs, at(fmt.Errorf("id %q is used twice", a.ID), "agents", index))
		}
		seen[a.ID] = true
		_, err := c.Extensions.Govern(a.Extensions)
		errs = append(errs, at(err, "agents", index, "extensions"))
	}
	rules, _, err := policy.Compile(c.Policy, c.AgentIDs())
	if err != nil {
		return errors.Join(append(errs, at(err, "policy"))...)
	}
	return errors.Join(append(errs, c.checkSkills(rules)...)...)
}

// checkSkills reports rules that name a skill which no agent of theirs has, as
// far as the file lists skills. Where a card decides, only the running gateway
// can tell, and warns.
func (c *Config) checkSkills(rules *policy.Set) []error {
	listed := map[string][]string{}
	for _, a := range c.Agents {
		for _, s := range a.Skills {
			listed[a.ID] = append(listed[a.ID], s.ID)
		}
	}
	var errs []error
	for _, w := range rules.Lint(policy.Known{Skills: listed}) {
		i := slices.IndexFunc(c.Policy.Rules, func(r policy.Rule) bool { return r.Name == w.Rule })
		errs = append(errs, at(errors.New(w.String()), "policy", "rules", fmt.Sprint(i), "skills"))
	}
	return errs
}

// AgentIDs lists the configured agents in the order of the file.
func (c *Config) AgentIDs() []string {
	ids := make([]string, 0, len(c.Agents))
	for _, a := range c.Agents {
		ids = append(ids, a.ID)
	}
	return ids
}

// variable is ${NAME} or ${NAME:-default}; $${ is a literal ${.
var variable = regexp.MustCompile(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// expand replaces ${NAME} in scalar values after parsing, so that a value with a
// colon or a newline cannot change the structure of the file. Keys are left
// alone. An unset variable without a default is an error: an empty secret would
// be worse.
func expand(name string, n *yaml.Node, lookup func(string) (string, bool)) error {
	var errs []error
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "${") {
		n.Value = variable.ReplaceAllStringFunc(n.Value, func(ref string) string {
			if strings.HasPrefix(ref, "$$") {
				return ref[1:]
			}
			part := variable.FindStringSubmatch(ref)
			if value, ok := lookup(part[1]); ok {
				return value
			}
			if part[2] == "" {
				errs = append(errs, fmt.Errorf("%s:%d:%d: environment variable %s is not set", name, n.Line, n.Column, part[1]))
			}
			return part[3]
		})
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		if err := expand(name, child, lookup); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
