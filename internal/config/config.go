// Package config is the file: strict YAML in, a checked Config out.
//
// It owns reading, environment expansion, positions in error messages and the
// composition of the sections. It does not own the sections: each package
// declares its Config beside the code that uses it, documented field by field, and
// says what is wrong with one by the path of the key (internal/keypath).
// It may import every package that declares a section. It exports more than twenty names: what is loaded, its
// schema and its reference have a few each, and so has an agent that is edited as text.
package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/sink"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// Config is the whole file.
type Config struct {
	// Server is the public listener: address, URL, TLS, limits, timeouts.
	Server server.Config `yaml:"server"`
	// Admin is the listener for operators: API, console, tokens.
	Admin console.Config `yaml:"admin" reload:"restart"`
	// Authn says who may call: OIDC issuers, API keys.
	Authn schemes.Config `yaml:"authn"`
	// Policy says who may do what.
	Policy Policy `yaml:"policy"`
	// Extensions is the registry of extensions that this gateway governs.
	Extensions ext.Registry `yaml:"extensions"`
	// Agents are the agents behind the gateway: the fleet.
	Agents []agents.Config `yaml:"agents"`
	// Fleet says where further agents come from.
	Fleet Fleet `yaml:"fleet"`
	// Catalog says who may read lists of agents.
	Catalog catalog.Config `yaml:"catalog"`
	// Egress is the HTTP proxy, if there is one, for outbound connections to agents and all others.
	Egress tunnel.Config `yaml:"egress"`
	// Push says what the gateway does with push notification configs.
	Push push.Config `yaml:"push"`
	// Streams says what the gateway keeps of streams, and for how long.
	Streams stream.Config `yaml:"streams"`
	// Telemetry is traces, metrics, logs and the audit record.
	Telemetry Telemetry `yaml:"telemetry"`
	// State is where the gateway keeps ownership of tasks and contexts.
	State state.Config `yaml:"state" reload:"restart"`
	// Keys are the gateway's own keys.
	Keys keys.Config `yaml:"keys" reload:"restart"`

	// Sum is a SHA-256 of the file, and of the files that it names, to tell
	// configurations apart.
	Sum [32]byte `yaml:"-"`
	// Common is the same of what replicas have to have in common: it differs where they do
	// not decide alike, and not by what is each one's own.
	Common [32]byte `yaml:"-"`

	// Zeros are keys that the files have as 0 and that count as if they were left out.
	Zeros []string `yaml:"-"`
	// RulePlaces say by the name of each rule where it is written, as FILE:LINE.
	RulePlaces map[string]string `yaml:"-"`
	// AgentPlaces say the same by the id of each agent of a file.
	AgentPlaces map[string]string `yaml:"-"`
}

// Policy is the `policy:` section.
type Policy struct {
	policy.Config `yaml:",inline"`
	// FileParts are rules for the files in messages and artifacts.
	FileParts files.Config `yaml:"fileParts"`
	// Limits are rate limits and quotas of callers.
	Limits limits.Config `yaml:"limits"`
	// Authorizers are services that the gateway asks about calls that the rules allow.
	Authorizers pdp.Config `yaml:"authorizers"`
	// Guards look at what messages and artifacts say, in calls that the rules allow, and report, redact
	// or refuse it.
	Guards guard.Config `yaml:"guards"`
	// GuardWindow says how much of a stream is held back to find what is split over its events.
	GuardWindow guard.Hold `yaml:"guardWindow"`
	// Approvals says how calls wait that rules with effect approve ask people about.
	Approvals approval.Calls `yaml:"approvals"`
}

// Telemetry is the `telemetry:` section.
type Telemetry struct {
	telemetry.Config `yaml:",inline"`
	// Audit is the record of every call.
	Audit Audit `yaml:"audit" reload:"restart"`
	// Anomalies are what callers do too often, or never did before.
	Anomalies anomaly.Config `yaml:"anomalies"`
}

// Audit is the `telemetry.audit:` section.
type Audit struct {
	audit.Config `yaml:",inline"`
	// Sinks are places that get a copy of every record.
	Sinks []sink.Config `yaml:"sinks"`
}

// sizeLimit keeps a wrong path (a log, a device) from being read to its end.
// The largest files are lists of rules; ten thousand rules of 200 bytes each are 2 MB.
const sizeLimit = 16 << 20

// Load reads, expands, decodes and checks a file. Relative paths in it are
// relative to the file's own directory. An error names file, line and column
// of everything that is wrong, not only of the first.
func Load(path string) (*Config, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return parse(path, filepath.Dir(path), data, os.LookupEnv)
}

// Parse is Load for bytes in memory. name stands for the file in errors; lookup
// finds environment variables. Relative paths are left as they are, those of
// {file: PATH} secrets, of schemas and of files with rules are relative to the working
// directory.
func Parse(name string, data []byte, lookup func(string) (string, bool)) (*Config, error) {
	return parse(name, "", data, lookup)
}

// parse is Load and Parse. Each step needs the one before it to have found nothing wrong: what is
// wrong with values is told all at once, but not beside mistakes of form, which values may follow
// from. dir is what relative paths are relative to, "" to leave them.
//
// The steps, of which each reports all that it finds:
//
//	document      YAML: one document, no tags, aliases that end (tree.go)
//	expand        ${NAME} from the environment, in values alone
//	decode        the shape against the Go types, then the values (shape.go, document.go)
//	further.read  files with rules and agents, as strictly (further.go)
//	Defaults      what sections fill in by themselves
//	resolve       relative paths
//	Validate      what values mean, by each section, and between sections
//
// Errors of the first steps have the node that they are about. Those of Validate have a path of
// keys, and placed (position.go) finds the node that it leads to.
func parse(name, dir string, data []byte, lookup func(string) (string, bool)) (*Config, error) {
	doc, err := document(name, data)
	if err != nil {
		return nil, err
	}
	if err := expand(name, doc, lookup); err != nil {
		return nil, err
	}
	c := &Config{}
	if err := decode(name, dir, doc, c); err != nil {
		return nil, err
	}
	c.Sum = sha256.Sum256(data)
	src := newSources(name, doc, c)
	more := &further{c, src, dir, lookup}
	if err := errors.Join(
		more.read(&src.rules, c.Policy.Files, more.takeRules), more.read(&src.agents, c.Fleet.Files, more.takeAgents),
	); err != nil {
		return nil, err
	}
	c.Server.Defaults()
	c.Admin.Defaults(c.Server.StatusAddress)
	c.Streams.Defaults()
	c.Catalog.Defaults()
	c.Fleet.Defaults()
	if dir != "" {
		c.resolve(dir) // before the files of schemas are read
	}
	if err := c.Validate(); err != nil {
		return nil, placed(src, err)
	}
	c.Zeros = src.zeros(inForce(reflect.ValueOf(c)))
	c.Common = c.commonSum()
	c.RulePlaces = src.places(&src.rules, ruleNames(c.Policy.Rules))
	c.AgentPlaces = src.places(&src.agents, c.AgentIDs())
	return c, nil
}

// Validate checks every section and what only holds between sections. It opens nothing but what
// schemas are in, and expects defaults to be filled in. Errors have the path of their key; where
// the registry is wrong, rules are not compiled that could name methods of it, since each of those
// would be told of as unknown.
// Errors stand in the order of the sections here; placed brings them into the order of the file.
func (c *Config) Validate() error {
	book, unregistered := c.Extensions.Compile()
	errs := []error{
		keypath.At(unregistered, "extensions"),
		c.Server.Validate(),
		keypath.At(c.Admin.Validate(), "admin"),
		c.Authn.Validate(),
		keypath.At(c.Policy.FileParts.Validate(), "policy", "fileParts"),
		keypath.At(c.Policy.GuardWindow.Validate(), "policy", "guardWindow"),
		keypath.At(c.Policy.Approvals.Validate(), "policy", "approvals"),
		keypath.At(c.Catalog.Validate(), "catalog"),
		keypath.At(c.Fleet.Validate(), "fleet"),
		keypath.At(c.Egress.Validate(), "egress"),
		keypath.At(c.Push.Validate(), "push"),
		keypath.At(c.Streams.Validate(), "streams"),
		keypath.At(c.State.Validate(), "state"),
		keypath.At(c.checkRedis(), "state"),
		keypath.At(c.checkACME(), "server", "tls", "acme"),
		keypath.At(c.Keys.Validate(), "keys"),
		c.Telemetry.Check(),
		c.Telemetry.Audit.Check(),
		sink.Check(c.Telemetry.Audit.Sinks),
		c.Telemetry.Anomalies.Check(),
	}
	errs = append(errs, checkListeners(c)...)
	errs = append(errs, c.checkIdentity()...)
	errs = append(errs, c.checkUndeclared()...)
	defer book.Close() // nil where the registry is wrong, and knows nothing then
	errs = append(errs, c.checkAgents(book))
	// Limits and authorizers name methods as rules do, so that they are left out as well.
	if unregistered != nil && c.bringsMethods() {
		return errors.Join(errs...)
	}
	errs = append(errs, c.checkBounds(book.Extra().Methods())...)
	rules, _, err := policy.Compile(c.Policy.Config, c.RuleAgents(), book.Extra().Methods()...)
	if err != nil {
		return errors.Join(append(errs, keypath.At(err, "policy"))...)
	}
	errs = append(errs, c.checkRules(book)...)
	return errors.Join(append(errs, c.checkSkills(rules))...)
}

// checkAgents checks each agent by itself, against what is for all, and that no two have an id
// or a host in common: a call would have to go to both.
func (c *Config) checkAgents(book *ext.Book) error {
	var errs []error
	public, unread := url.Parse(c.Server.PublicURL) // which server.Validate tells of
	seen, hosts := map[string]bool{}, map[string]string{}
	for i := range c.Agents {
		a := &c.Agents[i]
		wrong := []error{a.Validate()}
		// A second agent of one id would claim the hosts of the first and be told of twice.
		if unread == nil && !seen[a.ID] {
			wrong = append(wrong, a.ClaimHosts(public, hosts), c.checkOffer(public, a))
		}
		if seen[a.ID] {
			wrong = append(wrong, keypath.Point(fmt.Errorf("id %q is used twice", a.ID), "id"))
		}
		seen[a.ID] = true
		// The rules are compiled for their errors: the gateway makes its own.
		_, err := files.New(a.FileParts, c.Policy.FileParts)
		wrong = append(wrong, keypath.At(err, "fileParts"))
		wrong = append(wrong, checkAgent(book, a)...)
		errs = append(errs, keypath.At(errors.Join(wrong...), "agents", i))
	}
	return errors.Join(errs...)
}

// checkSkills reports rules and shared tasks that name a skill which no agent of theirs has, as
// far as the file lists skills. Where a card decides, only the running gateway
// can tell, and warns.
func (c *Config) checkSkills(rules *policy.Set) error {
	listed := map[string][]string{}
	for _, a := range c.Agents {
		for _, s := range a.Skills {
			listed[a.ID] = append(listed[a.ID], s.ID)
		}
	}
	return keypath.At(rules.UnknownSkills(listed), "policy")
}

// AgentIDs lists the configured agents in the order of the file, and those of further files behind
// them.
func (c *Config) AgentIDs() []string {
	ids := make([]string, 0, len(c.Agents))
	for _, a := range c.Agents {
		ids = append(ids, a.ID)
	}
	return ids
}
