// Package agents is what the gateway knows of an agent: its entry in the configuration, and
// what its current card says of interfaces, skills, media types and extensions.
//
// A View is taken once per call, so that a card that changes in the middle of one cannot mix
// two cards. It has the interfaces that calls may go to; which of them is nearest to a caller
// package interfaces says. The package calls nobody. It may import card, ext, proxy/upstream,
// policy/files and below, and is imported by proxy, internal/config and internal/gateway.
//
// It exports more than twenty names, of which five are sections of the configuration, four the
// quirks that can be switched off, three the errors of an agent that cannot be called, and three
// the header fields that no configuration lets through: closed sets, which are read together.
package agents

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// Config is one member of the fleet.
type Config struct {
	// ID names the agent in URLs, rules, metrics and the audit record:
	// letters, digits, "-", "_" and ".", at most 64, beginning with a letter or digit.
	ID string `yaml:"id" jsonschema:"required"`

	// Card says where the gateway fetches the agent's card, as a URL or as a mapping.
	Card card.Config `yaml:"card"`

	// Hosts are host names of this agent alone: on them its URLs start at "/". A host without a
	// port also works with publicURL's port, and cards name it with that port. One agent may have
	// a host of the gateway's own. Its URLs start at "/" there too, beside the gateway's paths.
	Hosts []string `yaml:"hosts"`

	// Interfaces are how the gateway calls the agent, in place of the interfaces in a card that is
	// wrong about them. These addresses need no entry in endpoints. Default: the card's.
	Interfaces []card.InterfaceConfig `yaml:"interfaces,omitempty"`

	// Config says how the agent is reached: endpoints, credentials, TLS, timeouts.
	upstream.Config `yaml:",inline"`

	// FileBytes is how an agent that speaks 0.3 over HTTP+JSON or gRPC encodes the bytes of files.
	// With doubled (default), base64 text is in the place of the proto's bytes, as in the SDKs for
	// Go, Java and Python. plain is for the SDK for JavaScript. Only translated calls depend on
	// it.
	FileBytes string `yaml:"fileBytes,omitempty" jsonschema:"enum=doubled,enum=plain"`

	// Quirks are deviations of the agent or its clients from A2A that the gateway tolerates. With
	// zoneless-times, timestamps without a zone are UTC. With mixed-objects, calls of 0.3's
	// methods with 1.0's objects get answers in the same mixture. With method-paths, each method
	// of JSON-RPC has an address. Default: all of them; an empty list is none. See docs/quirks.md.
	Quirks []Quirk `yaml:"quirks" jsonschema:"enum=zoneless-times,enum=mixed-objects,enum=method-paths"`

	// Extensions that the gateway requires, allows or denies on this agent.
	Extensions ext.Config `yaml:"extensions"`

	// Authorization says how the gateway treats tasks that ask for authorization.
	Authorization AuthorizationConfig `yaml:"authorization"`

	// RepeatsNotifications says that the agent repeats notifications that the gateway has
	// accepted, without a Webhook-Id that would show it. Of equal bodies within push.age, the
	// gateway then delivers one. Default false: equal bodies are two notifications, such as the
	// same piece of a text twice.
	RepeatsNotifications bool `yaml:"repeatsNotifications,omitempty"`

	// Dedupe keeps the agent from processing a repeated message twice (idempotency).
	Dedupe DedupeConfig `yaml:"dedupe"`

	// Skills lists this agent's skills, if the card should not decide. With a list, rules that
	// name other skills of this agent are errors.
	Skills []SkillConfig `yaml:"skills"`

	// Match finds the skill of calls that do not name one.
	Match []policy.MatchRule `yaml:"match"`

	// Modes says how the gateway checks the media types of parts, and those that the caller
	// accepts, against the skill or the card: off (default), report, or enforce.
	Modes ext.Mode `yaml:"modes,omitempty" jsonschema:"enum=off,enum=report,enum=enforce"`

	// FileParts are rules for the files of this agent and its callers, in place of
	// policy.fileParts.
	FileParts files.Config `yaml:"fileParts,omitempty"`

	// Headers that the gateway passes on besides those of A2A itself.
	Headers HeaderConfig `yaml:"headers"`

	// CallsAs are the names under which the agent calls others: subjects of its tokens or certificates,
	// OAuth clients, ids of its API keys, with * allowed. An agent that is an approver decides about no
	// call of its own (approvers.notSelf). Default: its id.
	CallsAs []string `yaml:"callsAs,omitempty"`
}

// SkillConfig is what the operator says of one skill.
type SkillConfig struct {
	// ID of the skill in the agent's card.
	ID string `yaml:"id"`
	// Hidden leaves the skill out of the public card. Callers who may use it still see it in cards
	// made for them.
	Hidden bool `yaml:"hidden"`
	// Input and Output are JSON Schemas for requests to the skill and for its answers. They
	// replace those in the agent's card.
	Input  schema.Source `yaml:"input"`
	Output schema.Source `yaml:"output"`
	// Schemas says how the gateway checks both: off, report, or enforce (the default).
	Schemas ext.Mode `yaml:"schemas" jsonschema:"enum=off,enum=report,enum=enforce"`
}

// HeaderConfig lists headers to let through. Headers that the gateway owns, or that carry
// credentials, cannot be listed.
type HeaderConfig struct {
	// Request headers that the gateway copies from the caller to the agent.
	Request []string `yaml:"request"`
	// Response headers that the gateway copies from the agent to the caller.
	Response []string `yaml:"response"`
}

// agentID keeps ids usable as a path segment, a metric label and a file name.
var agentID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Validate reports what cannot work, naming the key.
func (c Config) Validate() error {
	if !agentID.MatchString(c.ID) {
		return keypath.At(fmt.Errorf("%q must be 1 to 64 letters, digits, \"-\", \"_\" or \".\", beginning with a letter or digit", c.ID), "id")
	}
	for _, name := range append(append([]string(nil), c.Headers.Request...), c.Headers.Response...) {
		if Owned(name) {
			return keypath.At(fmt.Errorf("%s belongs to the gateway or carries credentials and cannot be listed", name), "headers")
		}
	}
	if slices.ContainsFunc(c.CallsAs, func(name string) bool { return strings.Trim(name, "*") == "" }) {
		return keypath.At(errors.New("has an entry that is empty, or that every caller is"), "callsAs")
	}
	extensions := keypath.At(c.Extensions.Validate(), "extensions")
	var bytes error
	if c.FileBytes != "" && c.FileBytes != "doubled" && c.FileBytes != plainBytes {
		bytes = keypath.At(fmt.Errorf("%q is not one of doubled, plain", c.FileBytes), "fileBytes")
	}
	authorization := keypath.At(c.Authorization.Validate(), "authorization")
	fileParts := keypath.At(c.FileParts.Validate(), "fileParts")
	_, interfaces := card.Written(c.Interfaces)
	return errors.Join(c.Card.Validate(), c.Config.Validate(), interfaces, bytes, extensions, authorization, fileParts, c.checkModes(), c.checkQuirks(),
		c.checkMatch())
}

// checkMatch compiles the match rules, whose skills have to be listed where skills are.
func (c Config) checkMatch() error {
	_, err := policy.NewMatcher(c.Match)
	if len(c.Skills) == 0 {
		return err
	}
	errs := []error{err}
	for i, m := range c.Match {
		if !slices.ContainsFunc(c.Skills, func(s SkillConfig) bool { return s.ID == m.Skill }) && m.Skill != "" {
			errs = append(errs, keypath.At(fmt.Errorf("%q is none of the skills listed here", m.Skill), "match", i, "skill"))
		}
	}
	return errors.Join(errs...)
}

func (c Config) checkModes() error {
	switch c.Modes {
	case "", ext.Off, ext.Report, ext.Enforce:
		return nil
	}
	return keypath.At(fmt.Errorf("%q is none of off, report, enforce", c.Modes), "modes")
}

// Agent is a member of the fleet made ready to serve.
type Agent struct {
	Config
	Source   *card.Source       // the agent's card as last fetched
	Upstream *upstream.Upstream // its connections and credentials

	Request, Response []string // canonical names of Headers, as far as they are let through

	schemas map[string]SkillSchemas // of the configuration, by skill
	Match   *policy.Matcher         // nil for none
	names   pattern.List            // that it calls by
	seen    atomic.Pointer[View]    // of the card that was current last
}

// New makes a member of the fleet. Its fields are not changed afterwards.
func New(c Config, source *card.Source, up *upstream.Upstream) (*Agent, error) {
	schemas, err := c.compile()
	if err != nil {
		return nil, err
	}
	match, err := policy.NewMatcher(c.Match)
	if err != nil {
		return nil, err
	}
	names := c.CallsAs
	if names == nil {
		names = []string{c.ID}
	}
	return &Agent{
		Config: c, names: pattern.Compile(names), Source: source, Upstream: up, schemas: schemas, Match: match,
		Request: letThrough(c.Headers.Request), Response: letThrough(c.Headers.Response),
	}, nil
}

// letThrough makes names canonical, and leaves out what says which extensions are active:
// that is the gateway's word.
func letThrough(names []string) []string {
	var list []string
	for _, name := range names {
		if name = http.CanonicalHeaderKey(name); !ext.Spells(name) {
			list = append(list, name)
		}
	}
	return list
}

// Is reports whether the agent calls others by a name.
func (a *Agent) Is(name string) bool { return a.names.Match(name) }

// Public reports whether anybody may read about the agent.
func (a *Agent) Public() bool { return a.Card.Visibility == "" || a.Card.Visibility == card.Public }

// Shown lists the skills that a caller without credentials may read about.
func (a *Agent) Shown(all []string) []string {
	visible := make([]string, 0, len(all))
	for _, id := range all {
		if !a.hidden(id) {
			visible = append(visible, id)
		}
	}
	return visible
}

// Has reports whether the operator's list, if there is one, has the skill.
func (a *Agent) Has(skill string) bool {
	return len(a.Skills) == 0 || slices.ContainsFunc(a.Skills, func(s SkillConfig) bool { return s.ID == skill })
}

func (a *Agent) hidden(skill string) bool {
	for _, s := range a.Skills {
		if s.ID == skill {
			return s.Hidden
		}
	}
	return false
}

// Usable are the interfaces that calls may go to: those that the operator has written down,
// else those of the card as Card.Endpoints has them.
func (c Config) Usable(k *card.Card) (usable, refused []card.Interface) {
	if own, _ := card.Written(c.Interfaces); own != nil {
		return own, nil
	}
	return k.Endpoints(c.Card.URL, c.Endpoints)
}

// Offers are the interfaces that the operator has written down, else all that the card has.
func (c Config) Offers(k *card.Card) []card.Interface {
	if own, _ := card.Written(c.Interfaces); own != nil {
		return own
	}
	return k.Interfaces
}

// Addresses are those of the agent, which no served card shows.
func (c *Config) Addresses() []string {
	if len(c.Interfaces) == 0 {
		return c.Endpoints
	}
	all := slices.Clone(c.Endpoints)
	for _, i := range c.Interfaces {
		all = append(all, i.URL.Reveal())
	}
	return all
}
