package ext

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Config is an agent's `extensions:` section: which extensions its callers may, may not and must
// activate. The zero value permits whatever the agent declares.
type Config struct {
	// Require lists extension URIs that every call to this agent must activate, in addition to those
	// its card marks as required. The gateway refuses a call without one of them with "extension
	// support required", before it contacts the agent. The served card lists them as required,
	// whether or not the agent's own card does. The operator vouches for the agent here: a required
	// URI counts as declared, and the gateway passes it on, unless Provide lists it.
	Require []string `yaml:"require"`

	// Allow lists the extension URIs that callers may activate on this agent. Empty allows
	// everything that the agent declares. URIs under Require, Inject and Provide are always allowed.
	// The gateway ignores all others in requests and leaves them out of the served card.
	Allow []string `yaml:"allow"`

	// Deny lists extension URIs that are never active on this agent, whatever Allow says. The
	// gateway ignores them in requests and leaves them out of the served card, even if the agent's
	// card marks them as required.
	Deny []string `yaml:"deny"`

	// Inject lists extensions that are active in every call to this agent, whether or not the client
	// knows them. The gateway asks for them, adds the defaults of the registry, and hides them from
	// a client that did not ask. They count as declared. If one is required, a client need not ask
	// for it.
	Inject []string `yaml:"inject"`

	// Provide lists extensions that the gateway implements itself as long as the agent's card does
	// not declare them (docs/extensions). You cannot inject them.
	Provide []string `yaml:"provide"`

	// Activation says how the gateway knows what the agent activated. "echo" (default): by the
	// agent's answer. "declared", for agents that never say: all that the gateway asked for.
	Activation string `yaml:"activation" jsonschema:"enum=echo,enum=declared"`

	// Verify fails a send, or a call of an extension's method, if the agent did not activate a
	// required extension.
	Verify bool `yaml:"verify"`

	// Unrequested says what the gateway does with metadata and URIs in bodies if their extension is
	// not active in the call: "strip" (default), "refuse" (the call or the answer), or "report".
	Unrequested string `yaml:"unrequested" jsonschema:"enum=strip,enum=refuse,enum=report"`

	// Dependencies says what the gateway does with a request for an extension without those it
	// needs: "refuse" (default), or "close" to activate them too. With an injected extension, it
	// always activates those it needs.
	Dependencies string `yaml:"dependencies" jsonschema:"enum=refuse,enum=close"`

	// Conformance says what the gateway does with members and enum values that A2A does not define:
	// "off" (default), "report" or "enforce".
	Conformance Mode `yaml:"conformance" jsonschema:"enum=off,enum=report,enum=enforce"`

	// Mode is "enforce" (default), or "shadow": the gateway only records what this section, and the
	// card's required extensions, would refuse or leave out.
	Mode string `yaml:"mode" jsonschema:"enum=enforce,enum=shadow"`
}

// The words of Config.
const (
	activationEcho     = "echo"
	activationDeclared = "declared"

	unrequestedStrip  = "strip"
	unrequestedRefuse = "refuse"
	unrequestedReport = "report"

	dependenciesRefuse = "refuse"
	dependenciesClose  = "close"

	modeEnforce = "enforce"
	modeShadow  = "shadow"
)

// Validate reports every URI that is malformed, every word that means nothing and
// every contradiction.
func (c Config) Validate() error {
	var errs []error
	for _, list := range []struct {
		key  string
		uris []string
	}{
		{"require", c.Require}, {"allow", c.Allow}, {"deny", c.Deny},
		{"inject", c.Inject}, {"provide", c.Provide},
	} {
		errs = append(errs, checkURIs(list.uris, list.key)...)
	}
	for _, word := range []struct {
		key, is string
		may     []string
	}{
		{"activation", c.Activation, []string{activationEcho, activationDeclared}},
		{"unrequested", c.Unrequested, []string{unrequestedStrip, unrequestedRefuse, unrequestedReport}},
		{"dependencies", c.Dependencies, []string{dependenciesRefuse, dependenciesClose}},
		{"conformance", string(c.Conformance), modes},
		{"mode", c.Mode, []string{modeEnforce, modeShadow}},
	} {
		errs = append(errs, checkWord(word.key, word.is, word.may))
	}
	errs = append(errs, c.contradictions()...)
	return errors.Join(errs...)
}

func (c *Config) contradictions() []error {
	var errs []error
	for _, clash := range []struct {
		one, other   []string
		key          string
		what, andWhy string
	}{
		{c.Require, c.Deny, "deny", "required", "denied"},
		{c.Inject, c.Deny, "deny", "injected", "denied"},
		{c.Provide, c.Deny, "deny", "provided", "denied"},
		// What is injected counts as declared, so that it would never be provided.
		{c.Inject, c.Provide, "provide", "injected", "provided"},
	} {
		for _, uri := range clash.one {
			if i := slices.Index(clash.other, uri); i >= 0 {
				errs = append(errs, keypath.Point(fmt.Errorf("extension %q is both %s and %s", uri, clash.what, clash.andWhy), clash.key, i))
			}
		}
	}
	return errs
}

// checkURIs reports malformed and repeated URIs of a list.
func checkURIs(uris []string, key ...any) []error {
	var errs []error
	for i, uri := range uris {
		if err := CheckURI(uri); err != nil {
			errs = append(errs, keypath.At(keypath.Point(err, i), key...))
		} else if slices.Contains(uris[:i], uri) {
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("extension %q is listed twice", uri), i), key...))
		}
	}
	return errs
}

// modes are the words of a Mode.
var modes = []string{string(Off), string(Report), string(Enforce)}

// checkWord reports a word that is none of may. The empty word is the default.
func checkWord(key, word string, may []string) error {
	if word == "" || slices.Contains(may, word) {
		return nil
	}
	return keypath.At(fmt.Errorf("%q is none of %s", word, strings.Join(may, ", ")), key)
}
