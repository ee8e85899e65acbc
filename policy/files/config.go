package files

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Config is `policy.fileParts:`, and `agents[].fileParts:`, whose keys override those in policy.
type Config struct {
	// Schemes that URIs of files may have. Default: [https].
	Schemes []string `yaml:"schemes,omitempty"`
	// Hosts that URIs may name, on any port: names, "*." and a domain, or addresses; "*" is any. A
	// listed host may be private, and so may names below a listed domain, because the operator chose
	// them. Default: any.
	Hosts []string `yaml:"hosts,omitempty"`
	// PrivateAddresses says whether URIs may name internal hosts: deny (default) or allow. Internal
	// are loopback, private and reserved addresses, in whatever spelling, and names such as
	// localhost, wiki and files.internal. The gateway asks no DNS, so it does not know where other
	// names lead. It never allows metadata addresses, where clouds give machines their secrets,
	// unless hosts lists them.
	PrivateAddresses string `yaml:"privateAddresses,omitempty" jsonschema:"enum=deny,enum=allow"`
	// MediaTypes that files may have, such as image/png, image/* or */*. A file without a type
	// counts as application/octet-stream. Default: any.
	MediaTypes []string `yaml:"mediaTypes,omitempty"`
	// ActiveContent says what the gateway does with types that browsers execute: HTML, SVG, XML and
	// scripts; off, report (default: recorded only) or enforce. It accepts a type that mediaTypes
	// lists by its full name.
	ActiveContent string `yaml:"activeContent,omitempty" jsonschema:"enum=off,enum=report,enum=enforce"`
	// Names says what the gateway does with unsafe file names: off, report or enforce (default).
	// Such a name leads out of the folder it is written to, or does not read as it is: "..", an
	// absolute path, a backslash, a control or direction character.
	Names string `yaml:"names,omitempty" jsonschema:"enum=off,enum=report,enum=enforce"`
	// MaxBytes is how large the inline content of one file may be, decoded. Default: 16MiB,
	// more than server.limits let through.
	MaxBytes quantity.Size `yaml:"maxBytes,omitempty"`
	// MaxParts is how many files one message or artifact may have. Default: 1000.
	MaxParts int `yaml:"maxParts,omitempty"`
	// OnViolation says what the gateway does with files that break the rules above.
	OnViolation Actions `yaml:"onViolation,omitempty"`
}

// Actions are one for each direction. off: the gateway checks nothing. report: files pass, and
// the gateway records them. strip: a text that says why takes their place. refuse: the gateway
// refuses the call, or the answer.
type Actions struct {
	// Request is for files that callers send. Default: refuse, so that they know.
	Request Action `yaml:"request,omitempty" jsonschema:"enum=off,enum=report,enum=strip,enum=refuse"`
	// Answer is for files that agents answer, stream and notify with. Default: strip, so that the
	// rest of the work arrives. With refuse, the gateway strips files in a task's history.
	Answer Action `yaml:"answer,omitempty" jsonschema:"enum=off,enum=report,enum=strip,enum=refuse"`
}

// Action is what becomes of a file that breaks a rule.
type Action string

// The actions.
const (
	Off    Action = "off"
	Report Action = "report"
	Strip  Action = "strip"
	Refuse Action = "refuse"
)

// The words of the modes.
const (
	off     = "off"
	report  = "report"
	enforce = "enforce"
	allow   = "allow"
	deny    = "deny"
)

const (
	defaultMaxBytes = 16 << 20
	defaultMaxParts = 1000
)

// Over is c, with what it leaves out taken from base.
func (c Config) Over(base Config) Config {
	if c.Schemes == nil {
		c.Schemes = base.Schemes
	}
	if c.Hosts == nil {
		c.Hosts = base.Hosts
	}
	if c.MediaTypes == nil {
		c.MediaTypes = base.MediaTypes
	}
	c.PrivateAddresses = cmp.Or(c.PrivateAddresses, base.PrivateAddresses)
	c.ActiveContent = cmp.Or(c.ActiveContent, base.ActiveContent)
	c.Names = cmp.Or(c.Names, base.Names)
	c.MaxBytes = cmp.Or(c.MaxBytes, base.MaxBytes)
	c.MaxParts = cmp.Or(c.MaxParts, base.MaxParts)
	c.OnViolation.Request = cmp.Or(c.OnViolation.Request, base.OnViolation.Request)
	c.OnViolation.Answer = cmp.Or(c.OnViolation.Answer, base.OnViolation.Answer)
	return c
}

// defaults are what nobody has said otherwise.
var defaults = Config{
	Schemes: []string{"https"}, PrivateAddresses: deny, ActiveContent: report, Names: enforce,
	MaxBytes: defaultMaxBytes, MaxParts: defaultMaxParts, OnViolation: Actions{Refuse, Strip},
}

// Validate reports what cannot work, naming the key.
func (c Config) Validate() error {
	var errs []error
	for _, l := range []struct {
		key  string
		list []string
	}{{"schemes", c.Schemes}, {"hosts", c.Hosts}, {"mediaTypes", c.MediaTypes}} {
		if l.list != nil && len(l.list) == 0 {
			errs = append(errs, keypath.Point(fmt.Errorf("%s is empty; leave it out for the default", l.key), l.key))
		}
	}
	if _, err := egress.NewURIs(c.Schemes, c.Hosts, false); err != nil {
		errs = append(errs, err)
	}
	for i, name := range c.MediaTypes {
		if _, ok := rangeOf(name); !ok {
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("%q is no media type, such as text/plain, image/* or */*", name), i), "mediaTypes"))
		}
	}
	for _, w := range []struct {
		key   keypath.Path
		word  string
		words []string
	}{
		{keypath.Of("privateAddresses"), c.PrivateAddresses, []string{deny, allow}},
		{keypath.Of("activeContent"), c.ActiveContent, []string{off, report, enforce}},
		{keypath.Of("names"), c.Names, []string{off, report, enforce}},
		{keypath.Of("onViolation", "request"), string(c.OnViolation.Request), []string{off, report, string(Strip), string(Refuse)}},
		{keypath.Of("onViolation", "answer"), string(c.OnViolation.Answer), []string{off, report, string(Strip), string(Refuse)}},
	} {
		if w.word != "" && !slices.Contains(w.words, w.word) {
			errs = append(errs, keypath.At(fmt.Errorf("%q is not one of %s", w.word, strings.Join(w.words, ", ")), w.key))
		}
	}
	if c.MaxParts < 0 {
		errs = append(errs, keypath.At(fmt.Errorf("%d is negative", c.MaxParts), "maxParts"))
	}
	return errors.Join(errs...)
}
