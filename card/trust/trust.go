// Package trust decides whether a card that an agent serves comes into force: drift of a card that
// was trusted once (a rug pull, at worst) is found, and quarantined where the configuration says so.
//
// It owns the question and what it is decided by: signatures, pinned digests, the card
// that is in force, what has changed since by meaning, names that other agents have; and
// the record of the cards that were seen and of what people said about them, which is in
// the state, so that replicas agree and restarts change nothing.
//
// It does not fetch cards, and does not know how they are served or called. It is asked
// when a card was fetched, or is not to be had, never for a request. It imports internal/state,
// internal/secret, card/signature and card/lint.
//
// One fetched card goes through Judge like this:
//
//	open      digest, signature (of a signed card only what is covered is used), pinned digests, lint
//	rule      is it the one in force? else compare: Diff with the standing card, collisions with others
//	decide    accepted, alerted, quarantined, by card.trust.firstSeen and onChange
//	stand     make it the one in force, in the state, first come first served among replicas
//	remember  an Entry in the history, with what changed and who decided
//
// States of a card: pending (not fetched yet), accepted, alerted (in force, a person should look),
// quarantined (waits, the one before stays in force), approved and rejected (a person said so),
// refused (signature, digest or collision; no person can overrule it but by the configuration).
//
// The package exports more than twenty names: changes, states and severities are values that the
// console, the admin API, metrics and the command line show and filter by, each under its own name,
// and Judge, Book and Fleet are what the gateway, its replicas and those tools hold.
package trust

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Values of Config.OnChange.
const (
	actAccept     = "accept"
	actAlert      = "alert"
	actQuarantine = "quarantine"
)

// Values of Config.Collisions.
const (
	reportCollisions = "report"
	refuseNames      = "refuse-names"
	refuseAll        = "refuse"
)

// Limits and defaults.
const (
	defaultHistory = 20
	maxHistory     = 1000
	defaultKeep    = 90 * 24 * time.Hour
	maxDigests     = 64
)

// Config is an agent's `card.trust:` section. A card must meet everything that is set.
type Config struct {
	// Signature says whose signatures count. With required, the gateway refuses a card that no
	// trusted key has signed, and uses only what the signature covers. Default: the gateway looks
	// at no signature.
	Signature signature.Trust `yaml:"signature"`

	// Digests are the digests of the cards that come into force, at most 64, as `card show` prints
	// them. A digest is "sha256:" and the SHA-256 of the card without its signatures in canonical
	// form (RFC 8785). The gateway refuses other cards; only this list can approve them. Default:
	// any card.
	Digests []string `yaml:"digests"`

	// FirstSeen says what happens to the first card of an agent. With accept (default), it comes
	// into force. With quarantine, it waits for `card approve`, and calls get 503 until then. A
	// card whose required signature holds, and one of Digests, need not wait.
	FirstSeen string `yaml:"firstSeen" jsonschema:"enum=accept,enum=quarantine"`

	// OnChange says what happens to a card that says something else than the card in force. With
	// accept, it comes into force, and the gateway records it. With alert (default), the gateway
	// also logs a warning, and the card's state is alerted until somebody approves it. With
	// quarantine, calls and the served card follow the card in force until `card approve`. Changes
	// that affect nobody, such as the agent's version, come into force in any case.
	OnChange string `yaml:"onChange" jsonschema:"enum=accept,enum=alert,enum=quarantine"`

	// Collisions says what happens to a card that has the name, or the id of a skill, of another
	// agent's card. It is report (default), refuse-names (names that look alike), or refuse
	// (skills too). The agent whose card was in force first keeps the name.
	Collisions string `yaml:"collisions" jsonschema:"enum=report,enum=refuse-names,enum=refuse"`

	// History is how many cards of the agent the gateway remembers; default 20.
	History int `yaml:"history"`

	// Keep is how long the gateway remembers cards of the agent; default 90d. It keeps the card in
	// force for good.
	Keep quantity.Duration `yaml:"keep"`
}

// Validate reports everything wrong with c, by the names of the keys.
func (c Config) Validate() error {
	var errs []error
	if err := c.Signature.Validate(); err != nil {
		errs = append(errs, keypath.At(err, "signature"))
	}
	if len(c.Digests) > maxDigests {
		errs = append(errs, keypath.At(fmt.Errorf("%d, at most %d", len(c.Digests), maxDigests), "digests"))
	}
	for i, d := range c.Digests {
		if _, err := parseDigest(d); err != nil {
			errs = append(errs, keypath.At(err, "digests", i))
		}
	}
	for _, word := range []struct {
		key, value string
		known      []string
	}{
		{"firstSeen", c.FirstSeen, []string{actAccept, actQuarantine}},
		{"onChange", c.OnChange, []string{actAccept, actAlert, actQuarantine}},
		{"collisions", c.Collisions, []string{reportCollisions, refuseNames, refuseAll}},
	} {
		if word.value != "" && !slices.Contains(word.known, word.value) {
			errs = append(errs, keypath.At(fmt.Errorf("%q is none of %v", word.value, word.known), word.key))
		}
	}
	if c.History < 0 || c.History > maxHistory {
		errs = append(errs, keypath.At(fmt.Errorf("%d is not between 1 and %d, or 0 for %d", c.History, maxHistory, defaultHistory), "history"))
	}
	if c.Keep < 0 {
		errs = append(errs, keypath.At(errors.New("must not be negative"), "keep"))
	}
	return errors.Join(errs...)
}

// withDefaults fills in what is left out, in a valid c.
func (c Config) withDefaults() Config {
	for _, word := range []struct {
		value   *string
		initial string
	}{{&c.FirstSeen, actAccept}, {&c.OnChange, actAlert}, {&c.Collisions, reportCollisions}} {
		if *word.value == "" {
			*word.value = word.initial
		}
	}
	if c.History == 0 {
		c.History = defaultHistory
	}
	if c.Keep == 0 {
		c.Keep = quantity.Duration(defaultKeep)
	}
	digests := make([]string, 0, len(c.Digests))
	for _, d := range c.Digests {
		d, _ = parseDigest(d) // Validate has looked at it
		digests = append(digests, d)
	}
	c.Digests = digests
	return c
}
