package ext

import (
	"errors"
	"fmt"
	"slices"
)

// Config is an agent's `extensions:` section: which extensions its callers may,
// may not and must activate. The zero value lets through whatever the agent
// declares.
type Config struct {
	// Require lists extension URIs that every call to this agent must activate,
	// in addition to those its card marks as required. A call without one of
	// them is refused with "extension support required" before the agent is
	// contacted, and the served card lists them as required, whether or not the
	// agent's own card does. The operator vouches for the agent here: a required
	// URI counts as declared and is passed on to it.
	Require []string `yaml:"require"`

	// Allow lists the extension URIs that may be activated on this agent. Empty
	// allows everything the agent declares. Required URIs are always allowed.
	// What is not allowed is ignored in requests and missing from the served card.
	Allow []string `yaml:"allow"`

	// Deny lists extension URIs that are never activated on this agent, whatever
	// Allow says. They are ignored in requests and missing from the served card,
	// even when the agent's card marks them as required.
	Deny []string `yaml:"deny"`

	// Inject lists extensions that are active in every call to this agent, whether
	// or not the client knows them: the gateway asks for them, adds the defaults of
	// the registry, and hides them from a client that did not ask. They count as
	// declared, and a client need not ask for one that is required.
	Inject []string `yaml:"inject"`

	// Provide lists extensions that the gateway implements itself as long as the
	// agent's card does not declare them (docs/extensions).
	Provide []string `yaml:"provide"`

	// Activation says how it is known which extensions the agent activated: "echo"
	// (default) by its answer, "declared" for agents that never say: all that it was
	// asked for.
	Activation string `yaml:"activation"`

	// Verify fails a call in which a required extension was not activated.
	Verify bool `yaml:"verify"`

	// Unrequested says what becomes of metadata and URIs in bodies whose extension is
	// not active in the call: "strip" (default), "refuse" (the call or the answer), or
	// "report".
	Unrequested string `yaml:"unrequested"`

	// Dependencies says what becomes of a request for an extension without those it
	// needs: "refuse" (default), or "close" to activate them too.
	Dependencies string `yaml:"dependencies"`

	// Conformance says what becomes of members and enum values that A2A does not
	// define: "off" (default), "report" or "enforce".
	Conformance Mode `yaml:"conformance"`

	// Mode is "enforce" (default), or "shadow": what this section, and the card's
	// required extensions, would refuse or leave out is only recorded.
	Mode string `yaml:"mode"`
}

// Validate reports every URI that is malformed and every contradiction.
func (c Config) Validate() error {
	var errs []error
	for _, list := range []struct {
		key  string
		uris []string
	}{{"require", c.Require}, {"allow", c.Allow}, {"deny", c.Deny}} {
		for _, uri := range list.uris {
			if err := CheckURI(uri); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", list.key, err))
			}
		}
	}
	for _, uri := range c.Require {
		if slices.Contains(c.Deny, uri) {
			errs = append(errs, fmt.Errorf("extension %q is both required and denied", uri))
		}
	}
	return errors.Join(errs...)
}

// permits reports whether uri may be active on the agent at all.
func (c *Config) permits(uri string) bool {
	switch {
	case slices.Contains(c.Deny, uri):
		return false
	case len(c.Allow) == 0:
		return true
	}
	return slices.Contains(c.Allow, uri) || slices.Contains(c.Require, uri)
}

// Registry is the top-level `extensions:` list.
type Registry []Entry

// Validate reports malformed and repeated URIs and unknown statuses.
func (r Registry) Validate() error {
	var errs []error
	seen := make(map[string]bool, len(r))
	for _, e := range r {
		if err := CheckURI(e.URI); err != nil {
			errs = append(errs, err)
		}
		if seen[e.URI] {
			errs = append(errs, fmt.Errorf("extension %q is listed twice", e.URI))
		}
		seen[e.URI] = true
		switch e.Status {
		case "", Allowed, Deprecated, Blocked:
		default:
			errs = append(errs, fmt.Errorf("extension %q: status %q is not allowed, deprecated or blocked",
				e.URI, e.Status))
		}
	}
	return errors.Join(errs...)
}

// Govern returns an agent's rules with the registry's blocked extensions denied.
// An agent that requires or allows by name what the registry blocks is an error:
// one of the two lines is a mistake, and guessing which would be worse.
func (r Registry) Govern(c Config) (Config, error) {
	var errs []error
	deny := slices.Clone(c.Deny)
	for _, e := range r {
		if e.Status != Blocked {
			continue
		}
		if slices.Contains(c.Require, e.URI) || slices.Contains(c.Allow, e.URI) {
			errs = append(errs, fmt.Errorf("extension %q is blocked by the registry", e.URI))
		}
		if !slices.Contains(deny, e.URI) {
			deny = append(deny, e.URI)
		}
	}
	c.Deny = deny
	return c, errors.Join(errs...)
}

// Description returns what the registry says about uri, or "".
func (r Registry) Description(uri string) string {
	for _, e := range r {
		if e.URI == uri {
			return e.Description
		}
	}
	return ""
}
